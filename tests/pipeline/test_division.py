"""An audit divides its reading by the bytes of its sources, evenly between cores.

Reaches into `pipeline.audit.steps` to compare the division with the sentences of its
constants: no output shows it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.audit.steps import division_of

MEBIBYTE = 1 << 20


@pytest.mark.parametrize(
    ("cores", "length", "asked", "tasks"),
    [
        (2, 100, None, 2),
        (2, 7 * MEBIBYTE, None, 2),
        (2, 11 * MEBIBYTE, None, 4),
        (2, 900 * MEBIBYTE, None, 8),
        (3, 11 * MEBIBYTE, None, 3),
        (16, 11 * MEBIBYTE, None, 16),
        (2, 900 * MEBIBYTE, 5, 5),
    ],
)
def test_each_core_has_as_many_tasks(
    cores: int, length: int, asked: int | None, tasks: int
) -> None:
    """Two MiB of sources per task, and four tasks per core at most."""
    spark: Any = SimpleNamespace(defaultParallelism=cores)
    found: Any = SimpleNamespace(files=[SimpleNamespace(length=length)], live=None)
    assert division_of(spark, found, asked).tasks == tasks
