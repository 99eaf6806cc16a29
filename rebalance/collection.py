"""Pause of Python's collector of reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Free no reference cycles meanwhile.

    Parts of documents and answers are in no cycles, but many: the collector would walk
    over all that are kept, again and again. That is half of the time of reading
    1,000,000 partitions, and a tenth of that of judging.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
