"""Arrow tables of documents: round trips, and rejected rows."""

from __future__ import annotations

from typing import Any, get_args

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from rebalance import (
    AssignmentDocument,
    DocumentError,
    Rebalance,
    parse_assignment,
    rebalance_of,
    to_json,
)
from rebalance.arrow import (
    ASSIGNMENTS,
    REBALANCES,
    VALUE,
    assignments_from_table,
    assignments_to_table,
    from_table,
    to_table,
)
from tests.rebalance.answers import ANSWERS
from tests.support.shapes import (
    DOUBLE_CLAIM,
    EVERY_FIELD,
    NO_MEMBERS,
    NOTHING,
    Document,
)
from tests.support.strategies import rebalances


def _only(found: list[Any]) -> Any:
    assert len(found) == 1
    return found[0]


def through_parquet(table: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return pq.read_table(pa.BufferReader(sink.getvalue()))


@example(NOTHING)
@example(NO_MEMBERS)
@example(EVERY_FIELD)
@example(DOUBLE_CLAIM)
@given(rebalances())
def test_a_rebalance_survives_parquet(document: Document) -> None:
    before = rebalance_of(document)
    table = through_parquet(to_table([before]))
    assert table.schema == REBALANCES
    after = _only(list(from_table(table)))
    assert isinstance(after, Rebalance)
    assert to_json(after) == to_json(before)


@given(st.lists(ANSWERS, max_size=3))
def test_answers_survive_parquet_as_they_are(answers: list[Document]) -> None:
    """Everything that JSON carries: document, table, document, and equal."""
    before = [parse_assignment(orjson.dumps(answer)) for answer in answers]
    table = through_parquet(assignments_to_table(before))
    assert table.schema == ASSIGNMENTS
    assert list(assignments_from_table(table)) == before


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (AssignmentDocument, pa.struct(ASSIGNMENTS)),
        (Rebalance, pa.struct(REBALANCES)),
    ],
)
def test_columns_are_the_fields_of_documents(
    document: type[BaseModel], kind: pa.StructType
) -> None:
    """A field that is new in JSON has to be new in tables."""
    assert _names_of_columns(kind) == _names_of_fields(document)


def _names_of_columns(kind: pa.DataType) -> set[str]:
    if pa.types.is_map(kind):
        return _names_of_columns(kind.item_type)
    if pa.types.is_list(kind):
        return _names_of_columns(kind.value_type)
    if not pa.types.is_struct(kind) or kind == VALUE:
        return set()
    below = [_names_of_columns(field.type) for field in kind]
    names = zip((field.name for field in kind), below, strict=True)
    return {path for name, found in names for path in _under(name, found)}


def _names_of_fields(annotation: Any) -> set[str]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        return {
            path
            for name, field in fields
            for path in _under(name, _names_of_fields(field.annotation))
        }
    return set().union(*map(_names_of_fields, get_args(annotation)))


def _under(name: str, below: set[str]) -> set[str]:
    return {name, *(f"{name}.{path}" for path in below)}


@pytest.mark.parametrize(
    ("value", "filled"),
    [({"number": 1, "numbers": [1]}, 2), ({"number": None, "numbers": None}, 0)],
)
def test_a_value_is_one_kind_of_thing(value: Document, filled: int) -> None:
    answer = {
        "format": "assignment/1",
        "members": {},
        "objectives": [{"of": "load", "value": [1], "bound": 1}],
    }
    table = assignments_to_table([parse_assignment(orjson.dumps(answer))])
    (row,) = table.column("objectives").to_pylist()
    assert row[0]["value"] == {"number": None, "numbers": [1]}
    assert row[0]["bound"] == {"number": 1, "numbers": None}
    row[0]["value"] = value
    place = table.schema.get_field_index("objectives")
    kind = table.schema.field(place).type
    bent = table.set_column(place, "objectives", pa.array([row], type=kind))
    error = _only(list(assignments_from_table(bent)))
    assert isinstance(error, DocumentError)
    assert error.path == "$.objectives[0].value"
    assert error.reason == f"{filled} of the fields are filled; expected one"


def test_tables_from_before_policies_are_read() -> None:
    text = orjson.dumps({"format": "assignment/1", "members": {"a": {"t": [0]}}})
    before = parse_assignment(text)
    table = assignments_to_table([before])
    old = table.drop_columns(["policy", "objectives", "reason"])
    assert list(assignments_from_table(old)) == [before]


def test_other_integers_and_strings_are_read_too() -> None:
    table = to_table([rebalance_of(DOUBLE_CLAIM)])
    held = pa.map_(pa.large_string(), pa.large_list(pa.int32()))
    member = pa.struct([("subscription", pa.large_list(pa.string())), ("owned", held)])
    rows = [
        [
            (name, {"subscription": entry["subscription"], "owned": entry["owned"]})
            for name, entry in table.column("members").to_pylist()[0]
        ]
    ]
    members = pa.array(rows, type=pa.map_(pa.string(), member))
    found = _only(list(from_table(table.set_column(4, "members", members))))
    assert isinstance(found, Rebalance)
    assert found.members["c1"].owned == {"t": [0, 1]}


def test_a_bad_row_costs_that_row() -> None:
    good = to_table([rebalance_of(DOUBLE_CLAIM)])
    bad = good.set_column(0, "format", pa.array(["rebalance/2"]))
    found = list(from_table(pa.concat_tables([good, bad, good])))
    assert [isinstance(item, DocumentError) for item in found] == [False, True, False]
    assert isinstance(found[1], DocumentError)
    assert found[1].path == "$.format"


@pytest.mark.parametrize("column", ["format", "group", "topics", "members"])
def test_a_missing_column_is_a_missing_field(column: str) -> None:
    table = to_table([rebalance_of(DOUBLE_CLAIM)]).drop_columns([column])
    error = _only(list(from_table(table)))
    assert isinstance(error, DocumentError)
    assert error.path == f"$.{column}"


def test_an_unknown_column_is_an_unknown_field() -> None:
    table = to_table([rebalance_of(DOUBLE_CLAIM)])
    table = table.append_column("note", pa.array(["x"]))
    error = _only(list(from_table(table)))
    assert isinstance(error, DocumentError)
    assert error.path == "$.note"


def test_a_member_listed_twice_is_refused_with_its_path() -> None:
    table = to_table([rebalance_of(DOUBLE_CLAIM)])
    twice = table.column("members").to_pylist()[0] * 2
    members = pa.array([twice], type=table.schema.field("members").type)
    error = _only(list(from_table(table.set_column(4, "members", members))))
    assert isinstance(error, DocumentError)
    assert error.path == "$.members.c1"
    assert "twice" in error.reason


def test_no_rows_make_no_documents() -> None:
    table = to_table([])
    assert table.schema == REBALANCES
    assert list(from_table(table)) == []
