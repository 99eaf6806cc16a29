"""rebalance/1 and assignment/1 as Arrow tables: the batch form for Spark and Parquet.

The columns are the fields of the documents; objects with arbitrary keys are maps, and
absent fields are null. A union (a number or a list of numbers) is a struct in which one
field is filled, see `VALUE`. Reading makes the same checks as for JSON and yields the
same errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

import orjson
import pyarrow as pa

from rebalance.documents import (
    MAX_PARTITIONS,
    AssignmentDocument,
    Rebalance,
    to_json,
)
from rebalance.errors import DocumentError
from rebalance.jsontext import json_path
from rebalance.parsing import parse_assignment, rebalance_of

_TEXT, _NUMBER = pa.string(), pa.int64()
_HELD = pa.map_(_TEXT, pa.list_(_NUMBER))

TOPIC: Final = pa.struct(
    [
        ("partitions", _NUMBER),
        ("lag", pa.list_(_NUMBER)),
        ("racks", pa.list_(pa.list_(_TEXT))),
    ]
)
MEMBER: Final = pa.struct(
    [
        ("subscription", pa.list_(_TEXT)),
        ("owned", _HELD),
        ("generation", _NUMBER),
        ("rack", _TEXT),
        ("instance_id", _TEXT),
        ("capacity", _NUMBER),
    ]
)
REBALANCES: Final = pa.schema(
    [
        ("format", _TEXT),
        ("group", _TEXT),
        ("id", _TEXT),
        ("topics", pa.map_(_TEXT, TOPIC)),
        ("members", pa.map_(_TEXT, MEMBER)),
    ]
)
"""One row per rebalance/1 document."""

FIGURES: Final = pa.struct(
    [
        ("loads", pa.list_(_NUMBER)),
        ("kept", _NUMBER),
        ("moves", _NUMBER),
        ("withheld", _NUMBER),
        ("kip54_score", _NUMBER),
        ("kip54_balanced", pa.bool_()),
        ("dec_min_balanced", pa.bool_()),
        ("peak_lag", _NUMBER),
        ("lag_spread", _NUMBER),
        ("rack_mismatches", _NUMBER),
    ]
)
CERTIFICATE: Final = pa.struct(
    [
        ("level", pa.map_(_TEXT, _NUMBER)),
        ("price", pa.map_(_TEXT, _NUMBER)),
        ("threshold", pa.map_(_TEXT, pa.list_(_NUMBER))),
        ("weights", pa.struct([("stickiness", _NUMBER), ("rack", _NUMBER)])),
    ]
)
VALUE: Final = pa.struct([("number", _NUMBER), ("numbers", pa.list_(_NUMBER))])
"""Value of an objective: a number; a list for ``load``."""

TERM: Final = pa.struct(
    [
        ("kind", _TEXT),
        ("bound", _NUMBER),
        ("members", pa.list_(_TEXT)),
        ("topics", pa.list_(_TEXT)),
        ("at_least", _NUMBER),
        ("weight", pa.map_(_TEXT, _NUMBER)),
        ("price", pa.map_(_TEXT, pa.map_(_TEXT, _NUMBER))),
        ("steps", pa.list_(pa.list_(_NUMBER))),
    ]
)
PROOF: Final = pa.struct(
    [("by", _TEXT), ("engine", _TEXT), ("terms", pa.list_(TERM))],
)
OBJECTIVE: Final = pa.struct(
    [
        ("of", _TEXT),
        ("value", VALUE),
        ("bound", VALUE),
        ("scale", _NUMBER),
        ("proof", PROOF),
    ]
)
ASSIGNMENTS: Final = pa.schema(
    [
        ("format", _TEXT),
        ("group", _TEXT),
        ("id", _TEXT),
        ("members", pa.map_(_TEXT, _HELD)),
        ("assignor", _TEXT),
        ("status", _TEXT),
        ("policy", _TEXT),
        ("objectives", pa.list_(OBJECTIVE)),
        ("reason", _TEXT),
        ("figures", FIGURES),
        ("certificate", CERTIFICATE),
    ]
)
"""One row per assignment/1 document."""

_ROWS_AT_ONCE: Final = 256
_EITHER: Final = frozenset({"number", "numbers"})
"""Fields of the union structs; documents do not have these fields."""

_Document = TypeVar("_Document", Rebalance, AssignmentDocument)


def to_table(documents: Iterable[Rebalance]) -> pa.Table:
    """Write rebalances as a table of `REBALANCES`, in the given order."""
    return _table(documents, REBALANCES)


def assignments_to_table(documents: Iterable[AssignmentDocument]) -> pa.Table:
    """Write assignments as a table of `ASSIGNMENTS`, in the given order."""
    return _table(documents, ASSIGNMENTS)


def from_table(
    table: pa.Table, *, max_partitions: int = MAX_PARTITIONS
) -> Iterator[Rebalance | DocumentError]:
    """Read rebalances; an invalid row is an error. Optional columns can be missing.

    Yields
    ------
    Rebalance or DocumentError
        The error has the JSON path of the offending value, as if the row were JSON. An
        instance of more than ``max_partitions`` partitions is an error, too.
    """
    return _documents(table, partial(rebalance_of, max_partitions=max_partitions))


def assignments_from_table(
    table: pa.Table,
) -> Iterator[AssignmentDocument | DocumentError]:
    """Read assignments; otherwise as `from_table`."""
    return _documents(table, lambda value: parse_assignment(orjson.dumps(value)))


def _table(documents: Iterable[_Document], schema: pa.Schema) -> pa.Table:
    """Encode documents with keys and lists in canonical order."""
    rows = [orjson.loads(to_json(document)) for document in documents]
    for row in rows:
        if "objectives" in row:
            objectives = schema.field("objectives").type
            row["objectives"] = _cell(row["objectives"], objectives)
    return pa.Table.from_pylist(rows, schema=schema)


def _cell(value: Any, kind: pa.DataType) -> Any:
    """Convert a JSON value to a cell; a union becomes a struct with one field."""
    if pa.types.is_list(kind):
        return [_cell(item, kind.value_type) for item in value]
    if pa.types.is_map(kind):
        return [(key, _cell(item, kind.item_type)) for key, item in value.items()]
    if not pa.types.is_struct(kind):
        return value
    fields = _fields(kind)
    if not _EITHER.isdisjoint(fields):
        filled = {int: "number", list: "numbers"}[type(value)]
        return {filled: value}
    return {name: _cell(item, fields[name]) for name, item in value.items()}


def _fields(kind: pa.StructType) -> dict[str, pa.DataType]:
    return {kind.field(i).name: kind.field(i).type for i in range(kind.num_fields)}


def _documents(
    table: pa.Table, read: Callable[[Any], _Document]
) -> Iterator[_Document | DocumentError]:
    types = dict(zip(table.schema.names, table.schema.types, strict=True))
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            try:
                yield read(_object(row.items(), types, ()))
            except DocumentError as error:
                yield error


def _plain(value: Any, kind: pa.DataType, steps: tuple[int | str, ...]) -> Any:
    """Convert a cell to its JSON value; nulls in structs are omitted."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        _refuse_repeats([key for key, _ in value], steps)
        return {key: _plain(item, kind.item_type, (*steps, key)) for key, item in value}
    if pa.types.is_struct(kind):
        found = _object(value.items(), _fields(kind), steps)
        return found if _EITHER.isdisjoint(value) else _one_of(found, steps)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        if not pa.types.is_nested(kind.value_type):
            return value
        return [
            _plain(item, kind.value_type, (*steps, i)) for i, item in enumerate(value)
        ]
    return value


def _object(
    items: Iterable[tuple[str, Any]],
    types: dict[str, pa.DataType],
    steps: tuple[int | str, ...],
) -> dict[str, Any]:
    return {
        name: _plain(value, types[name], (*steps, name))
        for name, value in items
        if value is not None
    }


def _one_of(filled: dict[str, Any], steps: tuple[int | str, ...]) -> Any:
    """Return the value of the one filled field of a struct."""
    if len(filled) != 1:
        reason = f"{len(filled)} of the fields are filled; expected one"
        raise DocumentError(reason, path=json_path(steps))
    return next(iter(filled.values()))


def _refuse_repeats(keys: list[str], steps: tuple[int | str, ...]) -> None:
    if len(set(keys)) == len(keys):
        return
    twice = next(key for i, key in enumerate(keys) if key in keys[:i])
    raise DocumentError("key given twice", path=json_path((*steps, twice)))
