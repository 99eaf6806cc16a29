"""Schema of the table of snapshots: states of groups that describe text shows."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pipeline.tables.shared_columns import (
    BALANCE,
    COUNT,
    FLAG,
    GENERATION,
    GROUP,
    KEY,
    LAG_MISSING,
    N_MEMBERS,
    ORIGIN,
    SOURCE,
    TEXT,
    TIME,
    VIOLATIONS,
    column,
)

_BALANCE_IF_KNOWN = "; null: cannot be determined"
SNAPSHOTS: Final = pa.schema(
    [
        *KEY[:2],
        column("snapshot_id", TEXT, "unique in a cluster; joins `members`"),
        GROUP,
        column("generation", GENERATION, "of the leader's log; null: not in the text"),
        column("at", TIME, "null: the text has no time"),
        *SOURCE,
        column("protocol", TEXT, "classic or consumer; null: unknown"),
        ORIGIN[0],
        N_MEMBERS,
        column("topics", COUNT, "topics in use by the group"),
        column("partitions", COUNT, "partitions of those topics"),
        column(
            "partition_counts",
            TEXT,
            "given, or lower-bound: the largest partition number of the group",
        ),
        column(
            "subscriptions",
            TEXT,
            "reported: by the rebalance `state_of`, or by the log of the leader;"
            " given: of subscriptions.json; not-reported: the text has none",
        ),
        column(
            "members_listed",
            TEXT,
            "all; with-partitions: the text lists no others; owners: a client id and a"
            " host, which several members can share",
        ),
        column(
            "at_rest",
            TEXT,
            "evidence that the group was at rest: state, texts, records, or"
            " leader-log, the log of the leader, which has assigned; null:"
            " nothing, and the state is not judged",
        ),
        column(
            "doubt",
            TEXT,
            "how the text contradicts itself, or the records; null: it does not",
        ),
        column(
            "state_of",
            TEXT,
            "rebalance_id of the generation in the records after which the group was in"
            " this state; it is counted there and not as a snapshot; null: none",
        ),
        column(
            "verdict",
            TEXT,
            "valid, invalid, or unknown: no rule is broken as far as the text states",
        ),
        column("violations", VIOLATIONS, "broken rules, each with the offending item"),
        column("loads", pa.list_(pa.int64()), "load vector, largest first"),
        column("load_min", COUNT, "least load; null without members"),
        column("load_max", COUNT, "largest load; null without members"),
        BALANCE[0],
        column("kip54_balanced", FLAG, f"as in answers{_BALANCE_IF_KNOWN}"),
        column("dec_min_balanced", FLAG, f"as in answers{_BALANCE_IF_KNOWN}"),
        column(
            "undetermined",
            TEXT,
            "why the balance, or the verdict, cannot be determined; null: it is",
        ),
        column(
            "balanced_if_equal",
            FLAG,
            "if it cannot be determined: whether it is dec-min balanced if the group"
            " was at rest and all members subscribe to the same topics; null: unknown",
        ),
        column("evidence", TEXT, "transfer or chain that refutes a balance, JSON"),
        column("lag_known", FLAG, "whether the text states the lag of all partitions"),
        LAG_MISSING,
        column("peak_lag", COUNT, "largest lag of a member at that moment, records"),
        column(
            "peak_lag_bound",
            COUNT,
            "no complete assignment has less; null without lag or subscriptions",
        ),
        column(
            "instance",
            TEXT,
            "rebalance/1; subscriptions that are not reported are the topics held",
        ),
        column("assignment", TEXT, "assignment/1, the state"),
    ]
)
