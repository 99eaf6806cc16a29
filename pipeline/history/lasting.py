"""How long the states of a group last, record by record.

A state begins with a rebalance, and ends with the record of the next generation or
target assignment, or by which the group is empty or deleted. A state that neither
follows is open: it lasts until the history ends.

- A static member that returns is written into the same generation: the state goes on.
- A record of the group that cannot be read, or of another kind of group, replaces the
  state with one that is not known, and ends it at its time.
- A classic group that becomes one of the new protocol, or back, keeps its assignment
  (`pipeline.history.consumer_history`): the state goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline.cases import EMPTY, NEXT, OPEN, Case
from pipeline.history.place import Place


class _StateEnd(NamedTuple):
    """Record that ends a state; a conversion of the group revokes a tombstone."""

    place: Place
    ended: str
    is_tombstone: bool


class GroupStates:
    """The present state of one group; each case is passed on once its state ended."""

    def __init__(self) -> None:
        self._began: Place | None = None
        self._end: _StateEnd | None = None
        self._held: dict[str, Case] = {}
        self._lasted: dict[str, dict[str, Any]] = {}

    def begin(self, place: Place) -> None:
        """Begin the state of a rebalance, which ends the one before."""
        self.replaced(place)
        self._close()
        self._began = place

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
            yield replace(self._held.pop(name), **self._lasted.pop(name))

    def _close(self) -> None:
        began, end = self._began, self._end
        self._began = self._end = None
        if began is None:
            return
        unknown = began.unknown or (end and end.place.unknown)
        self._lasted[began.name] = {
            "until": end.place.at if end else None,
            "ended": end.ended if end else OPEN,
            "lasted_unknown": unknown or None,
        }
