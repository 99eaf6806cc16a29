"""Members that are best for each partition by itself, in moves and rack mismatches.

Objectives that are settled before balance is leave each partition the members that are
best in the first of them, of these the best in the second, and so on. Partitions of one
topic, owner and set of racks are equal in this, and the members beside the owner differ
only in whether their rack has a replica.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, cast

from verify.case import Case
from verify.columns import Columns
from verify.figures import is_far
from verify.policy.feasible_region import assignable_topics
from verify.policy.notation import Level
from verify.policy.work import STEPS_PER_BEST

Values = tuple[int, ...]  # by level


class Best(NamedTuple):
    """Partitions of a topic, the best members for each, and the value each adds."""

    topic: str
    numbers: Sequence[int]
    racks: frozenset[str]
    others: Mapping[bool, Sequence[str]]  # by whether they are far: those beside owners
    owner: str | None  # if it is one of the best
    values: Values

    @property
    def members(self) -> list[str]:
        """The best members."""
        owner = [] if self.owner is None else [self.owner]
        return [*chain.from_iterable(self.others.values()), *owner]


class Narrowed(NamedTuple):
    """A case whose topics are parts of the topics: those with the same best members.

    Its ``wants`` are those of the case, and it has no lag and no claims but its owned.
    """

    case: Case
    columns: Columns
    origin: Mapping[str, tuple[str, Sequence[int]]]  # part -> topic, numbers there

    def by_origin(self, fails: dict[str, Any]) -> dict[str, Any]:
        """Return why a certificate fails, with the topic and number of a partition."""
        if fails.get("topic") not in self.origin:
            return fails
        topic, numbers = self.origin[fails["topic"]]
        return fails | {"topic": topic, "partition": numbers[fails["partition"]]}


def added_values(levels: Iterable[Level], moves: int, mismatches: int) -> Values:
    """Return the amounts that moves and mismatches add to the value of each level."""
    added = {"stickiness": moves, "rack": mismatches}
    return tuple(sum(w * added[of] for w, of in level) for level in levels)


def separate_values(case: Case, levels: Sequence[Level]) -> Values:
    """Sum the least cost of each partition by itself, level by level.

    No assignment is better in the first level than all of these together, none that is
    as good there is better in the second.
    """
    if not levels:
        return ()
    total = [0] * len(levels)
    for best in _best_members(case, levels):
        for place, value in enumerate(best.values):
            total[place] += len(best.numbers) * value
    return tuple(total)


def counts(objective: str, levels: Iterable[Level]) -> bool:
    """Return whether one of some levels counts moves, or rack mismatches."""
    return any(counted == objective for level in levels for _, counted in level)


def steps_of_narrowing(case: Case, levels: Sequence[Level]) -> int:
    """Return the steps for the subscriptions of a narrowed case, before it is built.

    They can be more than those of the case: each owner of a topic that is as good where
    it is as others are makes a part with all of these.
    """
    steps = 0
    seen: set[tuple[str, frozenset[str], frozenset[bool], str | None]] = set()
    for best in _best_members(case, levels):
        part = (best.topic, best.racks, frozenset(best.others), best.owner)
        if part not in seen:
            seen.add(part)
            members = sum(map(len, best.others.values())) + (best.owner is not None)
            steps += STEPS_PER_BEST * members
    return steps


def narrowed(case: Case, columns: Columns, levels: Sequence[Level]) -> Narrowed:
    """Return a case in which only best members subscribe, and an assignment for it."""
    if not levels:
        return Narrowed(case, columns, {})
    parts: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for best in _best_members(case, levels):
        parts.setdefault((best.topic, tuple(best.members)), []).extend(best.numbers)
    names = {key: f"{key[0]}/{place}" for place, key in enumerate(parts)}
    origin = {name: (key[0], parts[key]) for key, name in names.items()}
    case = replace(
        case,
        partitions={name: len(numbers) for name, (_, numbers) in origin.items()},
        subscribers={name: members for (_, members), name in names.items()},
        claimed={},
        owners={
            name: [case.owners[topic][number] for number in numbers]
            for name, (topic, numbers) in origin.items()
        },
        rivals={},
        lag={},
        replica_racks={
            name: [case.replica_racks[topic][number] for number in numbers]
            for name, (topic, numbers) in origin.items()
            if topic in case.replica_racks
        },
    )
    split = {
        name: [columns.holders[topic][number] for number in numbers]
        for name, (topic, numbers) in origin.items()
    }
    members = cast("list[str]", list(chain.from_iterable(split.values())))
    held = Columns(split, {}, True, range(len(members)), members)
    return Narrowed(case, held, origin)


def _best_members(case: Case, levels: Sequence[Level]) -> Iterator[Best]:
    """Yield the partitions that assignments can place, by topic, racks and owner."""
    by_rack, by_owner = counts("rack", levels), counts("stickiness", levels)
    for topic in assignable_topics(case):
        listed = case.replica_racks.get(topic) if by_rack else None
        equal: dict[frozenset[str], dict[str | None, list[int]]] = {}
        racks: frozenset[str] = frozenset()
        for number in range(case.partitions[topic]):
            owner = case.owners[topic][number] if by_owner else None
            if listed:
                racks = frozenset(listed[number])
            equal.setdefault(racks, {}).setdefault(owner, []).append(number)
        for racks, owned in equal.items():
            others: dict[bool, list[str]] = {}
            for name in case.subscribers[topic]:
                others.setdefault(is_far(case, name, racks), []).append(name)
            for owner, numbers in owned.items():
                moved = {
                    far: added_values(levels, owner is not None, far) for far in others
                }
                least = min(moved.values())
                stays = None
                if owner is not None:
                    stays = added_values(levels, 0, is_far(case, owner, racks))
                    least = min(least, stays)
                best = {far: others[far] for far in others if moved[far] == least}
                kept = owner if stays == least else None
                yield Best(topic, numbers, racks, best, kept, least)
