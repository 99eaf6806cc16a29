"""Seeds of the window, and what a failure prints of the instance that it met.

Runs pytest on small modules, with the hooks of `tests.conftest`.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import amount
from tests.support.strategies import seeded_rebalance

TESTS = Path(__file__).parents[1]
AMOUNTS = {"INSTANCES", "QUICK", "share"}
VARIABLES = {"ORACLE_INSTANCES", "ORACLE_FIRST_SEED"}

DRAWN_IN_A_LOOP = """
from tests.support.amount import seeds
from tests.support.strategies import seeded_rebalance

def test_fails():
    for seed in seeds(9):
        document = seeded_rebalance(seed)
        assert seed % 10 < 3, "another text"
"""
CHANGED = """
from tests.support import last_drawn
from tests.support.amount import seeds
from tests.support.strategies import seeded_rebalance

def test_fails():
    for seed in seeds(9, first=40):
        document = seeded_rebalance(seed)
        last_drawn.note_changed({"changed": document})
        assert seed % 10 < 3
"""
FAILS_LATER = """
from tests.support.amount import seeds
from tests.support.strategies import seeded_rebalance

def test_passes():
    seeded_rebalance(1)

def test_fails():
    assert not seeds(9)
"""


def trees(words: set[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of `tests` that contain one of the words."""
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(TESTS).as_posix(), ast.parse(text)


def test_seeds_after_the_first_ones_of_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(amount, "FIRST_SEED", 100_000)
    assert amount.seeds(3) == range(100_000, 100_003)
    assert amount.seeds(2, first=3) == range(100_003, 100_005)


def test_ci_draws_from_zero() -> None:
    code = "from tests.support.amount import *; print(FIRST_SEED, seeds(2))"
    variables = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(
        command, cwd=TESTS.parent, env=variables, check=True, capture_output=True
    )
    assert ran.stdout == b"0 range(0, 2)\n"


def read_variables(tree: ast.AST) -> set[str]:
    """Return which of the variables a module reads from the environment."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Subscript(value=source, slice=ast.Constant(value=str(name)))
                | ast.Call(func=source, args=[ast.Constant(value=str(name)), *_])
            ) if names_in(source) & {"environ", "getenv"}:
                found.add(name)
    return found & VARIABLES


def test_the_amount_alone_reads_the_environment() -> None:
    """Whatever else reads them would have another default, or another window."""
    for text in ("os.environ['{}']", "environ.get('{}', 1)", "os.getenv('{}')"):
        for name in VARIABLES:
            assert read_variables(ast.parse(text.format(name))) == {name}
    modules = trees(VARIABLES)
    found = {name: read for name, tree in modules if (read := read_variables(tree))}
    assert found == {"support/amount.py": VARIABLES}


def fixed_ranges(tree: ast.Module) -> list[str]:
    """List the loops from 0 whose count is an amount: the same ones every night."""
    amounts = AMOUNTS | {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and names_in(node.value) & AMOUNTS
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and names_in(node.func) == {"range"}
        and any(names_in(argument) & amounts for argument in node.args)
    ]


def names_in(tree: ast.AST) -> set[str]:
    """Return the names of an expression, and those of attributes."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }


@pytest.mark.heavy
def test_no_loop_of_an_amount_begins_at_zero() -> None:
    for text in (
        "range(min(9, INSTANCES // 2))",
        "range(3, share(1, 2))",
        "range(amount.INSTANCES)",
        "COUNT = share(1, 2)\nrange(COUNT)",
    ):
        assert len(fixed_ranges(ast.parse(text))) == 1, text
    modules = trees(AMOUNTS)
    found = {name: ranges for name, tree in modules if (ranges := fixed_ranges(tree))}
    assert found == {}


def failed(folder: Path, source: str) -> str:
    """Run a module of which a test fails; return what pytest prints."""
    module = folder / "test_it.py"
    module.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-q"]
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(folder), str(module)],
        cwd=TESTS.parent,
        env=os.environ | {"ORACLE_FIRST_SEED": "50000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("source", "seed", "document"),
    [
        (DRAWN_IN_A_LOOP, 50_003, seeded_rebalance(50_003)),
        (CHANGED, 50_043, {"changed": seeded_rebalance(50_043)}),
    ],
    ids=["drawn", "changed"],
)
def test_a_failure_prints_the_seed_and_the_instance(
    source: str, seed: int, document: object, tmp_path: Path
) -> None:
    printed = failed(tmp_path, source)
    (line,) = (line for line in printed.splitlines() if line.startswith("seed "))
    seed_text, _, text = line.partition(": ")
    assert seed_text == f"seed {seed}"
    assert json.loads(text) == document


@pytest.mark.heavy
def test_a_failure_prints_nothing_that_another_test_drew(tmp_path: Path) -> None:
    assert "last rebalance drawn" not in failed(tmp_path, FAILS_LATER)
