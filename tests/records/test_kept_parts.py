"""Parts of values that are kept decoded: as decoded anew, of sound and damaged records.

Reaches into the decoders of groups to compare them with themselves without what they
keep.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import Record, decode_record
from pipeline.records import consumer_records as consumer
from pipeline.records import group_records as classic
from rebalance import WireError
from tests.wire import attempt, churn
from tests.wire_strategies import damaged

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (2, 7, 8)
"""Types of records of which parts are kept."""
RECORDS = tuple(
    (key, value)
    for key, value in churn()
    if value is not None and int.from_bytes(key[:2]) in KINDS
)
KEYS = {int.from_bytes(key[:2]): key for key, _ in RECORDS}
VALUES = tuple(value for _, value in RECORDS)


@contextmanager
def nothing_kept() -> Iterator[None]:
    with (
        patch.object(classic, "_kept_members", return_value=None),
        patch.object(consumer, "_only_partitions", return_value=None),
    ):
        yield


def decoded(kind: int, value: bytes) -> Record | tuple[str, int]:
    found = attempt(lambda data: decode_record(KEYS[kind], data), value)
    if isinstance(found, WireError):
        return found.reason, found.offset
    return found


def test_recorded_values() -> None:
    found = [decode_record(key, value) for key, value in RECORDS]
    with nothing_kept():
        assert found == [decode_record(key, value) for key, value in RECORDS]


@given(kind=st.sampled_from(KINDS), value=damaged(VALUES))
def test_damaged_values(kind: int, value: bytes) -> None:
    found = decoded(kind, value)
    with nothing_kept():
        assert found == decoded(kind, value)
