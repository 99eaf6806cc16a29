"""Comparison of instances column by column, with their types."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from rebalance import Instance


def same_columns(left: Instance, right: Instance) -> bool:
    """Return whether all columns are equal, and have equal types."""
    return _is_same(left, right)


def _is_same(value: Any, other: Any) -> bool:
    if isinstance(other, np.ndarray):
        return value.dtype == other.dtype and np.array_equal(value, other)
    if hasattr(other, "__dataclass_fields__"):
        return all(
            _is_same(getattr(value, field.name), getattr(other, field.name))
            for field in fields(other)
        )
    return bool(value == other)
