"""Schemas of the audit's tables: columns, types, and meanings.

Each table is a folder of Parquet files, ``NAME/cluster=…/date=…/part-00000.parquet``,
with rows sorted by `ORDER`. No column depends on the clock or on the division of the
work: the same source yields the same rows in the same order. The metadata of a field
(``field.metadata[b"doc"]``) states its meaning; units are there or in the name.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

UNDATED: Final = "undated"
"""``date`` of a row whose source has no time."""

PARTITION_COLUMNS: Final = ("cluster", "date")
LAYOUT: Final = "tables/2"
"""Version of these schemas, written into ``audit.json``."""

_TEXT, _FLAG, _COUNT = pa.string(), pa.bool_(), pa.int64()
_GENERATION = pa.int32()
_TIME = pa.timestamp("us", tz="UTC")
PARTITIONS: Final = pa.list_(
    pa.struct([("topic", _TEXT), ("partitions", pa.list_(pa.int32()))])
)
"""Topics sorted by name, with ascending partition numbers."""
VIOLATIONS: Final = pa.list_(
    pa.struct(
        [
            ("rule", _TEXT),
            ("member", _TEXT),
            ("topic", _TEXT),
            ("partition", pa.int64()),
        ]
    )
)


def _column(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    return pa.field(name, kind, metadata={"doc": doc})


_CLUSTER = _column("cluster", _TEXT, "name given to the audit")
_GROUP = _column("group_id", _TEXT, "the consumer group")
_N_MEMBERS = _column("members", _COUNT, "members of the group")
_KEY = (
    _CLUSTER,
    _column("date", _TEXT, f"day of `at`, UTC, YYYY-MM-DD; {UNDATED} without a time"),
    _column("rebalance_id", _TEXT, "unique in a cluster; joins the tables"),
    _GROUP,
    _column(
        "generation", _GENERATION, "Kafka's number of the rebalance; null: unknown"
    ),
)
_SOURCE = (
    _column("source", _TEXT, "file of the row, as given to the audit"),
    _column("source_partition", pa.int32(), "partition of __consumer_offsets, or null"),
    _column("source_offset", _COUNT, "offset in it, or line number from 1"),
)
_ORIGIN = (
    _column(
        "client_assignor", _TEXT, "assignor that the group selected; null: unknown"
    ),
    _column("cooperative", _FLAG, "judged as a cooperative round (KIP-429)"),
)
_LEAST_MOVES = (
    _column("moves_least", _COUNT, "of the optimum; null without a proof"),
    _column("moves_least_kip54", _COUNT, "of kip54-sticky; null without a proof"),
)
_BALANCE = (
    _column("kip54_score", _COUNT, "sum over pairs of the difference in load"),
    _column("kip54_score_least", _COUNT, "of the optimum; null without a proof"),
    _column("kip54_balanced", _FLAG, "no single transfer evens out two members"),
    _column("dec_min_balanced", _FLAG, "no assignment has a better load vector"),
)
_AT_OPTIMUM = (
    _column(
        "at_optimum",
        _FLAG,
        "valid, dec-min, moves_least; null: partitions withheld, or the episode open",
    ),
    _column(
        "at_kip54_optimum",
        _FLAG,
        "valid, KIP-54 balanced, moves_least_kip54; null as `at_optimum`",
    ),
)

REBALANCES: Final = pa.schema(
    [
        *_KEY,
        _column("at", _TIME, "time of the record; null if the source has none"),
        _column("source_kind", _TEXT, "consumer-offsets or rebalance"),
        *_SOURCE,
        _column("protocol", _TEXT, "classic or consumer; null: unknown"),
        *_ORIGIN,
        _column("leader", _TEXT, "member that computed the assignment; null: unknown"),
        _column("episode_id", _TEXT, "episode of the round; null if it has none"),
        _column("round", pa.int32(), "position in its episode, from 1"),
        _N_MEMBERS,
        _column("topics", _COUNT, "existing topics with at least one subscriber"),
        _column("partitions", _COUNT, "partitions of those topics"),
        _column("owned", _COUNT, "partitions with an owner before, by the claim rule"),
        _column("joined", _COUNT, "members absent from the generation before"),
        _column("left", _COUNT, "members of the generation before that left"),
        _column(
            "resubscribed", _COUNT, "members that stayed and changed their subscription"
        ),
        _column(
            "partition_counts",
            _TEXT,
            "given; recorded by the group (Kafka 4.0, new protocol); or inferred from"
            " the largest partition number",
        ),
        _column(
            "owned_from",
            _TEXT,
            "previous-assignment: of the generation before; claims: as reported by"
            " members; given: the rebalance/1 document",
        ),
        _column("subscriptions", _TEXT, "reported: by the record or the document"),
        _column("lag_known", _FLAG, "whether the instance carries lag"),
        _column(
            "lag_basis",
            _TEXT,
            "end-of-recording: records from the offset committed then up to the log end"
            " when the recording ended; given: the document's; null without lag",
        ),
        _column(
            "claims_disagree",
            _COUNT,
            "members whose own claim differs; null: no claims",
        ),
        _column(
            "behind",
            _COUNT,
            "new protocol: members that had not reached this target assignment when the"
            " next one was computed, or the source ended; null: classic",
        ),
        _column(
            "reached_ms",
            _COUNT,
            "new protocol: time until every member had reached it, ms; null: never",
        ),
        _column("instance", _TEXT, "rebalance/1, canonical JSON"),
    ]
)

ANSWERS: Final = pa.schema(
    [
        *_KEY,
        _column("source", _TEXT, "file of the rebalance"),
        *_ORIGIN,
        _column(
            "assignor", _TEXT, "actual, a heuristic's name, optimum or kip54-sticky"
        ),
        _column("applies", _FLAG, "false: the heuristic rejects it, the rest is null"),
        _column("refused", _TEXT, "why it rejects the instance"),
        _column("verdict", _TEXT, "valid, invalid or unreadable, by the judge"),
        _column(
            "violations", VIOLATIONS, "violated rules, each with the offending item"
        ),
        _N_MEMBERS,
        _column("partitions", _COUNT, "partitions with at least one subscriber"),
        _column("loads", pa.list_(pa.int64()), "load vector, largest first"),
        _column("load_min", _COUNT, "least load; null without members"),
        _column("load_max", _COUNT, "largest load; null without members"),
        *_BALANCE,
        _column("evidence", _TEXT, "transfer or chain that refutes a balance, JSON"),
        _column("owned_from", _TEXT, "as in rebalances"),
        _column("owned", _COUNT, "partitions with an owner before"),
        _column("kept", _COUNT, "of those, kept by their owner"),
        _column("moves", _COUNT, "of those, not kept; includes withheld"),
        _column(
            "withheld", _COUNT, "assigned to no member until the owner has revoked"
        ),
        *_LEAST_MOVES,
        _column("lag_known", _FLAG, "false: peak_lag and its bound are null"),
        _column("peak_lag", _COUNT, "largest lag of a member, records"),
        _column("peak_lag_bound", _COUNT, "no complete assignment has less"),
        _column("lag_spread", _COUNT, "largest minus smallest, of members in play"),
        _column(
            "rack_mismatches",
            _COUNT,
            "partitions without a replica on the member's rack",
        ),
        *_AT_OPTIMUM,
        _column("status", _TEXT, "of optimum, kip54-sticky: optimal only under proof"),
        _column(
            "proved_dec_min", _FLAG, "the judge accepted the certificate of balance"
        ),
        _column(
            "proved_stickiness",
            _FLAG,
            "the judge accepted the certificate of stickiness",
        ),
        _column("proved_peak_lag", _FLAG, "the judge accepted the bound on peak lag"),
        _column("assignment", _TEXT, "assignment/1, canonical JSON"),
    ]
)

# Verdict, balance, and at_optimum are of the stable state after; null in open episodes.
EPISODES: Final = pa.schema(
    [
        _CLUSTER,
        _column("date", _TEXT, "day of `started_at`, UTC"),
        _column("episode_id", _TEXT, "rebalance_id of its first round"),
        _GROUP,
        _column("source", _TEXT, "file that the first round comes from"),
        *_ORIGIN,
        _column("first_generation", _GENERATION, "first round"),
        _column("last_generation", _GENERATION, "last round before the stable state"),
        _column("last_rebalance_id", _TEXT, "of the last round"),
        _column("started_at", _TIME, "of the first round's record"),
        _column("ended_at", _TIME, "of the last round's record"),
        _column("rounds", pa.int32(), "generations to the next stable state"),
        _column(
            "ended",
            _TEXT,
            "rest: stable, or open: the group became empty or the source ended",
        ),
        _column("members", _COUNT, "members after the last round"),
        _column("partitions", _COUNT, "partitions subscribed to after the last round"),
        _column("owned_from", _TEXT, "as in rebalances, of the first round"),
        _column(
            "owned", _COUNT, "owned in the stable state before, by remaining members"
        ),
        _column("moves", _COUNT, "of those, with another member or none"),
        *_LEAST_MOVES,
        _column("verdict", _TEXT, "of the stable state after, by the judge"),
        *_BALANCE,
        *_AT_OPTIMUM,
        _column("withheld", _COUNT, "partitions withheld, summed over the rounds"),
        _column(
            "unowned_partition_ms",
            _COUNT,
            "partitions that a round left unassigned, times ms until the next round,"
            " summed: partition-milliseconds without an owner; new protocol: from the"
            " record of the release to that of the next owner",
        ),
        _column(
            "instance", _TEXT, "rebalance/1: the stable state before, the last members"
        ),
        _column("assignment", _TEXT, "assignment/1: the stable state after"),
    ]
)

MEMBERS: Final = pa.schema(
    [
        *_KEY[:2],
        _column("rebalance_id", _TEXT, "of the rebalance, or id of the snapshot"),
        *_KEY[3:],
        _column("member_id", _TEXT, "assigned by the coordinator"),
        _column("instance_id", _TEXT, "group.instance.id of a static member, or null"),
        _column("client_id", _TEXT, "null if the source has none"),
        _column("client_host", _TEXT, "null if the source has none"),
        _column("rack", _TEXT, "client.rack, or null"),
        _column("subscription", pa.list_(_TEXT), "topics, sorted; null: not reported"),
        _column("joined", _FLAG, "absent from the generation before; null: unknown"),
        _column(
            "claimed",
            PARTITIONS,
            "partitions that it claimed, or had (new protocol); null: no claim",
        ),
        _column("claimed_generation", _GENERATION, "of that claim; -1 or null unknown"),
        _column(
            "owned",
            PARTITIONS,
            "partitions that it owned before, by `owned_from`; null in a snapshot",
        ),
        _column(
            "assigned",
            PARTITIONS,
            "partitions that the real client, or the coordinator, assigned; null:"
            " unknown",
        ),
        _column("load", _COUNT, "partitions in `assigned`"),
        _column("lag", _COUNT, "lag of those, records; null without lag"),
    ]
)

_BALANCE_IF_KNOWN = "; null: cannot be determined"
SNAPSHOTS: Final = pa.schema(
    [
        *_KEY[:2],
        _column("snapshot_id", _TEXT, "unique in a cluster; joins `members`"),
        _GROUP,
        _column("at", _TIME, "null: the text has no time"),
        *_SOURCE,
        _column("protocol", _TEXT, "classic or consumer; null: unknown"),
        _ORIGIN[0],
        _N_MEMBERS,
        _column("topics", _COUNT, "topics in use by the group"),
        _column("partitions", _COUNT, "partitions of those topics"),
        _column(
            "partition_counts",
            _TEXT,
            "given, or inferred from the largest partition number of the group",
        ),
        _column(
            "subscriptions",
            _TEXT,
            "reported: by the rebalance `state_of`; not-reported: the text has none",
        ),
        _column(
            "state_of",
            _TEXT,
            "rebalance_id of the generation in the records after which the group was in"
            " this state; it is counted there and not as a snapshot; null: none",
        ),
        _column(
            "verdict",
            _TEXT,
            "valid, invalid, or unknown: no rule is broken as far as the text states",
        ),
        _column("violations", VIOLATIONS, "broken rules, each with the offending item"),
        _column("loads", pa.list_(pa.int64()), "load vector, largest first"),
        _column("load_min", _COUNT, "least load; null without members"),
        _column("load_max", _COUNT, "largest load; null without members"),
        _BALANCE[0],
        _column("kip54_balanced", _FLAG, f"as in answers{_BALANCE_IF_KNOWN}"),
        _column("dec_min_balanced", _FLAG, f"as in answers{_BALANCE_IF_KNOWN}"),
        _column("evidence", _TEXT, "transfer or chain that refutes a balance, JSON"),
        _column(
            "lag_known", _FLAG, "whether the text states the lag of all partitions"
        ),
        _column("peak_lag", _COUNT, "largest lag of a member at that moment, records"),
        _column(
            "peak_lag_bound",
            _COUNT,
            "no complete assignment has less; null without lag or subscriptions",
        ),
        _column(
            "instance",
            _TEXT,
            "rebalance/1; subscriptions that are not reported are the topics held",
        ),
        _column("assignment", _TEXT, "assignment/1, the state"),
    ]
)

QUARANTINE: Final = pa.schema(
    [
        _CLUSTER,
        _column("date", _TEXT, f"day of the record, UTC, or {UNDATED}"),
        _column(
            "kind",
            _TEXT,
            "unreadable: damaged input; set-aside: valid, not judged yet;"
            " missing: epochs that the source lacks;"
            " failed: a rebalance that could not be judged",
        ),
        _column("reason", _TEXT, "the reason, in words"),
        _column("group_id", _TEXT, "null if it could not be read"),
        _column("record", _TEXT, "kind of record, such as ShareGroupMetadata; null"),
        _column(
            "records", _COUNT, "records that this row represents; the first is shown"
        ),
        _column("at", _TIME, "time of the record, or null"),
        *_SOURCE,
        _column("key", pa.binary(), "raw, of a record; at most 65,536 bytes"),
        _column(
            "value",
            pa.binary(),
            "raw, of a record or a line, at most 65,536 bytes; of missing epochs, their"
            " numbers",
        ),
        _column("raw_bytes", _COUNT, "length of key and value before truncation"),
        _column("instance", _TEXT, "rebalance/1 that failed, or null"),
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
