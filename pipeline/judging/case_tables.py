"""Tables ``rebalances``, ``members`` and ``episodes`` of many cases, by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cases import NOT_REPORTED, REST, SNAPSHOT
from pipeline.judging.case_arrays import CaseInstances, Lists
from pipeline.judging.case_columns import CaseColumns
from pipeline.judging.partition_counts import CERTAINTY
from pipeline.tables import SCHEMAS, UNDATED
from rebalance import Bools, Int64

_OF_CASE: Final = (
    "rebalance_id",
    "group_id",
    "generation",
    "source_kind",
    "source",
    "source_partition",
    "source_offset",
    "protocol",
    "client_assignor",
    "cooperative",
    "leader",
    "episode_id",
    "round",
    "left",
    "resubscribed",
    "owned_from",
    "subscriptions",
    "claims_disagree",
    "behind",
    "reached_ms",
    "reached_unknown",
)
_OF_MEMBER: Final = (
    "member_id",
    "instance_id",
    "client_id",
    "client_host",
    "rack",
    "joined",
    "claimed_generation",
)
_OF_EPISODE: Final = (
    "episode_id",
    "source",
    "first_generation",
    "rounds",
    "ended",
    "owned_from",
    "withheld",
    "unowned_partition_ms",
    "unowned_unknown",
)
_OF_LAST: Final = (
    "cluster",
    "group_id",
    "client_assignor",
    "cooperative",
    "members",
    "partitions",
)
"""Columns of an episode's last rebalance."""
_OF_ANSWER: Final = (
    "moves",
    "moves_least",
    "moves_least_kip54",
    "kip54_score_least",
    "assignment",
)
_AT_REST: Final = (
    "needless_lag",
    "verdict",
    "kip54_score",
    "dec_min_balanced",
    "kip54_balanced",
    "at_optimum",
    "at_kip54_optimum",
)
"""Columns of an episode's answer that apply only to a group in a stable state."""
_KEY: Final = ("cluster", "date", "rebalance_id", "group_id", "generation")


def rebalances_of(
    table: pa.Table,
    columns: CaseColumns,
    instances: CaseInstances,
    cluster: str,
    stated: Mapping[str, Any],
) -> pa.RecordBatch:
    """Return ``rebalances``, but for the counts of their optimum (`with_counts`).

    ``stated`` are the columns of durations and lag, and the texts.
    """
    n_members = np.diff(columns.cases.member_at)
    is_new = columns.members.field("joined")
    return batch(
        "rebalances",
        table.num_rows,
        {
            **{name: table[name] for name in _OF_CASE},
            "cluster": pa.repeat(cluster, table.num_rows),
            "date": dates(table["at"]),
            "at": times(table["at"]),
            "members": n_members,
            "joined": where(
                per_case(columns, pc.is_valid(is_new)) > 0,
                per_case(columns, pc.fill_null(is_new, False)),
            ),
            "partition_counts": pa.array(CERTAINTY).take(pa.array(instances.basis)),
            "newer_partitions": instances.newer,
            **stated,
        },
    )


def with_counts(rebalances: pa.RecordBatch, counts: Int64) -> pa.RecordBatch:
    """Fill in topics, partitions, and owned partitions: ``counts`` is int64 (N, 3)."""
    for place, name in enumerate(("topics", "partitions", "owned")):
        at = rebalances.schema.get_field_index(name)
        values = pa.array(counts[:, place])
        rebalances = rebalances.set_column(at, rebalances.schema.field(at), values)
    return rebalances


def members_of_cases(
    rebalances: pa.RecordBatch,
    columns: CaseColumns,
    held: Mapping[str, pa.ListArray],
    lags: Int64,
) -> pa.RecordBatch:
    """Return ``members``.

    Parameters
    ----------
    rebalances
        All of them.
    held
        Columns ``owned``, ``assigned`` and ``claimed``, as `named_lists`.
    lags : int64 (M,)
    """
    cases, members = columns.cases, columns.members
    sizes = np.diff(cases.member_at)
    of = pa.array(np.repeat(np.arange(len(sizes)), sizes))
    is_assigned = pc.is_valid(held["assigned"])
    is_lag_known = pc.and_(is_assigned, rebalances["lag_known"].take(of))
    is_state = pc.equal(rebalances["owned_from"], SNAPSHOT).take(of)
    is_unknown = pc.equal(rebalances["subscriptions"], NOT_REPORTED).take(of)
    return batch(
        "members",
        len(members),
        {
            **{name: rebalances[name].take(of) for name in _KEY},
            **{name: members.field(name) for name in _OF_MEMBER},
            **held,
            "owned": _unless(is_state, held["owned"]),
            "subscription": _unless(is_unknown, members.field("subscription")),
            "last_commit_at": times(members.field("last_commit_at")),
            "load": where(np.asarray(is_assigned), _loads(cases.assigned)),
            "lag": where(np.asarray(is_lag_known), lags),
        },
    )


