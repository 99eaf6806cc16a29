"""Cases as an Arrow table, a row per case, from the bytes of `pipeline.cases.pack`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

import pyarrow as pa
import pyarrow.json

from pipeline.cases import (
    Case,
    CaseMember,
    Episode,
    Held,
    Int32,
    Offsets,
    case_of,
)
from pipeline.tables import SCHEMAS

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
OF_STATES: Final = ["members_listed", "at_rest", "doubt", "state_of", "state_at"]
"""Fields of snapshots, which are passed on as texts."""


def _fields(kind: type) -> list[pa.Field]:
    """Return a column per field of a dataclass, of the type of its values."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        pa.field(field.name, _KINDS[_present(hints[field.name])])
        for field in dataclasses.fields(kind)
    ]


def _present(hint: Any) -> Any:
    """Return the type of values that are not None."""
    kinds = get_args(hint)
    return kinds[0] if NoneType in kinds else hint


_NAME: Final = ("member_id", pa.string())
_KINDS: Final[dict[Any, pa.DataType]] = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    Int32: pa.int32(),
    list[str]: pa.list_(pa.string()),
    Held: HELD,
    Offsets: _OFFSETS,
    dict[str, int]: _SIZES,
    dict[str, Held]: pa.list_(pa.struct([_NAME, ("owned", HELD)])),
}
_KINDS[dict[str, CaseMember]] = pa.list_(pa.struct([_NAME, *_fields(CaseMember)]))
_KINDS[Episode] = pa.struct(_fields(Episode))
_EVERY: Final = pa.schema(_fields(Case))
CASES: Final = pa.schema([field for field in _EVERY if field.name not in OF_STATES])


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
            explicit_schema=_EVERY, unexpected_field_behavior="ignore"
        ),
    ).combine_chunks()


def case_at(cases: pa.Table, place: int) -> Case:
    """Return a case of a table."""
    (fields,) = cases.slice(place, 1).to_pylist()
    return case_of(fields)
