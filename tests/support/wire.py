"""Recorded bytes of real programs, read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet as pq

from rebalance import WireError

TESTS = Path(__file__).parents[1]
RECORDINGS = TESTS.parent / "recordings"

S = TypeVar("S")
T = TypeVar("T")
RecordBytes = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMember:
    client: str
    group: str
    generation: int
    assignor: str
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """A message as Java wrote it, and the fields it was given."""

    message: str
    version: int
    fields: dict[str, Any]
    data: bytes


def attempt(decode: Callable[[S], T], data: S) -> T | WireError:
    """Return what is read, or the one error that reading may raise."""
    try:
        return decode(data)
    except WireError as error:
        return error


def lines(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as rows:
        return [json.loads(row) for row in rows]


@cache
def recorded_members() -> tuple[RecordedMember, ...]:
    return tuple(
        RecordedMember(
            client=row["client"],
            group=row["group"],
            generation=row["generation"],
            assignor=row["assignor"],
            subscription=bytes.fromhex(row["subscription"]),
            assignment=bytes.fromhex(row["assignment"]),
        )
        for row in lines(TESTS / "data/wire/members.jsonl")
    )


@cache
def recorded_records() -> tuple[RecordBytes, ...]:
    return tuple(_record(row) for row in lines(TESTS / "data/wire/records.jsonl"))


@cache
def java(message: str) -> tuple[Vector, ...]:
    return tuple(
        Vector(
            message=row["message"],
            version=row["version"],
            fields=row["fields"],
            data=bytes.fromhex(row["hex"]),
        )
        for file in ("java-4.3.1.jsonl", "java-4.4.0.jsonl")
        for row in lines(TESTS / "data/wire" / file)
        if row["message"] == message
    )


@cache
def churn() -> tuple[RecordBytes, ...]:
    """Every record of the long recording."""
    path = RECORDINGS / "churn/consumer_offsets.parquet"
    columns = pq.read_table(path, columns=["key", "value"]).to_pydict()
    return tuple(zip(columns["key"], columns["value"], strict=True))


@cache
def first_look() -> tuple[RecordBytes, ...]:
    """Every record of the short recording."""
    paths = sorted((RECORDINGS / "first-look").glob("consumer_offsets*.jsonl"))
    return tuple(_record(row) for path in paths for row in lines(path))


def _record(row: dict[str, Any]) -> RecordBytes:
    value = row["value"]
    return bytes.fromhex(row["key"]), None if value is None else bytes.fromhex(value)
