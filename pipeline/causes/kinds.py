"""Kinds of causes: the differences between a rebalance and the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

STARTED: Final = "started"
"""The group had no members before: its first rebalance, or the first after it was
empty."""
RETURNED: Final = "returned"
"""Members that had left within `RETURN_MS`, or whose predecessor left in this
rebalance."""
LEFT_BRIEFLY: Final = "left-briefly"
"""Members that left, and returned within `RETURN_MS` in a later rebalance."""
JOINED: Final = "joined"
"""Other members that are new."""
LEFT: Final = "left"
"""Other members that left, or were removed."""
RESUBSCRIBED: Final = "resubscribed"
"""Members that stayed, and subscribe to other topics."""
PARTITIONS_ADDED: Final = "partitions-added"
"""Topics of which larger partition numbers are assigned than ever before."""
TOPICS_APPEARED: Final = "topics-appeared"
"""Topics that the assignment before left out, although members subscribed to them."""
ASSIGNOR_CHANGED: Final = "assignor-changed"
"""The group selected another assignor."""
REPLACED: Final = "replaced"
"""Static members under other member ids, and nothing else."""
LEADER_CHANGED: Final = "leader-changed"
"""Another member leads, and nothing else."""
ROUND: Final = "round"
"""A further round of a cooperative rebalance: it assigns the partitions that the one
before withheld."""
RESTLESS: Final = "restless"
"""Nothing of this has changed."""
UNKNOWN: Final = "unknown"
"""The rebalance before is not known."""

KINDS: Final = (
    STARTED,
    RETURNED,
    LEFT_BRIEFLY,
    JOINED,
    LEFT,
    RESUBSCRIBED,
    PARTITIONS_ADDED,
    TOPICS_APPEARED,
    ASSIGNOR_CHANGED,
    REPLACED,
    LEADER_CHANGED,
    ROUND,
    RESTLESS,
    UNKNOWN,
)
"""All kinds, in the order in which a rebalance lists them."""

RETURN_MS: Final = 60_000
"""A member that returns later than this is counted as a new one."""
MOST_NAMES: Final = 10
"""Members, and topics, that a cause names."""


@dataclass(frozen=True, slots=True)
class Cause:
    """An entry of the column ``causes``: a kind, a count, and the first names."""

    kind: str
    count: int
    members: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


def listed_causes(entries: Iterable[Mapping[str, Any]] | None) -> tuple[Cause, ...]:
    """Return the entries of a row of the column; none if it is null."""
    return tuple(
        Cause(
            entry["kind"],
            entry["count"],
            tuple(entry["members"]),
            tuple(entry["topics"]),
        )
        for entry in entries or ()
    )
