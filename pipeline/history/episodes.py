"""Episodes: a rebalance from one stable state to the next.

A group is in a stable state after a generation in which no partition is withheld. A
partition is withheld if no member receives it although it has an owner and some member
subscribes to its topic: in a cooperative group, the owner first revokes it and then
requests another rebalance, and may have left the topic. An episode consists of the
generations after one stable state, up to and including the next; in an eager group, it
is a single generation. Members can join and leave meanwhile. An episode is `OPEN` if
the source ends, or the group becomes empty, before a stable state.

The partitions owned before an episode are those owned before its first round. Members
are identified by instance id if they are static, else by member id (`seat`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pipeline.cases import OPEN, REST, Case, Episode, Held
from pipeline.history.generations import Generation, Seat
from pipeline.history.ownership import Ownership
from pipeline.history.place import NO_DURATION, Duration, Place, duration


@dataclass(slots=True, kw_only=True)
class Running:
    """The unfinished episode."""

    first: Case
    before: dict[Seat, Held]
    rounds: int = 0
    withheld: int = 0
    unowned: Duration = NO_DURATION
    last: Case
    last_place: Place
    last_withheld: int = 0
    seats: dict[str, Seat] = field(default_factory=dict)


class Episodes:
    """Split a group's cases into episodes, and yield each case once it is complete."""

    def __init__(self) -> None:
        self._running: Running | None = None

    def add(
        self, case: Case, generation: Generation, ownership: Ownership, place: Place
    ) -> Iterator[Case]:
        """Add the next case; yield complete cases, the last one with its episode.

        A case without withheld partitions ends its episode.
        """
        running = self._running
        if running is None:
            running = self._begin(case, generation, ownership, place)
        else:
            yield _in_episode(running)
            # The partitions that the last round withheld had no owner until now.
            waited = duration(running.last_place, place)
            running.unowned += waited * running.last_withheld
            running.last_place = place
        running.rounds += 1
        running.seats = {p.member_id: p.seat for p in generation.participants}
        running.last = case
        running.last_withheld = withheld_of(generation, ownership)
        running.withheld += running.last_withheld
        if running.last_withheld == 0:
            yield from self._end(REST)

    def interrupt(self) -> Iterator[Case]:
        """End the unfinished episode, if there is one."""
        if self._running is not None:
            yield from self._end(OPEN)

    def _begin(
        self, case: Case, generation: Generation, ownership: Ownership, place: Place
    ) -> Running:
        owned = {
            p.seat: ownership.owned.get(p.member_id, {})
            for p in generation.participants
        }
        self._running = Running(first=case, before=owned, last=case, last_place=place)
        return self._running

    def _end(self, ended: str) -> Iterator[Case]:
        running = self._running
        assert running is not None  # noqa: S101  # both callers have looked
        self._running = None
        yield _in_episode(running, _episode_of(running, ended))


def withheld_of(generation: Generation, ownership: Ownership) -> int:
    """Count the partitions that a cooperative round withholds from all members."""
    if not ownership.cooperative:
        return 0
    people = generation.participants
    read = {topic for p in people for topic in p.subscription}
    owned = _numbers(ownership.owned.get(p.member_id, {}) for p in people)
    given = _numbers(p.held for p in people)
    return sum(len(owned[topic] - given[topic]) for topic in read & owned.keys())


def _numbers(parts: Iterable[Held]) -> defaultdict[str, set[int]]:
    """Return the partition numbers of all parts, by topic."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for held in parts:
        for topic, numbers in held.items():
            found[topic].update(numbers)
    return found


def _in_episode(running: Running, episode: Episode | None = None) -> Case:
    """Return the last case with its place in the episode, which it may end."""
    return replace(
        running.last,
        episode_id=running.first.rebalance_id,
        round=running.rounds,
        episode=episode,
    )


def _episode_of(running: Running, ended: str) -> Episode:
    first, last = running.first, running.last
    several = running.rounds > 1
    return Episode(
        episode_id=first.rebalance_id,
        first_generation=first.generation,
        started_at=first.at,
        rounds=running.rounds,
        ended=ended,
        owned_from=first.owned_from,
        withheld=running.withheld,
        # How long an eager group does not consume is not recorded.
        unowned_partition_ms=running.unowned.ms if last.cooperative else None,
        unowned_unknown=running.unowned.unknown if last.cooperative else None,
        source=first.source,
        before=_by_member(running) if several else None,
    )


def _by_member(running: Running) -> dict[str, Held]:
    return {
        member_id: running.before[seat]
        for member_id, seat in running.seats.items()
        if running.before.get(seat)
    }
