"""What a protocol name promises to the other members of a group."""

from __future__ import annotations

from enum import Enum
from typing import Final

from rebalance.protocol import COOPERATIVE_STICKY

EAGER_NAMES: Final = frozenset({"range", "roundrobin", "sticky"})
"""Assignors of Kafka whose members give everything up before they join."""


class Mode(Enum):
    """When members revoke partitions (KIP-429)."""

    EAGER = "eager"  # everything, before each rebalance
    COOPERATIVE = "cooperative"  # what is not theirs any more, after it


def mode_of(name: str, mode: Mode | None) -> Mode:
    """Return the mode of a protocol; None: that of its name, else eager.

    Raises
    ------
    ValueError
        If Kafka's own assignor of that name has the other mode: a group that mixes
        modes under one name gives a partition to two members.
    """
    known = dict.fromkeys(EAGER_NAMES, Mode.EAGER)
    known[COOPERATIVE_STICKY] = Mode.COOPERATIVE
    theirs = known.get(name)
    if mode is None:
        return theirs or Mode.EAGER
    if theirs is not None and mode is not theirs:
        raise ValueError(f"{name} is {theirs.value} in every client, not {mode.value}")
    return mode
