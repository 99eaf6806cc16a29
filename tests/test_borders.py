"""The import contracts hold, and each is violated once on purpose in a copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]
SHIPPED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

JUDGE = "judge-alone"
BREACHES = [
    ("layers", "rebalance", "import solver"),
    ("layers", "solver", "import heuristics"),
    ("layers", "heuristics", "import solver"),
    ("layers", "pipeline", "import oracle"),
    ("layers", "solver", "import pipeline"),
    (JUDGE, "verify", "import numpy"),
    (JUDGE, "verify", "from rebalance import errors"),
    ("judge-apart", "solver", "import verify"),
    ("judge-apart", "heuristics", "def late() -> None:\n    import verify"),
    ("judge-apart", "rebalance", "import verify"),
    ("judge-core", "verify", "from verify.policy.notation import read_policy"),
    ("judge-core", "verify.command", "def late() -> None:\n    import verify.policy"),
    ("two-programs", "solver.cpsat", "from solver.milp import columns"),
    ("two-programs", "solver.milp", "from solver import cpsat"),
    ("circles", "solver.policy", "from solver import objectives"),
    ("circles", "solver.exact", "from solver import engines"),
    ("spark", "oracle", "from pyspark.sql import DataFrame"),
    ("spark", "rebalance", "import pyspark"),
    ("groups-without-spark", "pipeline.groups", "from pipeline import session"),
    ("init-of-rebalance", "heuristics", "from rebalance.claims import NOBODY"),
    ("init-of-solver", "pipeline", "from solver.exact import min_cost_flow"),
    ("init-of-heuristics", "pipeline", "from heuristics import order"),
    ("init-of-verify", "oracle", "from verify.rules import rows_of"),
    ("init-of-conformance", "oracle", "from conformance.corpus import scenarios"),
    ("init-of-pipeline", "oracle", "import pipeline.session"),
    ("init-of-oracle", "conformance", "import oracle.cli"),
]


def lint_imports(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(
        [*command, *arguments], cwd=tree, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("borders")
    for name in CONTRACTS["root_packages"]:
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.mark.heavy
def test_all_contracts_hold() -> None:
    linted = lint_imports(ROOT)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.heavy
@pytest.mark.parametrize(("contract", "package", "line"), BREACHES)
def test_a_breach_is_found(tree: Path, contract: str, package: str, line: str) -> None:
    breach = tree.joinpath(*package.split("."), "breach.py")
    breach.write_text(f"{line}\n")
    try:
        linted = lint_imports(tree, "--contract", contract)
    finally:
        breach.unlink()
    assert linted.returncode == 1, linted.stdout
    expected = f"{package}.breach"
    if contract == "circles":  # names the parts that should not know each other
        expected = f".{package.rpartition('.')[2]} -> .{line.rsplit(maxsplit=1)[-1]}"
    assert expected in linted.stdout


@pytest.mark.heavy
def test_the_untouched_copy_is_clean(tree: Path) -> None:
    assert lint_imports(tree).returncode == 0


def test_every_contract_is_broken_here() -> None:
    """A new contract needs a breach above."""
    known = {contract["id"] for contract in CONTRACTS["contracts"]}
    assert {contract for contract, _, _ in BREACHES} == known


def test_every_package_is_under_contract() -> None:
    """A folder that ships and has code must not escape the contracts."""
    there = {name for name in SHIPPED if (ROOT / name / "__init__.py").exists()}
    assert set(CONTRACTS["root_packages"]) == there


def test_the_judge_is_allowed_the_standard_library_only() -> None:
    (alone,) = [found for found in CONTRACTS["contracts"] if found["id"] == JUDGE]
    allowed = {line.removeprefix("verify.** -> ") for line in alone["ignore_imports"]}
    assert alone["forbidden_modules"] == ["*"]
    assert allowed <= sys.stdlib_module_names
