"""How many random instances a test draws: ``ORACLE_INSTANCES``, a share of them each.

``make test-all`` runs what imports this a second time, with more (`tests.once`).
"""

from __future__ import annotations

import os

INSTANCES = int(os.environ.get("ORACLE_INSTANCES", "2000"))

QUICK = 2000
"""Instances of a quick run."""


def share(quick: int, thorough: int) -> int:
    """Return one of so many instances: of those of a quick run, or of all.

    Where an instance takes a tenth of a second, the share of a thorough run is smaller:
    a quick run still has enough of them.
    """
    return max(min(INSTANCES, QUICK) // quick, INSTANCES // thorough)
