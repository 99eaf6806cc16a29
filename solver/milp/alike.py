"""Members that are alike: exchange them, and what they own, and nothing has changed.

Alike are members with equal subscriptions, capacities and racks (if looked at) that own
the same numbers of partitions of every sort. Of all assignments that differ only by
such exchanges the program keeps those in which alike members have descending loads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from rebalance import Instance
from solver.milp.kinds import UNTOLD, Kind, Kinds
from solver.milp.objectives import Members

Sort = tuple[int, int, int, tuple[int, ...]]
Counts = dict[tuple[int, int], int]
"""(Kind, member) to partitions of the kind that the member takes; zeros left out."""


def sort_of(kind: Kind) -> Sort:
    """Return all that a kind is beside its owner."""
    near = (UNTOLD,) if kind.near is None else tuple(sorted(kind.near))
    return kind.group, kind.topic, kind.lag, near


def alike_members(
    instance: Instance, kinds: Kinds, members: Members, *, racks: bool
) -> list[tuple[int, ...]]:
    """Return the sets of two or more members that are alike, ascending in each."""
    owned: list[Counter[Sort]] = [Counter() for _ in range(kinds.members)]
    for kind in kinds.kinds:
        if kind.owner != UNTOLD:
            owned[kind.owner][sort_of(kind)] += kind.count
    found: dict[object, list[int]] = defaultdict(list)
    for c in members.play:
        sign = (
            int(instance.member_class[c]),
            members.capacity[c],
            members.rack[c] if racks else UNTOLD,
            tuple(sorted(owned[c].items())),
        )
        found[sign].append(c)
    return [tuple(listed) for listed in found.values() if len(listed) > 1]


def in_order(kinds: Kinds, alike: Sequence[tuple[int, ...]], counts: Counts) -> Counts:
    """Exchange alike members, and the kinds they own, until their loads descend."""
    load = [0] * kinds.members
    for (_, c), count in counts.items():
        load[c] += count
    place = list(range(kinds.members))
    for members in alike:
        ranked = sorted(members, key=lambda c: (-load[c], c))
        for seat, c in zip(members, ranked, strict=True):
            place[c] = seat
    at = {(sort_of(kind), kind.owner): k for k, kind in enumerate(kinds.kinds)}
    moved: Counts = {}
    for (k, c), count in counts.items():
        kind = kinds.kinds[k]
        owner = kind.owner if kind.owner == UNTOLD else place[kind.owner]
        moved[at[sort_of(kind), owner], place[c]] = count
    return moved
