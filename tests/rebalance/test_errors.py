"""Errors name the offending object, also after pickling."""

from __future__ import annotations

import pickle

import pytest

from rebalance import (
    DocumentError,
    InstanceError,
    OracleError,
    OutputError,
    OutsideError,
    SourceError,
    WireError,
)

ERRORS = [
    (
        DocumentError("bad", path="$.a", source="f.jsonl", line=3),
        "f.jsonl:3: $.a: bad",
        2,
    ),
    (DocumentError("bad", source="f.json"), "f.json: $: bad", 2),
    (DocumentError("bad"), "$: bad", 2),
    (InstanceError("too big", subject="t0"), "too big: 't0'", 2),
    (WireError("cut", offset=7), "at byte 7: cut", 2),
    (SourceError("empty", source="f"), "f: empty", 2),
    (SourceError("empty", source="f", line=2), "f:2: empty", 2),
    (OutputError("full", target="out"), "out: full", 2),
    (OutsideError("no Java"), "no Java", 3),
]


@pytest.mark.parametrize(("error", "message", "code"), ERRORS)
def test_message_and_exit_code(error: OracleError, message: str, code: int) -> None:
    assert str(error) == message
    assert error.exit_code == code


@pytest.mark.parametrize("error", [error for error, _, _ in ERRORS])
def test_errors_survive_pickling(error: OracleError) -> None:
    back = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_a_place_can_be_added() -> None:
    placed = DocumentError("bad", path="$.a").at(source="f", line=9)
    assert (placed.reason, placed.path, placed.source, placed.line) == (
        "bad",
        "$.a",
        "f",
        9,
    )
