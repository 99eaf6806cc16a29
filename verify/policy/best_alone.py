"""Members that are best for each partition by itself, in moves and rack mismatches.

Objectives that are settled before balance is leave each partition the members that are
best in the first of them, of these the best in the second, and so on. Partitions of one
topic, owner and set of racks are equal in this, and the members beside the owner differ
only in whether their rack has a replica.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from verify.case import Case, Row
from verify.figures import is_far
from verify.policy.feasible_region import assignable_topics
from verify.policy.notation import Level

Values = tuple[int, ...]  # by level


class Narrowed(NamedTuple):
    """A case whose topics are parts of the topics: those with the same best members.

    Its ``wants`` are those of the case, and it has no lag and no claims but its owned.
    """

    case: Case
    rows: Sequence[Row]
    origin: Mapping[str, tuple[str, Sequence[int]]]  # part -> topic, numbers there

    def by_origin(self, fails: dict[str, Any]) -> dict[str, Any]:
        """Return why a certificate fails, with the topic and number of a partition."""
        if fails.get("topic") not in self.origin:
            return fails
        topic, numbers = self.origin[fails["topic"]]
        return fails | {"topic": topic, "partition": numbers[fails["partition"]]}


def added_values(levels: Iterable[Level], moves: int, mismatches: int) -> Values:
    """Return what moves and mismatches add to the value of each level."""
    added = {"stickiness": moves, "rack": mismatches}
    return tuple(sum(w * added[of] for w, of in level) for level in levels)


def separate_values(case: Case, levels: Sequence[Level]) -> Values:
    """Sum what each partition costs at least by itself, level by level.

    No assignment is better in the first level than all of these together, none that is
    as good there is better in the second.
    """
    if not levels:
        return ()
    total = [0] * len(levels)
    for _, numbers, _, values in _best_members(case, levels):
        for place, value in enumerate(values):
            total[place] += len(numbers) * value
    return tuple(total)


def narrowed(case: Case, rows: Sequence[Row], levels: Sequence[Level]) -> Narrowed:
    """Return a case in which only best members subscribe, and an assignment for it."""
    if not levels:
        return Narrowed(case, rows, {})
    parts: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for topic, numbers, members, _ in _best_members(case, levels):
        parts.setdefault((topic, tuple(members)), []).extend(numbers)
    names = {key: f"{key[0]}/{place}" for place, key in enumerate(parts)}
    origin = {name: (key[0], parts[key]) for key, name in names.items()}
    place_of = {
        (topic, number): (name, place)
        for name, (topic, numbers) in origin.items()
        for place, number in enumerate(numbers)
    }

    def split(rows: Iterable[Row]) -> dict[tuple[str, str], set[int]]:
        found: dict[tuple[str, str], set[int]] = {}
        for member, topic, numbers in rows:
            for number in numbers:
                name, place = place_of[topic, number]
                found.setdefault((member, name), set()).add(place)
        return found

    owned = ((member, topic, list(n)) for (member, topic), n in case.owned.items())
    case = replace(
        case,
        partitions={name: len(numbers) for name, (_, numbers) in origin.items()},
        subscribers={name: members for (_, members), name in names.items()},
        claimants={},
        owned=split(owned),
        lag={},
        replica_racks={
            name: [case.replica_racks[topic][number] for number in numbers]
            for name, (topic, numbers) in origin.items()
            if topic in case.replica_racks
        },
    )
    return Narrowed(case, [(*pair, list(n)) for pair, n in split(rows).items()], origin)


def _best_members(
    case: Case, levels: Sequence[Level]
) -> Iterator[tuple[str, Sequence[int], Sequence[str], Values]]:
    """Yield partitions of a topic, the members best for each, and what one adds."""
    counted = {objective for level in levels for _, objective in level}
    for topic in assignable_topics(case):
        listed = case.replica_racks.get(topic) if "rack" in counted else None
        claimed = case.claimants.get(topic, {}) if "stickiness" in counted else {}
        equal: dict[frozenset[str], dict[str | None, list[int]]] = {}
        racks: frozenset[str] = frozenset()
        for number in range(case.partitions[topic]):
            claim = claimed.get(number, ())
            owner = claim[0] if len(claim) == 1 else None
            if listed:
                racks = frozenset(listed[number])
            equal.setdefault(racks, {}).setdefault(owner, []).append(number)
        for racks, by_owner in equal.items():
            others: dict[bool, list[str]] = {}  # by whether they are far
            for name in case.subscribers[topic]:
                others.setdefault(is_far(case, name, racks), []).append(name)
            for owner, numbers in by_owner.items():
                sorts = [(owner is not None, *one) for one in others.items()]
                if owner is not None:
                    sorts.append((False, is_far(case, owner, racks), [owner]))
                members: dict[Values, list[str]] = {}
                for moved, far, names in sorts:
                    values = added_values(levels, moved, far)
                    members[values] = members.get(values, []) + names
                least = min(members)
                yield topic, numbers, members[least], least
