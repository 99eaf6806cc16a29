"""Difference between owners, an assignment, and the optimum, for one rebalance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from oracle.wording import ranges
from verify import Case

Held = tuple[str | None, str, int]
"""Member (None: unassigned), topic, partition."""
Spot = tuple[str, int]
"""Topic, partition."""
Members = Mapping[str, Mapping[str, Sequence[int]]]
_Found = Mapping[str | None, list[tuple[Held, str]]]

KEPT: Final = "kept"
"""Stayed with its owner."""
NEW: Final = "new"
"""Had no owner before."""
NEEDED: Final = "needed"
"""Left its owner, as in the optimum."""
NEEDLESS: Final = "needless"
"""Left its owner, although it stays there in the optimum."""
FORBIDDEN: Final = "forbidden"
"""Invalid: breaks a rule, or is unassigned although a member subscribes."""
FATES: Final = (KEPT, NEW, NEEDED, NEEDLESS, FORBIDDEN)
_WEIGHT: Final = {FORBIDDEN: 1000, NEEDLESS: 100, NEEDED: 10, NEW: 1, KEPT: 0}

MEMBERS_SHOWN: Final = 8
MEMBERS_LISTED: Final = 60
"""Further members in a table that opens on request; the tables have the others."""
PIECES_SHOWN: Final = 24
NUMBERS_SHOWN: Final = 60  # characters of one piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Partitions of one topic with the same outcome, such as ``0-3, 7``."""

    topic: str
    numbers: str
    count: int
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Partitions of one member at one time; ``more`` are not listed in a piece."""

    load: int
    pieces: tuple[Piece, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Partitions of one member (None: unassigned): owned, assigned, and optimal."""

    member: str | None
    before: Side
    after: Side
    best: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentDiff:
    """The members with the most differences, by name, then unassigned partitions.

    Attributes
    ----------
    others
        Further members, by name.
    members_left_out
        Members in neither.
    """

    rows: tuple[Row, ...]
    others: tuple[Row, ...]
    members_left_out: int


def assignment_diff_of(
    case: Case, after: Members, best: Members, forbidden: AbstractSet[Held]
) -> AssignmentDiff:
    """Compare two assignments of one instance, partition by partition.

    ``forbidden`` are the partitions that violate a rule in ``after``.
    """
    owner = owners_of(case)
    ideal = {(topic, number): member for member, topic, number in placed(best)}
    taken = holders_of(after, owner)
    spots = list(spots_of(case))
    nobody = [(None, *spot) for spot in spots if spot not in taken]
    befores = [
        (
            (owner.get(spot), *spot),
            fate_of(owner.get(spot), taken.get(spot), ideal.get(spot)),
        )
        for spot in spots
    ]
    afters = [
        (held, FORBIDDEN if held in forbidden else _after(held, owner, ideal))
        for held in (*placed(after), *nobody)
    ]
    bests = [
        ((member, *spot), _plain_fate(owner.get(spot), member))
        for spot, member in ideal.items()
    ]
    names = {*case.wants, *after}
    return _laid_out(names, [_by_member(found) for found in (befores, afters, bests)])


def _laid_out(
    names: AbstractSet[str],
    sides: Sequence[Mapping[str | None, list[tuple[Held, str]]]],
) -> AssignmentDiff:
    """Select the members with the most differences, and build their rows."""

    def stir(name: str) -> int:
        seen = (*sides[0].get(name, ()), *sides[1].get(name, ()))
        return sum(_WEIGHT[fate] for _, fate in seen)

    ranked = sorted(names, key=lambda name: (-stir(name), name))
    shown: list[str | None] = [*sorted(ranked[:MEMBERS_SHOWN])]
    if sides[1].get(None):
        shown.append(None)
    end = MEMBERS_SHOWN + MEMBERS_LISTED
    return AssignmentDiff(
        rows=_rows(shown, sides),
        others=_rows(sorted(ranked[MEMBERS_SHOWN:end]), sides),
        members_left_out=max(0, len(ranked) - end),
    )


def _rows(
    names: Iterable[str | None],
    sides: Sequence[Mapping[str | None, list[tuple[Held, str]]]],
) -> tuple[Row, ...]:
    return tuple(
        Row(
            member=name,
            before=_side(sides[0].get(name, ())),
            after=_side(sides[1].get(name, ())),
            best=_side(sides[2].get(name, ())),
        )
        for name in names
    )


def spots_of(case: Case) -> Iterator[Spot]:
    """Yield the partitions with subscribers."""
    for topic, size in case.partitions.items():
        if case.subscribers[topic]:
            yield from ((topic, number) for number in range(size))


def owners_of(case: Case) -> dict[Spot, str]:
    """Return the owner of each partition that has one."""
    return {
        (topic, number): owner
        for topic, owners in case.owners.items()
        for number, owner in enumerate(owners)
        if owner is not None
    }


def placed(members: Members) -> Iterator[tuple[str, str, int]]:
    """Yield member, topic, and partition of all that an assignment lists."""
    for member, held in members.items():
        for topic, numbers in held.items():
            yield from ((member, topic, number) for number in numbers)


def holders_of(after: Members, owner: Mapping[Spot, str]) -> dict[Spot, str]:
    """Return the holder of each partition; among several, its owner if included."""
    taken: dict[Spot, str] = {}
    for member, topic, number in placed(after):
        spot = topic, number
        if spot not in taken or owner.get(spot) == member:
            taken[spot] = member
    return taken


def fate_of(owner: str | None, holder: str | None, best: str | None) -> str:
    """Return the outcome of a partition, compared with its holder in the optimum."""
    if owner is None:
        return NEW
    if owner == holder:
        return KEPT
    return NEEDLESS if best == owner else NEEDED


def _after(held: Held, owner: Mapping[Spot, str], ideal: Mapping[Spot, str]) -> str:
    spot = held[1], held[2]
    return fate_of(owner.get(spot), held[0], ideal.get(spot))


def _plain_fate(owner: str | None, holder: str) -> str:
    if owner is None:
        return NEW
    return KEPT if owner == holder else NEEDED


def _by_member(
    found: Sequence[tuple[Held, str]],
) -> _Found:
    gathered: dict[str | None, list[tuple[Held, str]]] = defaultdict(list)
    for held, fate in found:
        gathered[held[0]].append((held, fate))
    return gathered


def _side(found: Sequence[tuple[Held, str]]) -> Side:
    grouped: dict[tuple[str, int], list[int]] = defaultdict(list)
    for (_, topic, number), fate in found:
        grouped[topic, FATES.index(fate)].append(number)
    pieces = [
        Piece(
            topic=topic,
            numbers=_cut(ranges(numbers)),
            count=len(numbers),
            fate=FATES[fate],
        )
        for (topic, fate), numbers in sorted(grouped.items())
    ]
    shown = tuple(pieces[:PIECES_SHOWN])
    more = len(found) - sum(piece.count for piece in shown)
    return Side(load=len(found), pieces=shown, more=more)


def _cut(numbers: str) -> str:
    if len(numbers) <= NUMBERS_SHOWN:
        return numbers
    return numbers[:NUMBERS_SHOWN].rsplit(",", 1)[0] + ", …"
