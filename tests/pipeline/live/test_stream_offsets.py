"""Offsets of the stream: what a batch reads, and when the log is another one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.live import (
    LogRange,
    ReplacedLogError,
    first_offsets,
    latest_offsets,
    packed,
    ranges_between,
)

BOUNDS = [
    LogRange(partition=0, start=5, end=9),
    LogRange(partition=10, start=0, end=3),
    LogRange(partition=2, start=4, end=4),
]


def between(start: dict[str, int], end: dict[str, int]) -> list[tuple[int, int, int]]:
    found = ranges_between(start, end, BOUNDS)
    return [(range_.partition, range_.start, range_.end) for range_ in found]


def test_a_stream_begins_at_the_beginning_and_ends_at_the_end() -> None:
    first, latest = first_offsets(BOUNDS), latest_offsets(None, BOUNDS)
    assert first == {"0": 5, "10": 0, "2": 4}
    assert latest == {"0": 9, "10": 3, "2": 4}
    assert between(first, latest) == [(0, 5, 9), (10, 0, 3)]


def test_a_batch_continues_where_the_one_before_ended() -> None:
    assert between({"0": 7, "10": 3, "2": 4}, {"0": 9, "10": 3, "2": 4}) == [(0, 7, 9)]
    assert between({"0": 7}, {"0": 7}) == []


def test_deleted_offsets_are_left_out() -> None:
    assert between({"0": 2}, {"0": 9}) == [(0, 5, 9)]
    assert between({"0": 2}, {"0": 4}) == []


def test_a_new_partition_is_read_from_its_beginning() -> None:
    assert between({"10": 3}, {"0": 9, "10": 3}) == [(0, 5, 9)]


@pytest.mark.parametrize(
    ("read", "what"),
    [
        ({"0": 10}, "partition 0 of __consumer_offsets ends at offset 9, but was read"),
        ({"1": 1}, "partition 1 of __consumer_offsets does not exist any more"),
    ],
)
def test_a_log_that_lost_its_end_is_an_error(read: dict[str, int], what: str) -> None:
    """A topic that was created again is not taken for a continuation."""
    with pytest.raises(ReplacedLogError, match=what):
        latest_offsets(read, BOUNDS)
    with pytest.raises(ReplacedLogError, match="another --out to begin anew"):
        between(read, {"0": 9})


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 25)), max_size=6),
    st.integers(1, 12),
)
def test_tasks_have_every_offset_once_and_few_each(
    parts: list[tuple[int, int]], most: int
) -> None:
    whole = [
        LogRange(partition=number, start=start, end=start + length)
        for number, (start, length) in enumerate(parts)
    ]
    tasks = packed(whole, most)
    lengths = [sum(range_.end - range_.start for range_ in task) for task in tasks]
    assert all(0 < length <= most for length in lengths)
    assert all(a + b > most for a, b in pairwise(lengths)) or not tasks
    assert [
        (range_.partition, offset)
        for task in tasks
        for range_ in task
        for offset in range(range_.start, range_.end)
    ] == [
        (range_.partition, offset)
        for range_ in whole
        for offset in range(range_.start, range_.end)
    ]
