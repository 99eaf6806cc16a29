"""Partition counts over time, from the records of all groups.

A count holds from the first time that a record shows it, until the topic was deleted.
A topic was deleted at a time if committed offsets of it were deleted, and no other
group had some before and after; or if a topic id of the same name appears that is new.
All that was shown before is then unknown, until it is shown again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias

from pipeline.sightings import Sighting
from pipeline.topic_ids import is_topic_id

METADATA_MAX_AGE: Final = 300_000
"""Default of ``metadata.max.age.ms``: how old the metadata of a leader can be."""

Step: TypeAlias = tuple[int, int]
"""Time in milliseconds, and the partition count from then on; 0: deleted, unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A count at a time: at least ``most``, and ``settled`` of them not newly shown.

    A partition is newly shown if its first evidence is at most `METADATA_MAX_AGE` old,
    and the topic was shown with fewer partitions before.
    """

    most: int
    settled: int


@dataclass(frozen=True, slots=True)
class KnownCounts:
    """Steps of each topic in the order of time; counts increase from 0 to 0."""

    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)

    def at(self, topic: str, at: int | None) -> Known | None:
        """Return the count of a topic at a time; None if it is unknown."""
        steps = self.steps.get(topic, ())
        if at is None or not steps:
            return None
        last = _place(steps, at)
        if last < 0 or not steps[last][1]:
            return None
        first = last
        while first and steps[first - 1][1]:
            first -= 1
        settled = max(first, _place(steps, at - METADATA_MAX_AGE))
        return Known(most=steps[last][1], settled=steps[settled][1])

    def was_deleted_after(self, topic: str, at: int) -> bool:
        """Return whether records show that a topic was deleted after a time."""
        return any(
            since > at and not count for since, count in self.steps.get(topic, ())
        )


def known_counts(
    sightings: Iterable[tuple[str, Sighting]], names: Mapping[str, str]
) -> KnownCounts:
    """Combine the sightings of all groups; ``names`` are those of topic ids.

    Ids without a name are dropped.
    """
    shown: dict[str, dict[str, list[Sighting]]] = {}
    for topic, sighting in sightings:
        name = names.get(topic) if is_topic_id(topic) else topic
        if name is not None:
            shown.setdefault(name, {}).setdefault(topic, []).append(sighting)
    return KnownCounts({name: _steps(shown[name]) for name in sorted(shown)})


def _steps(shown: Mapping[str, list[Sighting]]) -> tuple[Step, ...]:
    """Return the steps of one name, of which ``shown`` has the name and the ids."""
    begun = sorted(
        (min(sighting.since for sighting in sightings), topic)
        for topic, sightings in shown.items()
        if is_topic_id(topic)
    )
    replaced = {old: since for (_, old), (since, _) in pairwise(begun)}
    found = [
        sighting
        for topic, sightings in shown.items()
        for sighting in sightings
        if topic not in replaced or sighting.since < replaced[topic]
    ]
    found.sort(key=attrgetter("since", "count"))
    deleted = sorted({*replaced.values(), *_deletions(found)})
    steps: list[Step] = []
    for sighting in found:
        while deleted and deleted[0] <= sighting.since:
            steps.append((deleted.pop(0), 0))
        count = steps[-1][1] if steps else 0
        if sighting.count > count:
            if count and steps[-1][0] == sighting.since:
                steps.pop()
            steps.append((sighting.since, sighting.count))
    return (*steps, *((at, 0) for at in deleted))


def _deletions(found: list[Sighting]) -> Iterator[int]:
    """Yield the times at which a group's offsets ended and those of no other went on.

    ``found`` are sorted by their begin.
    """
    ends = sorted({sighting.until for sighting in found if sighting.until is not None})
    intervals = [sighting for sighting in found if sighting.is_commit]
    place, open_until = 0, 0
    for end in ends:
        while place < len(intervals) and intervals[place].since < end:
            until = intervals[place].until
            open_until = max(open_until, _FOREVER if until is None else until)
            place += 1
        if open_until <= end:
            yield end


_FOREVER: Final = 1 << 63


def _place(steps: tuple[Step, ...], at: int) -> int:
    """Return the last step of which the time is at most ``at``; -1 if there is none."""
    return bisect_right(steps, at, key=itemgetter(0)) - 1
