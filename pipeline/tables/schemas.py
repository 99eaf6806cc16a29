"""Schemas of the audit's tables: columns, types, and meanings.

Each table is a folder of Parquet files, ``NAME/cluster=…/date=…/part-00000.parquet``,
with rows sorted by `ORDER`. No column of `SCHEMAS` depends on the clock or on the
division of the work: the same source yields the same rows in the same order. The
metadata of a field (``field.metadata[b"doc"]``) states its meaning; units are there or
in the name.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pipeline.tables.harm_columns import HARM, LASTED
from pipeline.tables.run_metrics import RUN, RUN_TABLE
from pipeline.tables.shared_columns import (
    AT_OPTIMUM,
    BALANCE,
    CAUSES,
    CLUSTER,
    COUNT,
    FLAG,
    GENERATION,
    GROUP,
    KEY,
    LAG_MISSING,
    LEAST_MOVES,
    N_MEMBERS,
    NEEDLESS_LAG,
    ORIGIN,
    PARTITIONS,
    SOURCE,
    TEXT,
    TIME,
    UNDATED,
    VIOLATIONS,
    column,
)
from pipeline.tables.snapshot_schema import SNAPSHOTS

PARTITION_COLUMNS: Final = ("cluster", "date")
LAYOUT: Final = "tables/9"
"""Version of these schemas, written into ``audit.json``."""

REBALANCES: Final = pa.schema(
    [
        *KEY,
        column("at", TIME, "time of the record; null if the source has none"),
        *LASTED,
        column("source_kind", TEXT, "consumer-offsets or rebalance"),
        *SOURCE,
        column("protocol", TEXT, "classic or consumer; null: unknown"),
        *ORIGIN,
        column("leader", TEXT, "member that computed the assignment; null: unknown"),
        column("episode_id", TEXT, "episode of the round; null if it has none"),
        column("round", pa.int32(), "position in its episode, from 1"),
        N_MEMBERS,
        column("topics", COUNT, "existing topics with at least one subscriber"),
        column("partitions", COUNT, "partitions of those topics"),
        column("owned", COUNT, "partitions with an owner before, by the claim rule"),
        column("joined", COUNT, "members absent from the generation before"),
        column("left", COUNT, "members of the generation before that left"),
        column(
            "resubscribed", COUNT, "members that stayed and changed their subscription"
        ),
        column(
            "partition_counts",
            TEXT,
            "as of then. given: the document's, or of topics.json; recorded by the"
            " group (Kafka 4.0, new protocol); lower-bound: partitions that records"
            " showed until then, so a topic can have had more",
        ),
        column(
            "newer_partitions",
            COUNT,
            "partitions not in the instance: shown for the first time at most 5 minutes"
            " before (metadata.max.age.ms), and not assigned; the leader need not have"
            " known them",
        ),
        column(
            "owned_from",
            TEXT,
            "previous-assignment: of the generation before; claims: as reported by"
            " members; given: the rebalance/1 document",
        ),
        column("subscriptions", TEXT, "reported: by the record or the document"),
        column("lag_known", FLAG, "whether the instance carries lag"),
        column(
            "lag_basis",
            TEXT,
            "end-of-recording: records from the offset committed then up to the log end"
            " when the recording ended; monitored: as a monitoring system reported it"
            " (--lag); given: the document's; null without lag",
        ),
        LAG_MISSING,
        column(
            "claims_disagree",
            COUNT,
            "members whose own claim differs; null: no claims",
        ),
        column(
            "behind",
            COUNT,
            "new protocol: members that had not reached this target assignment when the"
            " next one was computed, or the source ended; null: classic",
        ),
        column(
            "reached_ms",
            COUNT,
            "new protocol: time until every member had reached it, ms; null: never, or"
            " not known",
        ),
        column(
            "reached_unknown",
            TEXT,
            "why `reached_ms` is not known, although all had: no-time; clock-went-back",
        ),
        CAUSES,
        column("instance", TEXT, "rebalance/1, canonical JSON"),
    ]
)

ANSWERS: Final = pa.schema(
    [
        *KEY,
        column("source", TEXT, "file of the rebalance"),
        *ORIGIN,
        column("assignor", TEXT, "actual, a heuristic's name, optimum or kip54-sticky"),
        column("applies", FLAG, "false: the heuristic rejects it, the rest is null"),
        column("refused", TEXT, "why it rejects the instance"),
        column("verdict", TEXT, "valid, invalid or unreadable"),
        column(
            "judged_by",
            TEXT,
            "judge: computed or checked by it; or columns: by the compiled code",
        ),
        column(
            "violations", VIOLATIONS, "violated rules, each with the offending item"
        ),
        N_MEMBERS,
        column("partitions", COUNT, "partitions with at least one subscriber"),
        column("loads", pa.list_(pa.int64()), "load vector, largest first"),
        column("load_min", COUNT, "least load; null without members"),
        column("load_max", COUNT, "largest load; null without members"),
        *BALANCE,
        column("evidence", TEXT, "transfer or chain that refutes a balance, JSON"),
        column("owned_from", TEXT, "as in rebalances"),
        column("owned", COUNT, "partitions with an owner before"),
        column("kept", COUNT, "of those, kept by their owner"),
        column("moves", COUNT, "of those, not kept; includes withheld"),
        column("withheld", COUNT, "assigned to no member until the owner has revoked"),
        *LEAST_MOVES,
        NEEDLESS_LAG,
        column("lag_known", FLAG, "false: peak_lag and its bound are null"),
        column("peak_lag", COUNT, "largest lag of a member, records"),
        column("peak_lag_bound", COUNT, "no complete assignment has less"),
        column("lag_spread", COUNT, "largest minus smallest, of members in play"),
        column(
            "rack_mismatches",
            COUNT,
            "partitions without a replica on the member's rack; null: the instance has"
            " no racks of partitions",
        ),
        *AT_OPTIMUM,
        *HARM,
        column("status", TEXT, "of optimum, kip54-sticky: optimal only under proof"),
        column("proved_dec_min", FLAG, "the judge accepted the certificate of balance"),
        column(
            "proved_stickiness",
            FLAG,
            "the judge accepted the certificate of stickiness",
        ),
        column("proved_peak_lag", FLAG, "the judge accepted the bound on peak lag"),
        column("assignment", TEXT, "assignment/1, canonical JSON"),
    ]
)

# Verdict, balance, and at_optimum are of the stable state after; null in open episodes.
EPISODES: Final = pa.schema(
    [
        CLUSTER,
        column("date", TEXT, "day of `started_at`, UTC"),
        column("episode_id", TEXT, "rebalance_id of its first round"),
        GROUP,
        column("source", TEXT, "file that the first round comes from"),
        *ORIGIN,
        column("first_generation", GENERATION, "first round"),
        column("last_generation", GENERATION, "last round before the stable state"),
        column("last_rebalance_id", TEXT, "of the last round"),
        column("started_at", TIME, "of the first round's record"),
        column("ended_at", TIME, "of the last round's record"),
        column("rounds", pa.int32(), "generations to the next stable state"),
        column(
            "ended",
            TEXT,
            "rest: stable, or open: the group became empty or the source ended",
        ),
        column("members", COUNT, "members after the last round"),
        column("partitions", COUNT, "partitions subscribed to after the last round"),
        column("owned_from", TEXT, "as in rebalances, of the first round"),
        column(
            "owned", COUNT, "owned in the stable state before, by remaining members"
        ),
        column("moves", COUNT, "of those, with another member or none"),
        *LEAST_MOVES,
        NEEDLESS_LAG,
        column("verdict", TEXT, "of the stable state after, by the judge"),
        *BALANCE,
        *AT_OPTIMUM,
        column("withheld", COUNT, "partitions withheld, summed over the rounds"),
        column(
            "unowned_partition_ms",
            COUNT,
            "partitions that a round left unassigned, times ms until the next round,"
            " summed: partition-milliseconds without an owner; new protocol: from the"
            " record of the release to that of the next owner",
        ),
        column(
            "unowned_unknown",
            TEXT,
            "why `unowned_partition_ms` is not known: no-time; clock-went-back: a"
            " record has an earlier time than one of the group before it",
        ),
        column(
            "instance", TEXT, "rebalance/1: the stable state before, the last members"
        ),
        column("assignment", TEXT, "assignment/1: the stable state after"),
    ]
)

MEMBERS: Final = pa.schema(
    [
        *KEY[:2],
        column("rebalance_id", TEXT, "of the rebalance, or id of the snapshot"),
        *KEY[3:],
        column("member_id", TEXT, "assigned by the coordinator"),
        column("instance_id", TEXT, "group.instance.id of a static member, or null"),
        column("client_id", TEXT, "null if the source has none"),
        column("client_host", TEXT, "null if the source has none"),
        column("rack", TEXT, "client.rack, or null"),
        column("subscription", pa.list_(TEXT), "topics, sorted; null: not reported"),
        column("joined", FLAG, "absent from the generation before; null: unknown"),
        column(
            "claimed",
            PARTITIONS,
            "partitions that it claimed, or had (new protocol); null: no claim",
        ),
        column("claimed_generation", GENERATION, "of that claim; -1 or null unknown"),
        column(
            "owned",
            PARTITIONS,
            "partitions that it owned before, by `owned_from`; null in a snapshot",
        ),
        column(
            "assigned",
            PARTITIONS,
            "partitions that the real client, or the coordinator, assigned; null:"
            " unknown",
        ),
        column(
            "last_commit_at",
            TIME,
            "classic: last commit of one of `assigned` until `until` of the rebalance;"
            " null: none, or the state is open",
        ),
        column("load", COUNT, "partitions in `assigned`"),
        column("lag", COUNT, "lag of those, records; null without lag"),
    ]
)

QUARANTINE: Final = pa.schema(
    [
        CLUSTER,
        column("date", TEXT, f"day of the record, UTC, or {UNDATED}"),
        column(
            "kind",
            TEXT,
            "unreadable: damaged input; set-aside: valid, not judged yet;"
            " missing: epochs or generations that the source lacks;"
            " failed: a rebalance that could not be judged",
        ),
        column("reason", TEXT, "the reason, in words"),
        column("group_id", TEXT, "null if it could not be read"),
        column("record", TEXT, "kind of record, such as ShareGroupMetadata; null"),
        column(
            "records", COUNT, "records that this row represents; the first is shown"
        ),
        column("at", TIME, "time of the record, or null"),
        *SOURCE,
        column("key", pa.binary(), "raw, of a record; at most 65,536 bytes"),
        column(
            "value",
            pa.binary(),
            "raw, of a record or a line, at most 65,536 bytes; of missing epochs or"
            " generations, their numbers",
        ),
        column("raw_bytes", COUNT, "length of key and value before truncation"),
        column("instance", TEXT, "rebalance/1 that failed, or null"),
    ]
)

SCHEMAS: Final[dict[str, pa.Schema]] = {
    "rebalances": REBALANCES,
    "answers": ANSWERS,
    "episodes": EPISODES,
    "members": MEMBERS,
    "snapshots": SNAPSHOTS,
    "quarantine": QUARANTINE,
}

TABLES: Final[dict[str, pa.Schema]] = {**SCHEMAS, RUN_TABLE: RUN}
"""Everything that is written: `SCHEMAS`, and the row that describes the run."""

_BY_REBALANCE = ("group_id", "source_partition", "source_offset", "rebalance_id")
ORDER: Final[dict[str, tuple[str, ...]]] = {
    "rebalances": _BY_REBALANCE,
    "answers": ("group_id", "generation", "rebalance_id", "assignor"),
    "episodes": ("group_id", "first_generation", "episode_id"),
    "members": ("group_id", "generation", "rebalance_id", "member_id"),
    "snapshots": ("group_id", "snapshot_id"),
    "quarantine": (
        "kind",
        "group_id",
        "record",
        "source",
        "source_partition",
        "source_offset",
        "reason",
    ),
}
"""Columns by which rows are sorted within a cluster and day; nulls first."""
