"""Waiting for executors.

Reaches into `pipeline.executors` to compare the waits with what a cluster states.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from unittest.mock import MagicMock, PropertyMock

import pytest

from pipeline.executors import CHECKS, wait_for_executors


def spark_of(cores: Sequence[int], *, is_stated: bool = False) -> MagicMock:
    """Pretend Spark on a cluster with these cores, one number per question."""
    spark = MagicMock()
    type(spark).defaultParallelism = PropertyMock(side_effect=cores)
    spark.getConf().contains.return_value = is_stated
    return spark


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each wait, none of which takes any."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


@pytest.mark.parametrize(
    ("cores", "count"),
    [
        ([2, 2, 2, 2], 3),
        ([2, 18, 34, 34, 34, 34], 5),
        ([2, 2, 2, 18, 18, 18, 18], 6),
        (range(CHECKS + 1), CHECKS),
    ],
)
def test_the_wait_ends_when_no_more_cores_are_added(
    waits: list[float], cores: Sequence[int], count: int
) -> None:
    spark = spark_of(cores)
    wait_for_executors(spark)
    spark.parallelize.return_value.count.assert_called_once_with()
    assert len(waits) == count


def test_a_stated_number_of_cores_is_not_waited_for(waits: list[float]) -> None:
    spark = spark_of([], is_stated=True)
    wait_for_executors(spark)
    spark.parallelize.assert_not_called()
    assert waits == []
