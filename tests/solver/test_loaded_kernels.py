"""Which kernels a process loaded or compiled, by the statistics of numba.

Reaches into `solver.kernels` for the look-up of stored kernels. The kernels are made
here, and none is compiled: the test also holds with kernels that run interpreted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

from solver import compiled_kernels, requested_kernels
from solver.kernels import _has_index


def kernel() -> int:
    """Be something that could be compiled."""
    return 1


def dispatcher(*, hits: int = 0, misses: int = 0) -> Any:
    """Return a kernel that was loaded and compiled so many times."""
    made: Any = CPUDispatcher(kernel)
    made._cache_hits["(int64,)"] += hits
    made._cache_misses["(float64,)"] += misses
    return made


NAME = f"{__name__}.kernel"


def place(monkeypatch: pytest.MonkeyPatch, name: str, **kernels: Any) -> None:
    """Put a module with these kernels among the loaded ones."""
    module = ModuleType(name)
    vars(module).update(kernels)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("module", ["solver.made_up", "heuristics.made.up", "pipeline"])
def test_kernels_of_every_package_are_counted(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    assert NAME not in compiled_kernels()
    place(monkeypatch, module, one=dispatcher(misses=1), other=17)
    assert compiled_kernels().count(NAME) == 1
    assert f"{NAME} (float64,)" in requested_kernels()


def test_a_loaded_kernel_was_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    place(monkeypatch, "solver.made_up", one=dispatcher(hits=2))
    assert NAME not in compiled_kernels()
    assert f"{NAME} (int64,)" in requested_kernels()


def test_a_kernel_that_two_modules_name_is_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = dispatcher(misses=1)
    place(monkeypatch, "solver.first", one=shared)
    place(monkeypatch, "solver.second", one=shared)
    assert compiled_kernels().count(NAME) == 1


def test_kernels_of_other_packages_are_not_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place(monkeypatch, "solvers.made_up", one=dispatcher(misses=1))
    place(monkeypatch, "made_up.solver", one=dispatcher(misses=1))
    assert NAME not in compiled_kernels()


def test_a_kernel_is_stored_if_the_folder_has_its_index(tmp_path: Path) -> None:
    def stored(folder: Path | None) -> bool:
        stats = SimpleNamespace(cache_path=folder and str(folder))
        made: Any = SimpleNamespace(stats=stats, py_func=kernel)
        return _has_index(made)

    assert not stored(None)
    assert not stored(tmp_path)
    (tmp_path / "code.other-12.py311.nbi").touch()
    assert not stored(tmp_path)
    (tmp_path / "code.kernel-12.py311.nbi").touch()
    assert stored(tmp_path)
