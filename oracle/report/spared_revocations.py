"""Revocations that other protocols would have avoided, by replaying eager rebalances.

In an eager group, each member that stays revokes all of its partitions in each
rebalance. Under cooperative rebalancing (KIP-429) and in the new protocol (KIP-848), it
keeps those that no other member is given: the replay lets each rebalance of the history
assign as the proved optimum does, balanced with the fewest moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.cause_columns import groups_of_rows, kinds_of_rows
from oracle.report.row_keys import keys_of
from rebalance import Bools, Int64

OF_REBALANCE: Final = (
    *("cluster", "group_id", "rebalance_id", "source_partition", "source_offset"),
    *("protocol", "client_assignor", "cooperative", "owned", "joined", "left"),
    "causes",
)
"""Columns of ``rebalances`` that are replayed."""
OF_ANSWER: Final = ("cluster", "rebalance_id", "moves_least")
"""Columns of ``answers``, of the assignor ``actual``."""
COOPERATIVE_PRICE: Final = (
    "clients that have it, rebalances and owners as they were, balanced assignments"
    " with the fewest moves, and a further rebalance where a partition moves (real"
    " consumers needed 1 more in one of three groups)"
)
NEXT_PRICE: Final = (
    "the same, of rebalances in which at most one member joined or left (real consumers"
    " revoked 13 of 18 partitions in addition while a group started)"
)
EAGER: Final = ("range", "roundrobin", "sticky", "cooperative-sticky")
"""Assignors of which it is known whether a rebalance was eager."""
_NOT_COMPARED: Final = ("started", "unknown")


class Revocations(NamedTuple):
    """Revocations of partitions from members that stay.

    ``made`` are those of eager rebalances, ``needed`` those of as many moves as the
    optimum has, and ``rounds`` the rebalances in which it moves a partition.
    """

    made: int
    needed: int
    rounds: int

    @property
    def avoided(self) -> int:
        """The revocations that were not needed."""
        return self.made - self.needed


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRevocations:
    """Revocations in the eager rebalances of one group; none if it is not eager now.

    Attributes
    ----------
    cooperative : Revocations
        In all eager rebalances of which the one before and the optimum are known.
    next : Revocations
        In those of them in which at most one member joined or left: the new protocol
        does not wait for others, so that several changes are several assignments.
    """

    cluster: str
    group: str
    cooperative: Revocations
    next: Revocations

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence, if cooperative rebalancing would have avoided a revocation."""
        every, single = self.cooperative, self.next
        if every.avoided <= 0:
            return ()
        avoided = f"{every.avoided:,} of {every.made:,} revocations of partitions"
        further = _further(every.rounds)
        if single == every:
            who = "Cooperative rebalancing or KIP-848 would have avoided"
            return (f"{who} {avoided}, the former {further}.",)
        found = f"Cooperative rebalancing would have avoided {avoided}, {further}"
        if single.avoided > 0:
            part = f"{single.avoided:,} of {single.made:,}"
            found += f"; KIP-848 {part} where at most one member changed"
        return (f"{found}.",)


def group_revocations(
    rebalances: pa.Table, actual: pa.Table
) -> tuple[GroupRevocations, ...]:
    """Count revocations per group, by cluster and name.

    Parameters
    ----------
    rebalances
        Columns `OF_REBALANCE`.
    actual
        Columns `OF_ANSWER`, of these rebalances or more.
    """
    if not len(rebalances):
        return ()
    keys, group = groups_of_rows(rebalances)
    is_eager = _are_eager(rebalances)
    is_counted = is_eager & is_eager[_last_of_each(rebalances, group)][group]
    kinds = kinds_of_rows(rebalances["causes"])
    is_counted &= ~np.logical_or.reduce([kinds[kind] for kind in _NOT_COMPARED])
    needed = _least_moves(rebalances, actual)
    owned = np.asarray(pc.fill_null(rebalances["owned"], -1))
    is_counted &= (needed >= 0) & (owned >= 0)
    changed = pc.add(rebalances["joined"], rebalances["left"])
    is_single = is_counted & np.asarray(pc.fill_null(pc.less_equal(changed, 1), False))
    cooperative, single = (
        _counted(group[rows], owned[rows], needed[rows], len(keys))
        for rows in (is_counted, is_single)
    )
    found = [
        GroupRevocations(
            cluster=cluster,
            group=name,
            cooperative=cooperative[place],
            next=single[place],
        )
        for place, (cluster, name) in enumerate(keys)
    ]
    return tuple(sorted(found, key=lambda row: (row.cluster, row.group)))


def _are_eager(rebalances: pa.Table) -> Bools:
    """Return the rebalances of classic groups in which all partitions stopped."""
    is_known = pc.is_in(pc.cast(rebalances["client_assignor"], pa.string()), _NAMES)
    is_classic = pc.fill_null(pc.equal(rebalances["protocol"], "classic"), False)
    is_eager = pc.and_not(is_classic, rebalances["cooperative"])
    found: Bools = np.asarray(pc.and_(is_eager, is_known))
    return found


def _last_of_each(rebalances: pa.Table, group: Int64) -> Int64:
    """Return the place of the last rebalance of each group, by its record."""
    places = [
        np.asarray(pc.fill_null(rebalances[name], -1))
        for name in ("source_offset", "source_partition")
    ]
    order = np.lexsort((*places, group))
    last = np.append(np.diff(group[order]) != 0, True)
    found: Int64 = order[last]
    return found


def _least_moves(rebalances: pa.Table, actual: pa.Table) -> Int64:
    """Return the moves of the optimum of each rebalance; -1: not known."""
    asked, given = (
        keys_of(table["cluster"], table["rebalance_id"])
        for table in (rebalances, actual)
    )
    least = actual["moves_least"].take(pc.index_in(asked, given))
    return np.asarray(pc.fill_null(least, -1))


def _counted(
    group: Int64, owned: Int64, needed: Int64, groups: int
) -> list[Revocations]:
    """Return the sums of each group."""
    sums = np.zeros((3, groups), np.int64)
    for total, values in zip(sums, (owned, needed, needed > 0), strict=True):
        np.add.at(total, group, values)
    return [Revocations(*of_group) for of_group in sums.T.tolist()]


def _further(rounds: int) -> str:
    if not rounds:
        return "without a further rebalance"
    return f"with {rounds:,} further rebalance{'' if rounds == 1 else 's'}"


_NAMES: Final = pa.array(EAGER)
