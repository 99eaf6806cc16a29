"""Comparison of instances column by column, with their types."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from rebalance import Instance


def same_columns(left: Instance, right: Instance) -> bool:
    """Return whether all columns are equal, and have equal types."""
    return _is_same(left, right)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(other, "__dataclass_fields__"):
        return all(
            _is_same(getattr(one, field.name), getattr(other, field.name))
            for field in fields(other)
        )
    return bool(one == other)
