"""Processes that compile at the same time share numba's cache without a loss."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from tools.kernels import take_turns

KEYS = 120
WRITERS = 2


def cache_of(folder: Path) -> Any:
    untyped: Any = IndexDataCacheFile
    return untyped(str(folder), "kernel", source_stamp=1)


def write(folder: Path, writer: int, together: Barrier) -> None:
    """Save a signature per key of this writer, and read each again."""
    take_turns()
    cache = cache_of(folder)
    together.wait(timeout=120)
    for key in range(KEYS):
        cache.save((writer, key), f"{writer}/{key}")
        assert cache.load((writer, key)) == f"{writer}/{key}"


@pytest.mark.heavy
def test_no_signature_is_lost_or_mixed_up(tmp_path: Path) -> None:
    context = get_context("spawn")
    together = context.Barrier(WRITERS)
    writers = [
        context.Process(target=write, args=(tmp_path, writer, together))
        for writer in range(WRITERS)
    ]
    for process in writers:
        process.start()
    for process in writers:
        process.join(timeout=120)
        assert process.exitcode == 0
    cache = cache_of(tmp_path)
    for writer in range(WRITERS):
        for key in range(KEYS):
            assert cache.load((writer, key)) == f"{writer}/{key}"
