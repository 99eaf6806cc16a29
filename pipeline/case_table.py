"""Cases as an Arrow table, a row per case, from what `pipeline.cases.pack` wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from pipeline.cases import REPORTED, SNAPSHOT, Case, case_of
from pipeline.tables import SCHEMAS
from rebalance import Bools

_END_OF_DATES: Final = 253_402_300_800_000
"""Milliseconds until the year 10,000."""
HELD: Final = SCHEMAS["members"].field("owned").type
_SIZES: Final = pa.list_(pa.struct([("topic", pa.string()), ("count", pa.int64())]))
_OFFSETS: Final = pa.list_(
    pa.struct(
        [
            ("topic", pa.string()),
            ("partitions", pa.list_(pa.int32())),
            ("offsets", pa.list_(pa.int64())),
        ]
    )
)
_MEMBER: Final = pa.struct(
    [
        ("member_id", pa.string()),
        ("subscription", pa.list_(pa.string())),
        ("owned", HELD),
        ("assigned", HELD),
        ("generation", pa.int64()),
        ("claimed", HELD),
        ("claimed_generation", pa.int32()),
        ("rack", pa.string()),
        ("instance_id", pa.string()),
        ("client_id", pa.string()),
        ("client_host", pa.string()),
        ("joined", pa.bool_()),
    ]
)
_BEFORE: Final = pa.struct([("member_id", pa.string()), ("owned", HELD)])
_EPISODE: Final = pa.struct(
    [
        ("episode_id", pa.string()),
        ("first_generation", pa.int32()),
        ("started_at", pa.int64()),
        ("rounds", pa.int32()),
        ("ended", pa.string()),
        ("owned_from", pa.string()),
        ("withheld", pa.int64()),
        ("unowned_partition_ms", pa.int64()),
        ("source", pa.string()),
        ("unowned_unknown", pa.string()),
        ("before", pa.list_(_BEFORE)),
    ]
)
CASES: Final = pa.schema(
    [
        ("rebalance_id", pa.string()),
        ("group_id", pa.string()),
        ("source_kind", pa.string()),
        ("source", pa.string()),
        ("source_partition", pa.int32()),
        ("source_offset", pa.int64()),
        ("generation", pa.int32()),
        ("at", pa.int64()),
        ("protocol", pa.string()),
        ("client_assignor", pa.string()),
        ("cooperative", pa.bool_()),
        ("leader", pa.string()),
        ("owned_from", pa.string()),
        ("subscriptions", pa.string()),
        ("members", pa.list_(_MEMBER)),
        ("left", pa.int64()),
        ("resubscribed", pa.int64()),
        ("claims_disagree", pa.int64()),
        ("committed", _OFFSETS),
        ("lag", _OFFSETS),
        ("least_sizes", _SIZES),
        ("undated_sizes", _SIZES),
        ("document", pa.string()),
        ("recorded_sizes", _SIZES),
        ("behind", pa.int64()),
        ("reached_ms", pa.int64()),
        ("reached_unknown", pa.string()),
        ("episode_id", pa.string()),
        ("round", pa.int32()),
        ("episode", _EPISODE),
    ]
)


def case_table(texts: Sequence[bytes]) -> pa.Table:
    """Read cases.

    Raises
    ------
    pa.ArrowException
        If a number is larger than its column; `pipeline.cases.unpack` reads it.
    """
    data = b"\n".join(texts)
    return pa.json.read_json(
        pa.BufferReader(data),
        read_options=pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pa.json.ParseOptions(
            explicit_schema=CASES, unexpected_field_behavior="ignore"
        ),
    ).combine_chunks()


def case_at(cases: pa.Table, place: int) -> Case:
    """Return a case of a table."""
    (fields,) = cases.slice(place, 1).to_pylist()
    return case_of(fields)


def are_of_records(table: pa.Table) -> Bools:
    """Return which cases are rebalances of records, as opposed to texts and documents.

    Their partition counts come from all records, and their lag from log ends. Times
    that no date can state are left to Python, whose error is reported.
    """
    began = pc.struct_field(table["episode"].combine_chunks(), "started_at")
    found = [
        *(pc.fill_null(_is_date(times), True) for times in (table["at"], began)),
        pc.is_valid(table["members"]),
        pc.equal(table["subscriptions"], REPORTED),
        pc.not_equal(table["owned_from"], SNAPSHOT),
        *(pc.is_null(table[name]) for name in ("document", "lag", "least_sizes")),
    ]
    are_all: Bools = np.logical_and.reduce(
        [np.asarray(condition) for condition in found]
    )
    return are_all


def _is_date(milliseconds: pa.Array) -> pa.Array:
    return pc.and_(
        pc.greater_equal(milliseconds, 0), pc.less(milliseconds, _END_OF_DATES)
    )
