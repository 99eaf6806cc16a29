"""Eligible members per partition, in equivalence classes, for moves and racks.

Partitions of one topic, owner and set of racks are interchangeable: they form a class.
For sums of moves and rack mismatches, two members differ in two things only: whether
one is the owner, and whether its rack has a replica. So at most three classes of
members are eligible for a class of partitions: the owner, the others *near* and the
others *far*. (The owner is also counted among the others; as one of them it only costs
more, so nothing changes.)

Load bounds (`verify.certificate`) narrow the eligible members to those of the lowest
place, and objectives before them to those that are best for each partition by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from verify.case import Case
from verify.policy.notation import Level

OfPair = Callable[[str, str], int]  # of a topic and a member


class PartitionClass(NamedTuple):
    """Interchangeable partitions; ``racks`` is empty where they do not matter."""

    topic: str
    owner: str | None = None
    racks: frozenset[str] = frozenset()


class MemberClass(NamedTuple):
    """Eligible members of one sort, and what a partition on one of them adds."""

    moved: int
    mismatched: int
    place: int
    price: int  # the least at that place
    who: str  # owner, near or far


class Eligibility:
    """All classes of a case, with places and prices per topic and member."""

    def __init__(
        self,
        case: Case,
        *,
        racks: bool,
        place: OfPair | None = None,
        price: OfPair | None = None,
        before: Sequence[Level] = (),
    ) -> None:
        self.case = case
        self._racks = case.replica_racks if racks and case.member_rack else {}
        self._place = place or _zero
        self._price = price or _zero
        self._before = before
        self._others: dict[tuple[str, frozenset[str], bool], list[MemberClass]] = {}

    def partition_classes(self) -> dict[PartitionClass, int]:
        """Count the partitions of each class, of topics with subscribers."""
        found: dict[PartitionClass, int] = {}
        for topic, subscribers in self.case.subscribers.items():
            if subscribers:
                found |= self._classes(topic, range(self.case.partitions[topic]))
        for (owner, topic), numbers in self.case.owned.items():
            for one, count in self._classes(topic, numbers).items():
                found[PartitionClass(topic, owner, one.racks)] = count
                found[one] -= count
        return {one: count for one, count in found.items() if count}

    def class_of(self, topic: str, number: int) -> PartitionClass:
        """Return the class of one partition."""
        rivals = self.case.claimants.get(topic, {}).get(number, ())
        (one,) = self._classes(topic, [number])
        return one._replace(owner=rivals[0]) if len(rivals) == 1 else one

    def eligible(self, partitions: PartitionClass) -> list[MemberClass]:
        """Return the classes of members that are eligible for a class of partitions."""
        others = self._others_of(partitions)
        if partitions.owner is None:
            return others
        topic, name, racks = partitions
        owner = self._member_class(topic, str(name), racks, "owner")
        if not self._before and others[0].place < owner.place:
            return others
        return self._narrowed([*others, owner])

    def members(self, partitions: PartitionClass, found: MemberClass) -> Iterator[str]:
        """Yield the members of a class."""
        if found.who == "owner":
            yield str(partitions.owner)
            return
        topic, _, racks = partitions
        for name in self.case.subscribers[topic]:
            far = self._is_far(name, racks)
            if far == found.mismatched and self._place(topic, name) == found.place:
                yield name

    def _others_of(self, partitions: PartitionClass) -> list[MemberClass]:
        """Return the classes beside the owner; most partitions share them."""
        key = partitions.topic, partitions.racks, partitions.owner is None
        if key not in self._others:
            found = list(self._near_and_far(partitions.topic, partitions.racks))
            if partitions.owner is not None:
                found = [one._replace(moved=1) for one in found]
            self._others[key] = self._narrowed(found)
        return self._others[key]

    def _narrowed(self, found: list[MemberClass]) -> list[MemberClass]:
        if self._before:
            best = min(added_values(self._before, one) for one in found)
            found = [one for one in found if added_values(self._before, one) == best]
        lowest = min([one.place for one in found])
        return [one for one in found if one.place == lowest]

    def _classes(
        self, topic: str, numbers: Collection[int]
    ) -> Mapping[PartitionClass, int]:
        listed = self._racks.get(topic)
        if listed is None:
            return {PartitionClass(topic): len(numbers)}
        racks = Counter(frozenset(listed[number]) for number in numbers)
        return {PartitionClass(topic, None, one): n for one, n in racks.items()}

    def _near_and_far(self, topic: str, racks: frozenset[str]) -> Iterator[MemberClass]:
        found: dict[str, MemberClass] = {}
        for name in self.case.subscribers[topic]:
            who = "far" if self._is_far(name, racks) else "near"
            one = self._member_class(topic, name, racks, who)
            if who not in found or one[2:4] < found[who][2:4]:
                found[who] = one
        yield from found.values()

    def _member_class(
        self, topic: str, name: str, racks: frozenset[str], who: str
    ) -> MemberClass:
        place, price = self._place(topic, name), self._price(topic, name)
        return MemberClass(0, self._is_far(name, racks), place, price, who)

    def _is_far(self, name: str, racks: frozenset[str]) -> int:
        rack = self.case.member_rack.get(name)
        return int(bool(racks) and rack is not None and rack not in racks)


def _zero(_topic: str, _member: str) -> int:
    return 0


def added_values(levels: Sequence[Level], one: MemberClass) -> tuple[int, ...]:
    """Return what a partition on a member of a class adds to each level."""
    added = {"stickiness": one.moved, "rack": one.mismatched}
    return tuple(sum(w * added[of] for w, of in level) for level in levels)
