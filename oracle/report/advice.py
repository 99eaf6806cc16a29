"""One line of advice per group, with its evidence.

A group whose last rebalance left it unbalanced can be balanced now. A group that falls
short of the optimum with an eager assignor is compared with Kafka's other assignors of
its protocol on the same rebalances. Cooperative groups are not: their assignor is
already sticky, and their generations are rounds.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from oracle.report.outcomes import OutcomeCounts
from oracle.summary import CLASSIC, CONSUMER, INVALID, equals, last_units
from oracle.wording import counted

Group = tuple[str, str]

ENOUGH_JUDGED: Final = 5
"""Judged rebalances from which an average is evidence."""
LEAST_SAVED: Final = 0.05
"""Partitions per rebalance; less is nothing, rounded."""
_SHOWN: Final = {"sticky": "(cooperative-)sticky"}
_OURS: Final = {"roundrobin": "round-robin", "cooperative-sticky": "sticky"}
"""Names of clients' assignors, and ours."""


class Advisor:
    """Advice for each group of an audit."""

    def __init__(self, units: pa.Table, gains: pa.Table, rebalances: pa.Table) -> None:
        self._last = {
            (row["cluster"], row["group_id"]): row for row in last_units(units)
        }
        self._gains = {
            (row["cluster"], row["group_id"], row["client_assignor"] or None): row
            for row in gains.to_pylist()
        }
        self._of_consumers = _assignors_of_consumers(rebalances)

    def advice(
        self,
        group: Group,
        assignor: str | None,
        counts: OutcomeCounts,
        *,
        cooperative: bool,
    ) -> str:
        """Return one line on a group, in the row of the assignor that it used last.

        It is empty for assignors that the group has used before, and if nothing is
        judged.
        """
        last = self._last.get(group)
        if last is None or (last["client_assignor"] or None) != assignor:
            return ""
        parts = _now(last)
        if not cooperative:
            names = CONSUMER if assignor in self._of_consumers else CLASSIC
            others = self._gains.get((*group, assignor), {})
            own = _OURS.get(assignor or "", assignor)
            parts += _switch(counts, [name for name in names if name != own], others)
        if not parts and counts.gain:
            parts = [
                f"{_rate(counts)} partitions per rebalance off the optimum: see explain"
            ]
        return "; ".join(parts) or ("nothing to gain" if counts.judged else "")


def _assignors_of_consumers(rebalances: pa.Table) -> set[str | None]:
    """Return the assignors of the new protocol (KIP-848), as clients name them."""
    flags = equals(rebalances["protocol"], "consumer")
    return set(rebalances["client_assignor"].filter(flags).unique().to_pylist())


def _rate(counts: OutcomeCounts) -> str:
    rate = counts.gain / counts.judged
    return f"{rate:,.1f}" if rate >= LEAST_SAVED else "under 0.1"


def _now(last: dict[str, Any]) -> list[str]:
    if last["outcome"] == INVALID:
        return ["its last assignment is invalid"]
    if not last["transfers"]:
        return []
    return [f"balance it now: at least {counted(last['transfers'], 'transfer')}"]


def _switch(
    counts: OutcomeCounts, names: list[str], others: dict[str, int]
) -> list[str]:
    """Return the advice to switch, if that saves something that can be seen.

    Only assignors that apply to every rebalance are considered.
    """
    rates = {
        name: others[f"gain {name}"] / others[f"judged {name}"]
        for name in names
        if others
        and others[f"judged {name}"] >= ENOUGH_JUDGED
        and not others[f"refused {name}"]
    }
    if counts.judged < ENOUGH_JUDGED or not rates:
        return []
    now, best = counts.gain / counts.judged, min(rates, key=rates.__getitem__)
    if now - rates[best] < LEAST_SAVED:
        return []
    rates_text = f"{now:,.1f} → {rates[best]:,.1f} partitions per rebalance"
    return [f"use {_SHOWN.get(best, best)}: {rates_text}"]
