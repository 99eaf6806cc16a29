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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from pipeline.cases import OPEN, REST, Case, Episode, Held
from pipeline.history.generations import Generation, Seat
from pipeline.history.ownership import Ownership
from pipeline.records.place import NO_DURATION, Duration, Place, duration


@dataclass(slots=True, kw_only=True)
class UnfinishedEpisode:
    """The unfinished episode."""

    place: Place  # of the first round, as are the next two
    generation: int
    owned_from: str
    before: dict[Seat, Held]
    rounds: int = 0
    withheld: int = 0
    unowned: Duration = NO_DURATION
    last: Case | None = None
    last_place: Place
    last_withheld: int = 0
    cooperative: bool = False
    seats: dict[str, Seat] = field(default_factory=dict)


class Episodes:
    """Split a group's cases into episodes, and yield each case once it is complete."""

    def __init__(self) -> None:
        self._running: UnfinishedEpisode | None = None

    def add(
        self,
        make: Callable[..., Case],
        generation: Generation,
        ownership: Ownership,
        place: Place,
    ) -> Iterator[Case]:
        """Make the next case; yield complete cases, the last one with its episode.

        A case without withheld partitions ends its episode. ``make`` takes the
        ``episode_id``, the ``round``, and the ``episode``, if it ends.
        """
        running = self._running
        if running is None:
            running = self._begin(generation, ownership, place)
        elif running.last is not None:
            yield running.last
            # The partitions that the last round withheld had no owner until now.
            waited = duration(running.last_place, place)
            running.unowned += waited * running.last_withheld
            running.last_place = place
        running.rounds += 1
        running.seats = {p.member_id: p.seat for p in generation.participants}
        running.cooperative = ownership.cooperative
        running.last_withheld = withheld_of(generation, ownership)
        running.withheld += running.last_withheld
        is_at_rest = running.last_withheld == 0
        running.last = make(
            episode_id=running.place.name,
            round=running.rounds,
            episode=_episode_of(running, REST) if is_at_rest else None,
        )
        if is_at_rest:
            self._running = None
            yield running.last

    def interrupt(self) -> Iterator[Case]:
        """End the unfinished episode, if there is one."""
        running, self._running = self._running, None
        if running is not None and running.last is not None:
            yield replace(running.last, episode=_episode_of(running, OPEN))

    def _begin(
        self, generation: Generation, ownership: Ownership, place: Place
    ) -> UnfinishedEpisode:
        owned = {
            p.seat: ownership.owned.get(p.member_id, {})
            for p in generation.participants
        }
        self._running = UnfinishedEpisode(
            place=place,
            generation=generation.generation,
            owned_from=ownership.owned_from,
            before=owned,
            last_place=place,
        )
        return self._running


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


def _episode_of(running: UnfinishedEpisode, ended: str) -> Episode:
    first, cooperative = running.place, running.cooperative
    several = running.rounds > 1
    return Episode(
        episode_id=first.name,
        first_generation=running.generation,
        started_at=first.at,
        rounds=running.rounds,
        ended=ended,
        owned_from=running.owned_from,
        withheld=running.withheld,
        # How long an eager group does not consume is not recorded.
        unowned_partition_ms=running.unowned.ms if cooperative else None,
        unowned_unknown=running.unowned.unknown if cooperative else None,
        source=first.source,
        before=_by_member(running) if several else None,
    )


def _by_member(running: UnfinishedEpisode) -> dict[str, Held]:
    return {
        member_id: running.before[seat]
        for member_id, seat in running.seats.items()
        if running.before.get(seat)
    }
