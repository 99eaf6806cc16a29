"""Pause of Python's collector of reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Free no reference cycles meanwhile.

    Answers are not parts of cycles, but many: the collector would walk over all that
    are kept, again and again, which takes a tenth of the time of judging.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
