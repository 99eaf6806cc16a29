"""What is packed for Spark's workers."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.tools.repositories import write
from tools import workers
from tools.workers import copy_kernels, pack


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two modules, of which each has a compiled kernel."""
    root = tmp_path / "checkout"
    for module in ("flow", "levels"):
        kernel = f"solver/exact/__pycache__/{module}._f-3.py311"
        source = {f"solver/exact/{module}.py": f"the source of {module}"}
        write(root, source | {f"{kernel}.nbi": "", f"{kernel}.1.nbc": ""})
    (root / "heuristics").mkdir()
    monkeypatch.setattr(workers, "ROOT", root)
    return root


def test_kernels_are_copied_to_the_sources_that_they_are_of(
    checkout: Path, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    sources = {"flow.py": "the source of flow", "levels.py": "another source"}
    write(packages / "solver/exact", sources)
    assert copy_kernels(packages) == 2
    copied = sorted(path.name for path in packages.rglob("*.nb[ci]"))
    assert copied == ["flow._f-3.py311.1.nbc", "flow._f-3.py311.nbi"]


def test_the_archive_has_the_environment_without_its_installers(tmp_path: Path) -> None:
    venv = tmp_path / "env"
    packages = "lib/python3.11/site-packages"
    files = (
        "made-from",
        "pip.log",
        "pyvenv.cfg",
        "uv/bin/uv",
        f"{packages}/pip/main.py",
    )
    write(venv, dict.fromkeys((*files, f"{packages}/numba/pip.log"), ""))
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to("/usr/bin/python3")
    pack(venv, tmp_path / "env.tar.gz")
    with tarfile.open(tmp_path / "env.tar.gz") as file:
        items = {item.name: item for item in file.getmembers() if not item.isdir()}
    assert sorted(items) == ["bin/python", f"{packages}/numba/pip.log", "pyvenv.cfg"]
    assert items["bin/python"].linkname == "/usr/bin/python3"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["env", "env.tar.gz"]
