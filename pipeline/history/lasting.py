"""How long the states of a group last, record by record.

A state begins with a rebalance, and ends with the record of the next generation or
target assignment, or by which the group is empty or deleted. A state that neither
follows is open: it lasts until the history ends.

- A static member that returns is written into the same generation: the state goes on.
- A record of the group that cannot be read, or of another kind of group, replaces the
  state with one that is not known, and ends it at its time.
- While the state of a classic group lasts, a commit of a partition is one of its member
  (`CaseMember.last_commit_at`), which is known once the state has ended.
- A classic group that becomes one of the new protocol, or back, keeps its assignment
  (`pipeline.history.consumer_history`): the state goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline.cases import EMPTY, NEXT, OPEN, Case, CaseMember
from pipeline.records.place import Place


class _StateEnd(NamedTuple):
    """Record that ends a state; a conversion of the group revokes a tombstone."""

    place: Place
    ended: str
    is_tombstone: bool


class _Lasted(NamedTuple):
    """Fields of a case whose state has ended, and the last commits meanwhile."""

    fields: dict[str, Any]
    commits: dict[tuple[str, int], int]

    def applied(self, case: Case) -> Case:
        """Return the case with these fields."""
        members = case.members
        if members is not None and case.protocol == "classic":
            members = {name: self._dated(member) for name, member in members.items()}
        return replace(case, members=members, **self.fields)

    def _dated(self, member: CaseMember) -> CaseMember:
        times = [
            self.commits[topic, number]
            for topic, numbers in (member.assigned or {}).items()
            for number in numbers
            if (topic, number) in self.commits
        ]
        return replace(member, last_commit_at=max(times, default=None))


class GroupStates:
    """The present state of one group; each case is passed on once its state ended."""

    def __init__(self) -> None:
        self._began: Place | None = None
        self._end: _StateEnd | None = None
        self._commits: dict[tuple[str, int], int] = {}
        self._held: dict[str, Case] = {}
        self._lasted: dict[str, _Lasted] = {}

    def begin(self, place: Place) -> None:
        """Begin the state of a rebalance, which ends the one before."""
        self.replaced(place)
        self._close()
        self._began = place

    def commit(self, topic: str, partition: int, at: int | None) -> None:
        """Apply a commit: while a state lasts, it is by the partition's member."""
        if self._began is not None and self._end is None and at is not None:
            last = self._commits.get((topic, partition), at)
            self._commits[topic, partition] = max(last, at)

    def replaced(self, place: Place) -> None:
        """End the state with another one, which need not be known."""
        self._end = self._end or _StateEnd(place, NEXT, is_tombstone=False)

    def emptied(self, place: Place, *, is_tombstone: bool = False) -> None:
        """End the state: the group has no members, or is deleted."""
        self._end = self._end or _StateEnd(place, EMPTY, is_tombstone=is_tombstone)

    def converted(self) -> None:
        """Go on with the state: the tombstone was that of a conversion."""
        if self._end is not None and self._end.is_tombstone:
            self._end = None

    def finish(self) -> None:
        """End the history; without another end, the state is open."""
        self._close()

    def complete(self, case: Case) -> Iterator[Case]:
        """Take a case; yield those whose states have ended, in order."""
        self._held[case.rebalance_id] = case
        yield from self.ended()

    def ended(self) -> Iterator[Case]:
        """Yield the cases whose states have ended, in order."""
        for name in [name for name in self._held if name in self._lasted]:
            yield self._lasted.pop(name).applied(self._held.pop(name))

    def _close(self) -> None:
        began, end, commits = self._began, self._end, self._commits
        self._began, self._end, self._commits = None, None, {}
        if began is None:
            return
        unknown = began.unknown or (end and end.place.unknown)
        fields = {
            "until": end.place.at if end else None,
            "ended": end.ended if end else OPEN,
            "lasted_unknown": unknown or None,
        }
        self._lasted[began.name] = _Lasted(fields, commits if end else {})
