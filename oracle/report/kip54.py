"""Results by KIP-54's own balance, compared with the best KIP-54 balanced answer.

A StickyAssignor guarantees only KIP-54 balance. Its fair comparison is the stickiest
KIP-54 balanced assignment, in addition to the optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from oracle.report.load import Tables
from oracle.summary import AssignorCounts, kip54_counts
from pipeline.evaluation import ACTUAL, KIP54

GROUPS_COMPARED: Final = 8
"""Groups in the table, most needless moves first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kip54Row:
    """One assignor, or one group's clients.

    Attributes
    ----------
    group : (cluster, group) or None
        Of clients; None for an assignor on all rebalances.
    judged : int
        Rebalances with a valid answer and a proved KIP-54 optimum.
    unbalanced : int
        Of those, answers that are not KIP-54 balanced.
    at_best : int
        Of those, balanced and with the fewest moves.
    needless_moves : int
        Moves beyond the fewest, summed over the balanced ones.
    """

    group: tuple[str, str] | None
    assignor: str | None
    judged: int
    unbalanced: int
    at_best: int
    needless_moves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kip54:
    """Clients with most needless moves, and assignors; ``others`` are left out."""

    rows: tuple[Kip54Row, ...]
    others: int


def kip54_of(tables: Tables, units: pa.Table, order: Sequence[str]) -> Kip54:
    """Compare clients per group, then assignors in the given order.

    Without a KIP-54 optimum in the tables there is no row.
    """
    clients = sorted(_clients(units), key=_most_to_gain)
    assignors = _assignors(tables.answers, order)
    if not any(row.judged for row in (*clients, *assignors)):
        return Kip54(rows=(), others=0)
    shown = clients[:GROUPS_COMPARED]
    return Kip54(rows=(*shown, *assignors), others=len(clients) - len(shown))


def _clients(units: pa.Table) -> Iterator[Kip54Row]:
    for row in kip54_counts(units).to_pylist():
        place = (row["cluster"], row["group_id"])
        yield _row(row, group=place, assignor=row["client_assignor"])


def _most_to_gain(row: Kip54Row) -> tuple[int, int, int, tuple[str, str], str]:
    names = (row.group or ("", ""), row.assignor or "")
    return -row.needless_moves, -row.unbalanced, -row.judged, *names


def _assignors(answers: AssignorCounts, order: Sequence[str]) -> list[Kip54Row]:
    sums: dict[str, Counter[str]] = {}
    for row in answers.answers.to_pylist():
        of_one = sums.setdefault(row["assignor"], Counter())
        rebalances = row["rebalances"]
        for flag in ("kip54_judged", "kip54_balanced", "kip54_best"):
            of_one[flag] += rebalances * row[flag]
        of_one["kip54_needless_moves"] += row["kip54_needless_moves"]
    named = [name for name in order if name in sums and name not in (ACTUAL, KIP54)]
    return [_row(sums[name], group=None, assignor=name) for name in named]


def _row(
    counts: Mapping[str, int], *, group: tuple[str, str] | None, assignor: str | None
) -> Kip54Row:
    judged = counts["kip54_judged"]
    return Kip54Row(
        group=group,
        assignor=assignor,
        judged=judged,
        unbalanced=judged - counts["kip54_balanced"],
        at_best=counts["kip54_best"],
        needless_moves=counts["kip54_needless_moves"],
    )
