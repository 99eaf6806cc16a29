"""The check of what tests import: public names, or inner ones for a stated reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.repositories import write
from tools import inner_imports
from tools.inner_imports import InnerImport, imports, unexplained, unused_reasons

FILES = {
    "solver/__init__.py": '"""Engines."""\n__all__ = ["solve"]\n',
    "solver/engines.py": "",
    "solver/exact/__init__.py": '__all__ = ["prove"]\n',
    "solver/exact/flow.py": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def found(root: Path) -> list[InnerImport]:
    return [imported for imported, is_inner in imports(root) if is_inner]


@pytest.mark.heavy
def test_every_inner_import_of_the_tests_has_a_reason() -> None:
    every = list(imports())
    inner = [imported for imported, is_inner in every if is_inner]
    assert unexplained(inner) == []
    assert unused_reasons(inner) == []


def test_public_names_and_subpackages_are_no_inner_imports(root: Path) -> None:
    text = "from solver import exact, solve\nfrom solver.exact import prove\n"
    write(root, {"tests/test_it.py": text + "import numpy.linalg\nimport solver\n"})
    assert found(root) == []
    assert len(list(imports(root))) == 3


@pytest.mark.parametrize(
    ("line", "module", "names"),
    [
        ("from solver.exact.flow import cost", "solver.exact.flow", ("cost",)),
        ("from solver.exact import flow, prove", "solver.exact", ("flow",)),
        ("from solver import engines", "solver", ("engines",)),
        ("import solver.engines", "solver.engines", ()),
        ("importlib.import_module('solver.engines')", "solver.engines", ()),
    ],
)
def test_what_is_not_listed_is_inner(
    root: Path, line: str, module: str, names: tuple[str, ...]
) -> None:
    file = "tests/test_it.py"
    write(root, {file: f'"""Of engines."""\n{line}\n'})
    inner = found(root)
    assert inner == [InnerImport(file=file, line=2, module=module, names=names)]
    assert unexplained(inner, root) == [file]


def test_a_docstring_or_a_reason_explains_an_inner_import(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "from solver.exact.flow import cost\n"
    says = '"""Costs.\n\nReaches into `solver.exact` to compare them with sums.\n"""\n'
    silent = {"tests/cli/test_it.py": line, "tests/test_silent.py": line}
    write(root, {"tests/test_says.py": says + line} | silent)
    reasons = {"tests/cli/": "as a test", "tests/gone/": "is not there"}
    monkeypatch.setattr(inner_imports, "REASONS", reasons)
    assert unexplained(found(root), root) == ["tests/test_silent.py"]
    assert unused_reasons(found(root)) == ["tests/gone/"]
