"""How much chance may try: ``ORACLE_PROFILE`` names one of the profiles below.

No test of random input fails for being slow: how long one takes is the benchmarks'
business, and a busy machine's.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.register_profile("sample", deadline=None, max_examples=20)
settings.load_profile(os.environ.get("ORACLE_PROFILE", "quick"))

# A runner started in the background ignores SIGINT, and so would every process that
# a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
