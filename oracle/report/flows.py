"""Partitions that change their holder, counted per pair of members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from oracle.report.assignment_diff import (
    FATES,
    FORBIDDEN,
    KEPT,
    Held,
    Members,
    fate_of,
    holders_of,
    owners_of,
    placed,
    spots_of,
)
from rebalance import Instance

COLUMNS_DRAWN: Final = 40
"""Members with a column of their own; the others share one."""


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
    instance: Instance, after: Members, best: Members, forbidden: AbstractSet[Held]
) -> Flows:
    """Count the transfers; members with the most changes have columns.

    A partition with several holders goes to its owner if that is one of them.
    """
    owner = owners_of(instance)
    taken, ideal = holders_of(after, owner), holders_of(best, owner)
    wrong = {(topic, number) for _, topic, number in forbidden}
    recorded: Counter[tuple[str | None, str | None, str]] = Counter()
    optimal: Counter[tuple[str | None, str | None, str]] = Counter()
    # Partitions that do not exist, or of no subscriber, are drawn too.
    for spot in {*spots_of(instance), *taken}:
        giver, taker = owner.get(spot), taken.get(spot)
        fate = FORBIDDEN if spot in wrong else fate_of(giver, taker, ideal, spot)
        recorded[giver, taker, fate] += 1
        if spot in ideal:
            there = ideal[spot]
            optimal[giver, there, fate_of(giver, there, ideal, spot)] += 1
    names = {*instance.members, *(member for member, _, _ in placed(after))}
    return _columns(names, recorded, optimal)


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
