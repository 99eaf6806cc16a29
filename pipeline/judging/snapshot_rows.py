"""Rows of ``snapshots``: the state of a group at one moment, without a rebalance.

A state is judged if the group was at rest at that moment: a --state table says so, or a
second text or a rebalance in the records agrees. In between, partitions without a
reader are not faults of the assignment.

Balance depends on the subscriptions. Without them, only facts that follow from the
assignment alone are stated:

- A topic of which a member has a partition belongs to its subscription. More eligible
  members allow more assignments, so an assignment that is not balanced under these
  lower bounds is not balanced under the subscriptions. Nor do members help that the
  text does not list, because they have no partitions.
- That it is balanced does not follow. If all members are listed, it is stated whether
  it is if all subscribe to the same topics: then loads differ by at most one.

A violation under the lower bounds is one under the subscriptions; that there is none
cannot be known. Nor is a partition without a holder a violation where the assignor can
be cooperative: between two rounds (KIP-429), the owner has revoked it and the next one
has not received it.
"""

from __future__ import annotations

from typing import Any, Final

from pipeline.cases import ALL_LISTED, GIVEN, NOT_REPORTED, OWNERS_LISTED

Row = dict[str, Any]

UNKNOWN: Final = "unknown"
"""Verdict of an assignment that breaks no rule as far as the text states it."""

NOT_AT_REST: Final = (
    "nothing shows that the group was at rest: no --state table, second text, or "
    "record agrees"
)
BETWEEN_ROUNDS: Final = (
    "a partition without a reader can be between two rounds of a cooperative rebalance"
)
OWNERS: Final = "members with the same client id and host are not told apart"
UNLISTED: Final = "members without partitions are not listed"
NO_SUBSCRIPTIONS: Final = "the text contains no subscriptions"

_NOTHING_KNOWN: Final[Row] = {
    "kip54_balanced": None,
    "dec_min_balanced": None,
    "evidence": None,
}
_UNJUDGED: Final[Row] = _NOTHING_KNOWN | {"verdict": UNKNOWN, "violations": []}

_SHARED: Final = (
    "cluster",
    "date",
    "group_id",
    "generation",
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
    "lag_missing",
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


def snapshot_row(case: Row, rebalance: Row, judged: Row) -> Row:
    """Return the row of one snapshot, with the facts of its balance.

    Parameters
    ----------
    case, rebalance
        Its rows of the table of cases, and of ``rebalances``.
    judged
        Columns of ``answers`` of the state.
    """
    row = {name: rebalance[name] for name in _SHARED}
    row |= {name: judged[name] for name in _JUDGED}
    row |= {"snapshot_id": rebalance["rebalance_id"], "state_of": case["state_of"]}
    row |= {name: case[name] for name in ("members_listed", "at_rest", "doubt")}
    row |= {"balanced_if_equal": None, "undetermined": None}
    subscriptions, listed = row["subscriptions"], row["members_listed"]
    is_partial = subscriptions == NOT_REPORTED or (
        subscriptions == GIVEN and listed != ALL_LISTED
    )
    if subscriptions == NOT_REPORTED:
        row["balanced_if_equal"] = _is_even(row)
    if (reason := _why_unjudged(row)) is not None:
        return row | _UNJUDGED | {"undetermined": reason}
    if is_partial:
        return row | _known_without_subscriptions(row)
    return row | {"peak_lag_bound": judged["peak_lag_bound"]}


def _why_unjudged(row: Row) -> str | None:
    """Return why nothing is stated about a state."""
    if row["doubt"] is not None:
        return str(row["doubt"])
    if row["at_rest"] is None:
        return NOT_AT_REST
    if row["members_listed"] == OWNERS_LISTED:
        return OWNERS
    broken = {violation["rule"] for violation in row["violations"]}
    name = row["client_assignor"]
    if broken == {"unassigned"} and (name is None or "cooperative" in name):
        return BETWEEN_ROUNDS
    return None


def _is_even(row: Row) -> bool | None:
    """Whether it is balanced if all subscribe to the same topics; None: unknown."""
    if row["members_listed"] == OWNERS_LISTED or row["verdict"] != "valid":
        return None
    if not row["dec_min_balanced"]:
        return False
    if row["members_listed"] != ALL_LISTED:
        return None
    return row["load_max"] is None or row["load_max"] - row["load_min"] <= 1


def _known_without_subscriptions(row: Row) -> Row:
    """Return the columns of the verdict that the assignment alone determines."""
    if row["verdict"] != "valid":
        return _NOTHING_KNOWN | {"balanced_if_equal": None}
    known: Row = {"verdict": UNKNOWN}
    for balance in ("kip54_balanced", "dec_min_balanced"):
        known[balance] = None if row[balance] else False
    if known["dec_min_balanced"] is None:
        is_listed = row["members_listed"] == ALL_LISTED
        known["undetermined"] = NO_SUBSCRIPTIONS if is_listed else UNLISTED
    else:
        known["balanced_if_equal"] = None
    return known
