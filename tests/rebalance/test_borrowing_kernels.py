"""Kernels that count no references return no array, and call only their like.

Reaches into `rebalance.kernel_cache`, which names the packages that have kernels.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from rebalance import Int64, borrowing_kernel, kernel
from rebalance.kernel_cache import PACKAGES

ROOT: Final = Path(__file__).parents[2]
COUNTS, BORROWS = ("kernel", "always_compiled"), "borrowing_kernel"
NUMBERS: Final = {"int", "bool", "float", "tuple", "None"}


def kernels() -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Yield the module, the decorator, and the definition of each kernel."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    for by in map(ast.unparse, node.decorator_list):
                        if by in (*COUNTS, BORROWS):
                            yield str(path.relative_to(ROOT)), by, node


ALL: Final = list(kernels())
BORROWING: Final = {
    f"{module}:{node.name}": node for module, by, node in ALL if by == BORROWS
}


def called(node: ast.FunctionDef) -> set[str]:
    return {
        call.func.id
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }


@pytest.mark.parametrize("name", BORROWING)
def test_numbers_are_returned_and_no_arrays(name: str) -> None:
    returned = BORROWING[name].returns
    assert returned is not None
    names = {n.id for n in ast.walk(returned) if isinstance(n, ast.Name)}
    assert names <= NUMBERS


@pytest.mark.parametrize("name", BORROWING)
def test_no_kernel_is_called_that_counts(name: str) -> None:
    module, _ = name.split(":")
    calls = called(BORROWING[name])
    here = {node.name: by for where, by, node in ALL if where == module}
    elsewhere = {node.name for _, by, node in ALL if by in COUNTS} - here.keys()
    assert not calls & elsewhere
    assert not [callee for callee in calls if here.get(callee) in COUNTS]


@borrowing_kernel
def add_to_first(numbers: Int64, other: Int64) -> int:
    for place in range(other.size):
        numbers[0] += other[place]
    return int(numbers[0])


@kernel
def add_halves(numbers: Int64) -> int:
    own = np.zeros(1, np.int64)
    add_to_first(own, numbers[: numbers.size // 2])
    return add_to_first(own, numbers[numbers.size // 2 :])


def test_arrays_are_neither_kept_nor_freed() -> None:
    numbers = np.arange(1_000)
    before = sys.getrefcount(numbers)
    for _ in range(100):
        assert add_halves(numbers) == 499_500
        assert add_to_first(numbers.copy(), numbers[:0]) == 0
    assert sys.getrefcount(numbers) == before
    assert numbers.sum() == 499_500
