"""Rows of ``snapshots``: the state of a group at one moment, without a rebalance.

Balance depends on the subscriptions. Without them it is stated only where it follows
from the assignment alone:

- A topic of which a member has a partition belongs to its subscription. More eligible
  members allow more assignments, so an assignment that is not balanced under these
  lower bounds is not balanced under the subscriptions.
- No assignment of the same partitions is more balanced than one whose loads differ by
  at most one, whatever the subscriptions are.

In all other cases, balance cannot be determined. A violation under the lower bounds is
one under the subscriptions; that there is none cannot be known. Nor is a partition
without a holder a violation where the assignor can be cooperative: between two rounds
(KIP-429), the owner has revoked it and the next one has not received it.
"""

from __future__ import annotations

from typing import Any, Final

from pipeline.cases import NOT_REPORTED, Case
from pipeline.judging.case_rows import rebalance_row
from pipeline.judging.instances import Posed
from pipeline.judging.outcome import Outcome

Row = dict[str, Any]

UNKNOWN: Final = "unknown"
"""Verdict of an assignment that breaks no rule as far as the text states it."""

_NOTHING_KNOWN: Final[Row] = {
    "kip54_balanced": None,
    "dec_min_balanced": None,
    "evidence": None,
}

_SHARED: Final = (
    "cluster",
    "date",
    "group_id",
    "at",
    "source",
    "source_partition",
    "source_offset",
    "protocol",
    "client_assignor",
    "members",
    "topics",
    "partitions",
    "partition_counts",
    "subscriptions",
    "lag_known",
    "instance",
)
_JUDGED: Final = (
    "verdict",
    "violations",
    "loads",
    "load_min",
    "load_max",
    "kip54_score",
    "kip54_balanced",
    "dec_min_balanced",
    "evidence",
    "peak_lag",
    "assignment",
)


def snapshot_row(case: Case, posed: Posed, outcome: Outcome, cluster: str) -> Row:
    """Return the row of one snapshot, with what is known of its balance.

    ``outcome`` has the state as the only answer.
    """
    judged = outcome.actual
    assert judged is not None  # noqa: S101  # the caller has asked for it
    described = rebalance_row(case, posed, outcome, cluster)
    row = {name: described[name] for name in _SHARED}
    row |= {name: judged[name] for name in _JUDGED}
    row |= {"snapshot_id": case.rebalance_id, "state_of": case.state_of}
    if _may_be_between_rounds(case, row):
        return row | _NOTHING_KNOWN | {"verdict": UNKNOWN, "violations": []}
    if case.subscriptions == NOT_REPORTED:
        return row | _known_without_subscriptions(row)
    return row | {"peak_lag_bound": judged["peak_lag_bound"]}


def _may_be_between_rounds(case: Case, row: Row) -> bool:
    broken = {violation["rule"] for violation in row["violations"]}
    name = case.client_assignor
    return broken == {"unassigned"} and (name is None or "cooperative" in name)


def _known_without_subscriptions(row: Row) -> Row:
    """Return the columns of the verdict that the assignment alone determines."""
    if row["verdict"] != "valid":
        return _NOTHING_KNOWN
    known: Row = {"verdict": UNKNOWN}
    is_even = row["load_max"] is None or row["load_max"] - row["load_min"] <= 1
    for balance in ("kip54_balanced", "dec_min_balanced"):
        known[balance] = (True if is_even else None) if row[balance] else False
    return known
