"""Results by KIP-54's own balance, compared with the best KIP-54 balanced answer.

A StickyAssignor guarantees only KIP-54 balance. Its fair comparison is the stickiest
KIP-54 balanced assignment, in addition to the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from oracle.report.load import Tables
from oracle.report.units import assignor_units, client_units
from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM


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


def kip54_rows(tables: Tables) -> tuple[Kip54Row, ...]:
    """Count clients per group, then assignors by name; () if nothing was compared."""
    if not (tables.answers["assignor"] == KIP54).any():
        return ()
    return (*_clients(tables), *_assignors(tables.answers))


def _clients(tables: Tables) -> Iterator[Kip54Row]:
    units = client_units(tables)
    keys = [units["cluster"], units["group_id"], units["client_assignor"].fillna("")]
    for (cluster, group, assignor), rows in units.groupby(keys):
        place = (str(cluster), str(group))
        yield _row(rows, group=place, assignor=str(assignor) or None)


def _assignors(answers: pd.DataFrame) -> Iterator[Kip54Row]:
    units = assignor_units(answers)
    others = units[~units["assignor"].isin([ACTUAL, KIP54])]
    named = sorted(others.groupby("assignor"), key=lambda one: _order(str(one[0])))
    for name, rows in named:
        yield _row(rows, group=None, assignor=str(name))


def _order(name: str) -> tuple[bool, str]:
    return name != OPTIMUM, name


def _row(
    rows: pd.DataFrame, *, group: tuple[str, str] | None, assignor: str | None
) -> Kip54Row:
    settled = rows[rows["at_kip54_optimum"].notna() & (rows["outcome"] != "invalid")]
    balanced = settled[settled["kip54_balanced"].fillna(False)]
    needless = balanced["moves"] - balanced["moves_least_kip54"]
    return Kip54Row(
        group=group,
        assignor=assignor,
        judged=len(settled),
        unbalanced=len(settled) - len(balanced),
        at_best=int(settled["at_kip54_optimum"].sum()),
        needless_moves=int(needless.sum()),
    )
