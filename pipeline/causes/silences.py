"""Members that are gone: how long before the rebalance they had last committed.

A commit is a sign of life. Whether a member closed right after it, or died and timed
out, is not recorded; its partitions had no reader for at most the time since then.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class LastSeen(NamedTuple):
    """A member of a classic group's state.

    ``last_commit_ms`` is when it last committed one of its partitions while the state
    lasted, in milliseconds since 1970; None if it did not.
    """

    member_id: str
    instance_id: str | None
    partitions: int
    last_commit_ms: int | None


class Silence(NamedTuple):
    """A member that is gone; milliseconds from its last commit to the rebalance."""

    member_id: str
    partitions: int
    ms: int


def silences_of(
    before: Collection[LastSeen], seats: Collection[str], until_ms: int
) -> tuple[Silence, ...]:
    """Return the members that a rebalance lacks, if they had partitions and committed.

    Parameters
    ----------
    before
        Members of the state before the rebalance.
    seats
        Member ids of the rebalance, and instance ids of its static members.
    until_ms
        Its time.
    """
    found = []
    for member in sorted(before, key=lambda member: member.member_id):
        last, seat = member.last_commit_ms, member.instance_id or member.member_id
        if seat not in seats and member.partitions and last is not None:
            ms = max(0, until_ms - last)
            found.append(Silence(member.member_id, member.partitions, ms))
    return tuple(found)
