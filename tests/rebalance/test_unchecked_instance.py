"""An instance that is made without checks equals one that is made with them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from rebalance import Instance
from tests.heuristics.routes import instance
from tests.support.shapes import member, rebalance


def test_instance_of_columns_has_all_fields_and_is_read_only() -> None:
    laid_out = instance(
        rebalance(
            {"t": {"partitions": 3, "lag": [1, 2, 3]}},
            {"a": member(["t"], owned={"t": [0]}), "b": member(["t"])},
        )
    )
    stated = {field.name: getattr(laid_out, field.name) for field in fields(Instance)}
    copied = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in stated.items()
    }
    found = Instance.of_columns(**copied)
    for name, value in stated.items():
        np.testing.assert_array_equal(getattr(found, name), value)
    with pytest.raises(ValueError, match="read-only"):
        found.owner[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        found.topic_offsets[0] = 1
