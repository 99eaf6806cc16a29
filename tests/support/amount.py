"""How much random tests draw, and from which seeds: the environment states both.

``make test`` draws 2,000 instances and ``make test-heavy`` 4,000, always the same ones.
``make test-nightly`` draws 50,000 from a window of seeds that moves with the date
(`tools.nightly`).
"""

from __future__ import annotations

import os

INSTANCES = int(os.environ.get("ORACLE_INSTANCES", "2000"))
"""Instances of a run; each test draws a share of them."""

FIRST_SEED = int(os.environ.get("ORACLE_FIRST_SEED", "0"))
"""First seed of the window."""

QUICK = 2000
"""Instances of a quick run."""


def seeds(count: int, *, first: int = 0) -> range:
    """Return so many seeds of the window, after the ``first`` ones of it."""
    start = FIRST_SEED + first
    return range(start, start + count)


def share(quick: int, thorough: int) -> int:
    """Return one of so many instances: of those of a quick run, or of all.

    Where an instance takes a tenth of a second, the share of a thorough run is smaller:
    a quick run still has enough of them.
    """
    return max(min(INSTANCES, QUICK) // quick, INSTANCES // thorough)
