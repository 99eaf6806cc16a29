"""Where each partition may sit, for sums of moves and rack mismatches.

Partitions of one topic, owner and set of racks are alike: a *kind*. For such sums a
member differs from another in two things only, whether it is the owner and whether its
rack has a replica. So a kind has at most three sorts of seats: its owner, the others
*near* and the others *far*. (That the owner counts among the others as well changes
nothing: as one of them it only costs more.)

A face (`face_of`) narrows the seats to those of the least place, and objectives that
come before the face narrow them to those that are best for each partition by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from verify.case import Case
from verify.keys import limits, ranks
from verify.policy import Level

Certificate = Mapping[str, Mapping[str, Any]]
Ask = Callable[[str, str], int]  # of a topic and a member


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """What a certificate of balance says of the members.

    Attributes
    ----------
    place : member -> orders the levels: a partition sits on a seat of the least
    low, high : member -> partitions it holds at least and at most
    """

    place: Mapping[str, int]
    low: Mapping[str, int]
    high: Mapping[str, int]


def face_of(case: Case, certificate: Certificate) -> Face:
    """Read the levels of a certificate, or its thresholds where it has them."""
    level = certificate["level"]
    if "threshold" not in certificate:
        return Face(place=level, low=level, high={m: n + 1 for m, n in level.items()})
    keys = {name: (key[0], key[1]) for name, key in certificate["threshold"].items()}
    rank = ranks(keys.values())
    held = {name: limits(case.capacity[name], key) for name, key in keys.items()}
    return Face(
        place={name: rank[key] for name, key in keys.items()},
        low={name: low for name, (low, _) in held.items()},
        high={name: high for name, (_, high) in held.items()},
    )


def least_places(case: Case, face: Face) -> dict[str, int]:
    """Return the least place among the subscribers of each topic to be given out."""
    return {
        topic: min(map(face.place.__getitem__, subscribers))
        for topic, subscribers in case.subscribers.items()
        if subscribers and case.partitions[topic]
    }


class Kind(NamedTuple):
    """Partitions that are alike; ``racks`` is empty where they do not matter."""

    topic: str
    owner: str | None = None
    racks: frozenset[str] = frozenset()


class Seat(NamedTuple):
    """One sort of seats of a kind: what a partition there adds, and who they are."""

    moved: int
    mismatched: int
    place: int
    price: int  # the least at that place
    who: str  # owner, near or far


class Seating:
    """All kinds of a case, and their seats, under places and prices."""

    def __init__(
        self,
        case: Case,
        *,
        racks: bool,
        place: Ask | None = None,
        price: Ask | None = None,
        before: Sequence[Level] = (),
    ) -> None:
        self.case = case
        self._racks = case.replica_racks if racks and case.member_rack else {}
        self._place = place or _nothing
        self._price = price or _nothing
        self._before = before
        self._others: dict[tuple[str, frozenset[str], bool], list[Seat]] = {}

    def kinds(self) -> dict[Kind, int]:
        """Count the partitions of each kind that somebody subscribes to."""
        found: dict[Kind, int] = {}
        for topic, subscribers in self.case.subscribers.items():
            if subscribers:
                found |= self._kinds(topic, range(self.case.partitions[topic]))
        for (owner, topic), numbers in self.case.owned.items():
            for kind, count in self._kinds(topic, numbers).items():
                found[Kind(topic, owner, kind.racks)] = count
                found[kind] -= count
        return {kind: count for kind, count in found.items() if count}

    def kind_of(self, topic: str, number: int) -> Kind:
        """Return the kind of one partition."""
        owner = [
            name
            for name in self.case.claimants.get(topic, {}).get(number, ())
            if number in self.case.owned.get((name, topic), ())
        ]
        (kind,) = self._kinds(topic, [number])
        return kind._replace(owner=owner[0]) if owner else kind

    def seats(self, kind: Kind) -> list[Seat]:
        """Return the sorts of seats that are left to a kind."""
        others = self._others_of(kind)
        if kind.owner is None:
            return others
        owner = self._seat(kind.topic, kind.owner, kind.racks, "owner")
        if not self._before and others[0].place < owner.place:
            return others
        return self._narrowed([*others, owner])

    def _others_of(self, kind: Kind) -> list[Seat]:
        """Return the sorts of seats beside the owner; most kinds share them."""
        key = kind.topic, kind.racks, kind.owner is None
        if key not in self._others:
            found = list(self._sorts(kind.topic, kind.racks))
            if kind.owner is not None:
                found = [seat._replace(moved=1) for seat in found]
            self._others[key] = self._narrowed(found)
        return self._others[key]

    def _narrowed(self, seats: list[Seat]) -> list[Seat]:
        if self._before:
            best = min(values(self._before, seat) for seat in seats)
            seats = [seat for seat in seats if values(self._before, seat) == best]
        least = min([seat.place for seat in seats])
        return [seat for seat in seats if seat.place == least]

    def members(self, kind: Kind, seat: Seat) -> Iterator[str]:
        """Yield the members that a sort of seats stands for."""
        if seat.who == "owner":
            yield str(kind.owner)
            return
        for name in self.case.subscribers[kind.topic]:
            far = self._is_far(name, kind.racks)
            if far == seat.mismatched and self._place(kind.topic, name) == seat.place:
                yield name

    def _kinds(self, topic: str, numbers: Collection[int]) -> Mapping[Kind, int]:
        listed = self._racks.get(topic)
        if listed is None:
            return {Kind(topic): len(numbers)}
        return Counter(Kind(topic, None, frozenset(listed[n])) for n in numbers)

    def _sorts(self, topic: str, racks: frozenset[str]) -> Iterator[Seat]:
        found: dict[str, Seat] = {}
        for name in self.case.subscribers[topic]:
            who = "far" if self._is_far(name, racks) else "near"
            seat = self._seat(topic, name, racks, who)
            if who not in found or seat[2:4] < found[who][2:4]:
                found[who] = seat
        yield from found.values()

    def _seat(self, topic: str, name: str, racks: frozenset[str], who: str) -> Seat:
        place, price = self._place(topic, name), self._price(topic, name)
        return Seat(0, self._is_far(name, racks), place, price, who)

    def _is_far(self, name: str, racks: frozenset[str]) -> int:
        rack = self.case.member_rack.get(name)
        return int(bool(racks) and rack is not None and rack not in racks)


def _nothing(_topic: str, _member: str) -> int:
    return 0


def values(levels: Sequence[Level], seat: Seat) -> tuple[int, ...]:
    """Return what a partition on a seat adds to each level."""
    added = {"stickiness": seat.moved, "rack": seat.mismatched}
    return tuple(sum(w * added[one] for w, one in level) for level in levels)