def named_lists(columns: CaseColumns) -> dict[str, pa.ListArray]:
    """Return owned, claimed, and assigned partitions, by name and sorted."""
    cases = columns.cases
    return {
        name: _named(columns, columns.members.field(name), lists)
        for name, lists in (
            ("owned", cases.owned),
            ("assigned", cases.assigned),
            ("claimed", cases.claimed),
        )
    }


def episodes_of(
    rebalances: pa.RecordBatch,
    table: pa.Table,
    chosen: Sequence[int],
    answers: Sequence[Mapping[str, Any]],
    owned: Sequence[int],
    instances: Sequence[str],
) -> pa.RecordBatch:
    """Return ``episodes``.

    Parameters
    ----------
    rebalances, table
        All of them.
    chosen
        Cases that end an episode; of these, the following.
    answers
        Columns of ``answers`` of the real answer, as one step.
    owned, instances
        Of the members of the episode, before it.
    """
    places = pa.array(chosen, pa.int64())
    rows = rebalances.take(places)
    episode = table["episode"].combine_chunks().take(places)
    return batch(
        "episodes",
        len(chosen),
        {
            **{name: episode.field(name) for name in _OF_EPISODE},
            **{name: rows[name] for name in _OF_LAST},
            "date": dates(episode.field("started_at")),
            "started_at": times(episode.field("started_at")),
            "last_generation": rows["generation"],
            "last_rebalance_id": rows["rebalance_id"],
            "ended_at": rows["at"],
            "owned": owned,
            "instance": instances,
            **_of_answers(answers, episode.field("ended")),
        },
    )


def _of_answers(
    answers: Sequence[Mapping[str, Any]], ended: pa.StringArray
) -> dict[str, list[Any]]:
    """Return the columns of the answers of episodes, after how each ended."""
    is_rest = pc.equal(ended, REST).to_pylist()
    at_rest = {
        name: [
            answer[name] if is_stable else None
            for answer, is_stable in zip(answers, is_rest, strict=True)
        ]
        for name in _AT_REST
    }
    return {name: [answer[name] for answer in answers] for name in _OF_ANSWER} | at_rest


def batch(name: str, count: int, columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Return rows in the schema of a table; columns that are not given are null."""
    schema, arrays = SCHEMAS[name], []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            values = pa.nulls(count, field.type)
        elif isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        elif not isinstance(values, pa.Array):
            values = pa.array(values, field.type)
        arrays.append(values.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def times(milliseconds: pa.Array) -> pa.Array:
    """Convert milliseconds since 1970 to times, UTC."""
    return pc.cast(milliseconds, pa.timestamp("ms", tz="UTC"))


def dates(milliseconds: pa.Array) -> pa.Array:
    """Return the day of times, UTC, or `UNDATED`."""
    days = pc.cast(pc.cast(milliseconds, pa.timestamp("ms")), pa.date32())
    return pc.fill_null(pc.cast(days, pa.string()), UNDATED)


def where(is_known: Bools, values: Any) -> pa.Array:
    """Return values, null where they are not known."""
    return pa.array(values, mask=~is_known)


def _unless(is_unknown: pa.BooleanArray, lists: pa.ListArray) -> pa.Array:
    """Return lists, null where they are not known."""
    if not pc.any(is_unknown).as_py():
        return lists
    return pc.if_else(is_unknown, pa.scalar(None, lists.type), lists)


def per_case(columns: CaseColumns, flags: pa.BooleanArray) -> Int64:
    """Count the members of which a flag is true."""
    ends = np.cumsum(np.concatenate(([0], np.asarray(flags))), dtype=np.int64)
    return np.diff(ends[columns.cases.member_at])


def _loads(held: Lists) -> Int64:
    return np.diff(held.number_at[held.at])


def _named(columns: CaseColumns, listed: pa.ListArray, held: Lists) -> pa.ListArray:
    """Return partitions per member under names, sorted."""
    if not columns.names.is_id.any():
        return listed
    rank = columns.names.rank[held.topic]
    numbers = pa.ListArray.from_arrays(
        pa.array(held.number_at.astype(np.int32)), pa.array(held.number)
    )
    topics = pa.array(columns.topics, pa.string())
    named = pa.StructArray.from_arrays(
        [topics.take(pa.array(rank, mask=rank < 0)), numbers],
        fields=[*listed.type.value_type],
    )
    return pa.ListArray.from_arrays(
        pa.array(held.at.astype(np.int32)), named, mask=pc.is_null(listed)
    )
