"""Types and columns that several tables of the audit share."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

UNDATED: Final = "undated"
"""``date`` of a row whose source has no time."""

TEXT, FLAG, COUNT = pa.string(), pa.bool_(), pa.int64()
GENERATION = pa.int32()
TIME = pa.timestamp("us", tz="UTC")
PARTITIONS: Final = pa.list_(
    pa.struct([("topic", TEXT), ("partitions", pa.list_(pa.int32()))])
)
"""Topics sorted by name, with ascending partition numbers."""
VIOLATIONS: Final = pa.list_(
    pa.struct(
        [
            ("rule", TEXT),
            ("member", TEXT),
            ("topic", TEXT),
            ("partition", pa.int64()),
        ]
    )
)


def column(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    """Return a column whose metadata states its meaning."""
    return pa.field(name, kind, metadata={"doc": doc})


CLUSTER = column("cluster", TEXT, "name given to the audit")
GROUP = column("group_id", TEXT, "the consumer group")
N_MEMBERS = column("members", COUNT, "members of the group")
KEY = (
    CLUSTER,
    column("date", TEXT, f"day of `at`, UTC, YYYY-MM-DD; {UNDATED} without a time"),
    column("rebalance_id", TEXT, "unique in a cluster; joins the tables"),
    GROUP,
    column("generation", GENERATION, "Kafka's number of the rebalance; null: unknown"),
)
SOURCE = (
    column("source", TEXT, "file of the row, as given to the audit"),
    column("source_partition", pa.int32(), "partition of __consumer_offsets, or null"),
    column("source_offset", COUNT, "offset in it, or line number from 1"),
)
ORIGIN = (
    column("client_assignor", TEXT, "assignor that the group selected; null: unknown"),
    column("cooperative", FLAG, "judged as a cooperative round (KIP-429)"),
)
LEAST_MOVES = (
    column("moves_least", COUNT, "of the optimum; null without a proof"),
    column("moves_least_kip54", COUNT, "of kip54-sticky; null without a proof"),
)
BALANCE = (
    column("kip54_score", COUNT, "sum over pairs of the difference in load"),
    column("kip54_score_least", COUNT, "of the optimum; null without a proof"),
    column(
        "kip54_balanced",
        FLAG,
        "no single transfer evens out two members; null: invalid",
    ),
    column("dec_min_balanced", FLAG, "no assignment has a better load vector"),
)
LAG_MISSING = column(
    "lag_missing",
    TEXT,
    "topics and partitions that the files of --lag lack, if they contain the group,"
    " and its lag is not known; null otherwise",
)
NEEDLESS_LAG = column(
    "needless_lag",
    COUNT,
    "of a valid, dec-min actual answer: least lag, in records, of as many of its moved"
    " partitions as its moves exceed moves_least; null without lag",
)
AT_OPTIMUM = (
    column(
        "at_optimum",
        FLAG,
        "valid, dec-min, moves_least; null: partitions withheld, or the episode open",
    ),
    column(
        "at_kip54_optimum",
        FLAG,
        "valid, KIP-54 balanced, moves_least_kip54; null as `at_optimum`",
    ),
)
CAUSES = column(
    "causes",
    pa.list_(
        pa.struct(
            [
                ("kind", TEXT),
                ("count", COUNT),
                ("members", pa.list_(TEXT)),
                ("topics", pa.list_(TEXT)),
            ]
        )
    ),
    "differences from the rebalance before, one entry per kind (docs/audit.md, Causes):"
    " started, returned, left-briefly, joined, left, resubscribed, partitions-added,"
    " topics-appeared, assignor-changed, replaced, leader-changed, round, restless,"
    " unknown; with the number of members or topics, 1 for the others, and the names of"
    " at most 10 of them",
)
