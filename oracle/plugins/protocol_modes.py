"""Protocol names and their modes: when members of a group revoke partitions."""

from __future__ import annotations

from enum import Enum
from typing import Final

from rebalance.protocol import COOPERATIVE_STICKY

EAGER_NAMES: Final = frozenset({"range", "roundrobin", "sticky"})
"""Assignors of Kafka whose members revoke all partitions before they join."""


class Mode(Enum):
    """When members revoke partitions (KIP-429)."""

    EAGER = "eager"  # all partitions, before each rebalance
    COOPERATIVE = "cooperative"  # partitions that move, after the rebalance


def mode_of(name: str, mode: Mode | None) -> Mode:
    """Return the mode of a protocol; None selects the mode of its name, else eager.

    Raises
    ------
    ValueError
        If Kafka's own assignor of that name has the other mode: a group that mixes
        modes under one name assigns a partition to two members.
    """
    known = dict.fromkeys(EAGER_NAMES, Mode.EAGER)
    known[COOPERATIVE_STICKY] = Mode.COOPERATIVE
    theirs = known.get(name)
    if mode is None:
        return theirs or Mode.EAGER
    if theirs is not None and mode is not theirs:
        raise ValueError(f"{name} is {theirs.value} in every client, not {mode.value}")
    return mode
