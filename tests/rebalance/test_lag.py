"""Lag from offsets, compared with KIP-169's cases and partition by partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance import NOT_COMMITTED, OffsetReset, lag_of

RESETS = st.sampled_from(OffsetReset)
LOGS = st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)).map(sorted)
OFFSETS = st.none() | st.integers(0, 2**63 - 1)


def lag(committed: int | None, earliest: int, latest: int, reset: OffsetReset) -> int:
    at = NOT_COMMITTED if committed is None else committed
    column, first, end = (
        np.array([offset], np.int64) for offset in (at, earliest, latest)
    )
    return int(lag_of(column, first, end, reset)[0])


@pytest.mark.parametrize(
    ("committed", "earliest", "latest", "reset", "ahead"),
    [
        (5555, 1111, 9999, OffsetReset.NONE, 4444),
        (5555, 0, 0, OffsetReset.NONE, 0),
        (None, 1111, 9999, OffsetReset.LATEST, 0),
        (None, 1111, 9999, OffsetReset.EARLIEST, 8888),
        (None, 1111, 9999, OffsetReset.NONE, 8888),
        (0, 0, 10, OffsetReset.LATEST, 10),
    ],
)
def test_counts_as_the_author_of_kip_169(
    committed: int | None, earliest: int, latest: int, reset: OffsetReset, ahead: int
) -> None:
    assert lag(committed, earliest, latest, reset) == ahead


@pytest.mark.parametrize("reset", OffsetReset)
def test_records_that_are_gone_are_not_ahead(reset: OffsetReset) -> None:
    assert lag(10, 90, 100, reset) == 10  # KIP-169's author: 90


@given(LOGS, OFFSETS, RESETS)
def test_lag_is_the_number_of_records_to_be_read(
    log: list[int], committed: int | None, reset: OffsetReset
) -> None:
    start = log[1] if reset is OffsetReset.LATEST else log[0]
    ahead = range(max(log[0], start if committed is None else committed), log[1])
    assert lag(committed, log[0], log[1], reset) == max(0, ahead.stop - ahead.start)


def test_partitions_are_independent() -> None:
    committed = np.array([NOT_COMMITTED, 3, 9], np.int64)
    earliest, latest = np.array([2, 0, 0]), np.array([8, 4, 4])
    assert lag_of(committed, earliest, latest, OffsetReset.EARLIEST).tolist() == [
        6,
        1,
        0,
    ]
    none = np.zeros(0, np.int64)
    assert lag_of(none, none, none, OffsetReset.LATEST).tolist() == []
