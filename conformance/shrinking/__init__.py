"""Shrinking: the smallest rebalance that still has an outcome of the same kind."""

from conformance.shrinking.ddmin import ddmin
from conformance.shrinking.reduction import reduce_rebalance
from conformance.shrinking.shrink import Shrinker, Shrunk
from conformance.shrinking.shrink_runs import (
    ShrinkSource,
    ShrinkTask,
    shrink_difference_task,
    shrink_task,
    shrunk_record,
)

__all__ = [
    "ShrinkSource",
    "ShrinkTask",
    "Shrinker",
    "Shrunk",
    "ddmin",
    "reduce_rebalance",
    "shrink_difference_task",
    "shrink_task",
    "shrunk_record",
]
