"""Partitions that change their holder, counted per pair of members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from oracle.report.assignment_diff import (
    FATES,
    FORBIDDEN,
    KEPT,
    Held,
    Members,
    Spot,
    fate_of,
)
from verify import Case

COLUMNS_DRAWN: Final = 40
"""Members with a column of their own; the others share one."""

_Holders = tuple[str | None, str | None, str | None]
"""Owner of a partition, its holder, and its holder in the optimum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Partitions with one fate that go from one column to another.

    ``giver`` and ``taker`` are places in the columns of `Flows`.
    """

    giver: int
    taker: int
    count: int
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Loads per column after an assignment, and how they came about."""

    loads: tuple[int, ...]
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Changes from the owners to an assignment, and to the optimum.

    ``names`` are those of the columns: partitions without a holder (None) if there are
    any, then members by name. ``folded`` members share the last column, if any.
    """

    names: tuple[str | None, ...]
    folded: int
    before: tuple[int, ...]
    recorded: Change
    best: Change


def flows_of(
    case: Case, after: Members, best: Members, forbidden: AbstractSet[Held]
) -> Flows:
    """Count the transfers; members with the most changes have columns.

    A partition with several holders goes to its owner if that is one of them.
    Partitions are counted by owner, holder, and holder in the optimum, of which there
    are few, so that no loop visits each.
    """
    alike, wrong = _alike(case, after, best, forbidden)
    recorded: Counter[tuple[str | None, str | None, str]] = Counter()
    optimal: Counter[tuple[str | None, str | None, str]] = Counter()
    for (giver, taker, there), count in alike.items():
        fate = fate_of(giver, taker, there)
        recorded[giver, taker, fate] += count - wrong[giver, taker, there]
        recorded[giver, taker, FORBIDDEN] += wrong[giver, taker, there]
        if there is not None:
            optimal[giver, there, fate_of(giver, there, there)] += count
    holding = {member for member, held in after.items() if any(held.values())}
    return _columns(case.wants.keys() | holding, +recorded, optimal)


def _alike(
    case: Case, after: Members, best: Members, forbidden: AbstractSet[Held]
) -> tuple[Counter[_Holders], Counter[_Holders]]:
    """Count the partitions by their holders, and those that violate a rule."""
    taken, strays = _holders(case, after)
    ideal, _ = _holders(case, best)
    alike: Counter[_Holders] = Counter()
    for topic, holders in taken.items():
        alike.update(zip(case.owners[topic], holders, ideal[topic], strict=True))
    alike.update((None, member, None) for member in strays.values())
    wrong: Counter[_Holders] = Counter()
    for topic, number in {(topic, number) for _, topic, number in forbidden}:
        if topic in taken and number < len(taken[topic]):
            owner = case.owners[topic][number]
            wrong[owner, taken[topic][number], ideal[topic][number]] += 1
        elif (topic, number) in strays:
            wrong[None, strays[topic, number], None] += 1
    return alike, wrong


def _holders(
    case: Case, members: Members
) -> tuple[Mapping[str, Sequence[str | None]], Mapping[Spot, str]]:
    """Return the holders of the partitions of each topic with subscribers, and strays.

    Of several holders of a partition, that is its owner, or the first that is listed.
    Strays are partitions that do not exist, or of no subscriber.
    """
    taken: dict[str, list[str | None]] = {
        topic: [None] * len(owners)
        for topic, owners in case.owners.items()
        if case.subscribers[topic]
    }
    strays: dict[Spot, str] = {}
    for member, held in members.items():
        for topic, numbers in held.items():
            holders, owners = taken.get(topic, []), case.owners.get(topic, ())
            for number in numbers:
                if number >= len(holders):
                    strays.setdefault((topic, number), member)
                elif holders[number] is None or owners[number] == member:
                    holders[number] = member
    return taken, strays


def _columns(
    names: AbstractSet[str],
    recorded: Counter[tuple[str | None, str | None, str]],
    optimal: Counter[tuple[str | None, str | None, str]],
) -> Flows:
    busy: Counter[str | None] = Counter()
    for (giver, taker, fate), count in (*recorded.items(), *optimal.items()):
        if fate != KEPT:
            busy[giver] += count
            busy[taker] += count
    ranked = sorted(names, key=lambda name: (-busy[name], name))
    shown: list[str | None] = [*sorted(ranked[:COLUMNS_DRAWN])]
    if any(None in pair[:2] for pair in (*recorded, *optimal)):
        shown.insert(0, None)
    place: dict[str | None, int] = {name: at for at, name in enumerate(shown)}
    folded = len(names) - min(len(ranked), COLUMNS_DRAWN)
    width = len(shown) + bool(folded)
    before = [0] * width
    for (giver, _, _), count in recorded.items():
        before[place.get(giver, width - 1)] += count
    return Flows(
        names=tuple(shown),
        folded=folded,
        before=tuple(before),
        recorded=_change(recorded, place, width),
        best=_change(optimal, place, width),
    )


def _change(
    counts: Mapping[tuple[str | None, str | None, str], int],
    place: Mapping[str | None, int],
    width: int,
) -> Change:
    loads = [0] * width
    flows: Counter[tuple[int, int, str]] = Counter()
    for (giver, taker, fate), count in counts.items():
        at, to = place.get(giver, width - 1), place.get(taker, width - 1)
        loads[to] += count
        flows[at, to, fate] += count
    return Change(
        loads=tuple(loads),
        flows=tuple(
            Flow(giver=at, taker=to, fate=fate, count=count)
            for (at, to, fate), count in sorted(flows.items(), key=_order)
        ),
    )


def _order(item: tuple[tuple[int, int, str], int]) -> tuple[int, int, int]:
    (giver, taker, fate), _ = item
    return FATES.index(fate), giver, taker
