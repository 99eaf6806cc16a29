"""Progress of a group to its target assignments, as episodes (KIP-848).

The coordinator computes a target, and members reach it one by one: first they revoke,
then others receive the free partitions. A group is in a stable state when every member
has its partitions of the target. An episode consists of the targets after one stable
state, up to and including the one that is reached; it is `OPEN` if the source ends, or
the group becomes empty, before. A member that leaves before it has reached the target
counts as one that did not reach it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from pipeline.cases import OPEN, REST, Case, Episode, Held
from pipeline.history.consumer_state import Present
from pipeline.history.generations import Seat
from pipeline.history.target_case import Target
from pipeline.history.unowned import Unowned
from pipeline.records.place import Duration, Place, duration

_NOT_REACHED: Final = Duration(None)


@dataclass(slots=True, kw_only=True)
class Reaching:
    """The unfinished episode, with the latest target."""

    first: Case
    before: dict[Seat, Held]
    rounds: int
    case: Case
    seats: dict[str, Seat]
    targets: dict[Seat, Held]
    behind: set[Seat]
    began: Place


class Reconciliation:
    """Split a group's cases into episodes; yield each case once it is complete."""

    def __init__(self) -> None:
        self._running: Reaching | None = None
        self._unowned = Unowned()

    def add(self, case: Case, target: Target, place: Place) -> Iterator[Case]:
        """Add the next target's case; yield the one before it, which was not reached.

        The case itself is yielded if members already have their partitions of it.
        """
        running = self._running
        if running is not None:
            yield _finished(running)
        people = target.people
        first = case if running is None else running.first
        rounds = 1 if running is None else running.rounds + 1
        before = (
            {
                participant.seat: participant.before
                for participant in people
                if participant.before
            }
            if running is None
            else running.before
        )
        self._running = Reaching(
            first=first,
            before=before,
            rounds=rounds,
            case=case,
            seats={participant.member_id: participant.seat for participant in people},
            targets={participant.seat: participant.target for participant in people},
            behind={
                participant.seat
                for participant in people
                if not _has_reached(participant.present, participant.target)
            },
            began=place,
        )
        self._unowned.expect(participant.target for participant in people)
        yield from self._finish_if_reached(place)

    def moved(
        self, member_id: str, seat: Seat, present: Present | None, place: Place
    ) -> Iterator[Case]:
        """Apply a member's present assignment; None after its tombstone.

        A static member that returned has another id and the same seat.
        """
        self._unowned.moved(member_id, {} if present is None else present.held, place)
        running = self._running
        if running is None or present is None or seat not in running.targets:
            return
        if _has_reached(present, running.targets[seat]):
            running.behind.discard(seat)
        else:
            running.behind.add(seat)
        yield from self._finish_if_reached(place)

    def interrupt(self) -> Iterator[Case]:
        """End the unfinished episode, if there is one: the group is empty or ends."""
        if self._running is not None:
            yield self._end(OPEN)
        self._unowned.reset()

    def _finish_if_reached(self, place: Place) -> Iterator[Case]:
        running = self._running
        if running is not None and not running.behind:
            yield self._end(REST, duration(running.began, place))
            self._unowned.reset()

    def _end(self, ended: str, took: Duration = _NOT_REACHED) -> Case:
        running = self._running
        assert running is not None  # noqa: S101  # both callers have looked
        self._running = None
        episode = _episode_of(running, ended, self._unowned.total)
        return _finished(running, took, episode)


def _finished(
    running: Reaching, took: Duration = _NOT_REACHED, episode: Episode | None = None
) -> Case:
    """Return the case with its place in the episode, which it may end."""
    return replace(
        running.case,
        episode_id=running.first.rebalance_id,
        round=running.rounds,
        behind=len(running.behind),
        reached_ms=took.ms,
        reached_unknown=took.unknown,
        episode=episode,
    )


def _has_reached(present: Present | None, target: Held) -> bool:
    if present is None:
        return not target
    return present.settled and present.held == target


def _episode_of(running: Reaching, ended: str, unowned: Duration) -> Episode:
    first = running.first
    before = {
        member_id: running.before[seat]
        for member_id, seat in running.seats.items()
        if seat in running.before
    }
    return Episode(
        episode_id=first.rebalance_id,
        first_generation=first.generation,
        started_at=first.at,
        rounds=running.rounds,
        ended=ended,
        owned_from=first.owned_from,
        withheld=0,  # a target assigns every partition
        unowned_partition_ms=unowned.ms,
        unowned_unknown=unowned.unknown,
        source=first.source,
        before=before if running.rounds > 1 else None,
    )
