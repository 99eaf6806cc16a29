"""Small files are answered by interpreted kernels, with the same bytes.

Reaches into `rebalance.compiled` and `solver.exact` to compare each kernel with itself,
compiled and interpreted.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oracle.cli.input import small_input
from oracle.cli.input.small_input import (
    BYTES_MAX,
    OF_ALL_ASSIGNORS,
    OF_ONE_ANSWER,
    interpret_if_small,
)
from oracle.cli.options.limit_options import Allowed
from tests.support import last_drawn
from tests.support.amount import seeds, share
from tests.support.shapes import SHAPES, member, rebalance
from tests.support.strategies import INT64_MAX, LARGER, TINY, seeded_rebalance

ROOT = Path(__file__).parents[3]
SMALL = rebalance({"t": 4}, {"a": member(["t"], {"t": [0, 1, 2]}), "b": member(["t"])})

ANSWERS = """
import sys, warnings
from rebalance import InstanceError, interpret_kernels

warnings.simplefilter("error")  # compiled kernels wrap around without one
if sys.argv[1] == "interpreted":
    assert interpret_kernels()

from heuristics import ASSIGNORS
from oracle.comparison import comparison_of
from rebalance import (
    document_of, instance_of, kernels_are_interpreted, parse_rebalance, to_json
)
from solver import parse_policy, solve
from solver.exact import solve_without_closed_form

POLICIES = list(map(parse_policy, (
    "dec-min; stickiness", "dec-min; stickiness, rack", "per-topic; stickiness",
    "none; load, stickiness",
)))


def show(what, compute):
    try:
        print(what, compute())
    except InstanceError as error:
        print(what, error)


def solved(instance, policy=None):
    result = solve(instance, policy) if policy else solve_without_closed_form(instance)
    return to_json(result.to_document(instance)).decode()


def assigned(instance, assignor):
    assignment = assignor.assign(instance)
    return to_json(document_of(instance, assignment, assignor=assignor.name)).decode()


for place, line in enumerate(sys.stdin):
    instance = instance_of(parse_rebalance(line))
    for policy in POLICIES:
        show(f"{place} {policy}", lambda: solved(instance, policy))
    show(f"{place} general", lambda: solved(instance))
    for name, assignor in ASSIGNORS.items():
        if assignor.refuses(instance) is None:
            show(f"{place} {name}", lambda: assigned(instance, assignor))
loaded = {"numba" in sys.modules, not kernels_are_interpreted()}
assert loaded == {sys.argv[1] == "compiled"}, loaded
"""


def answers(mode: str, lines: str) -> list[str]:
    """Return all answers of a process with interpreted or compiled kernels."""
    ended = subprocess.run(
        [sys.executable, "-c", ANSWERS, mode],
        input=lines,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.removesuffix("\n").split("\n")


@pytest.mark.parametrize(
    ("count", "step"),
    [(0, 5), pytest.param(share(40, 400), 1, marks=pytest.mark.heavy)],
)
def test_interpreted_kernels_give_the_same_bytes(count: int, step: int) -> None:
    """With drawn rebalances, and one of so many named shapes."""
    drawn = {
        seed: seeded_rebalance(seed, (TINY, LARGER)[seed % 2]) for seed in seeds(count)
    }
    large = rebalance(
        {
            "t": {"partitions": 3, "lag": [INT64_MAX - 2, 1, 0]},
            "u": {"partitions": 2, "lag": [1, 0]},
        },
        {
            "a": member(["t"], {"t": [0]}, capacity=INT64_MAX),
            "b": member(["t", "u"], {"u": [1]}, capacity=INT64_MAX - 1),
            "c": member(["u"], capacity=1),
        },
    )
    shapes = [*SHAPES.items()][::step]
    documents = [*shapes, ("large", large), *drawn.items()]
    lines = "".join(f"{json.dumps(document)}\n" for _, document in documents)
    interpreted = answers("interpreted", lines)
    assert len(interpreted) > 5 * len(documents)
    for line, other in zip(interpreted, answers("compiled", lines), strict=True):
        seed, document = documents[int(line.split()[0])]
        last_drawn.note(document, seed)
        assert line == other


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command, and list what it imported on standard error."""
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "oracle", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def written(folder: Path, *documents: dict[str, Any]) -> str:
    path = folder / "given.json"
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return str(path)


@pytest.mark.heavy
def test_a_small_file_is_solved_without_a_compiler(tmp_path: Path) -> None:
    ended = run("solve", written(tmp_path, SMALL))
    assert json.loads(ended.stdout)["status"] == "optimal"
    assert "solver.exact" in ended.stderr
    assert "numba" not in ended.stderr


@pytest.mark.parametrize("limit", [OF_ONE_ANSWER, OF_ALL_ASSIGNORS])
def test_what_is_not_small_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: small_input.Small
) -> None:
    calls = switched(monkeypatch)

    def is_small(*documents: dict[str, Any], allowed: Allowed | None = None) -> bool:
        calls.clear()
        interpret_if_small(written(tmp_path, *documents), limit, allowed)
        return calls == [True]

    def group(partitions: int, members: int) -> dict[str, Any]:
        return rebalance(
            {"t": partitions}, {f"m{i}": member(["t"]) for i in range(members)}
        )

    most, many = limit.partitions, limit.members
    assert is_small(group(most, many))
    assert not is_small(group(most + 1, many)), "few bytes, many partitions"
    assert not is_small(group(most, many + 1))
    assert is_small(group(most - 3, many - 3), group(3, 3))
    assert not is_small(group(most, 1), group(1, 1)), "the documents together"
    assert not is_small(group(1, many), group(1, 1)), "the documents together"
    assert not is_small({**SMALL, "group": "g" * BYTES_MAX})
    assert not is_small({"format": "none"}), "an error is reported as before"
    assert not is_small(SMALL, allowed=Allowed(time_limit=1.0))
    assert is_small(SMALL, allowed=Allowed())


def switched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Allow to interpret, and return a list that grows instead of doing so."""
    calls: list[bool] = []
    monkeypatch.setattr(small_input._CommandProcess, "runs_one_command", True)
    monkeypatch.setattr("rebalance.interpret_kernels", lambda: calls.append(True))
    return calls


def test_packed_files_are_measured_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = switched(monkeypatch)
    path = tmp_path / "given.json.gz"
    for partitions in (4, OF_ONE_ANSWER.partitions + 1):
        document = rebalance({"t": partitions}, {"a": member(["t"])})
        path.write_bytes(gzip.compress(json.dumps(document).encode()))
        interpret_if_small(str(path))
    assert calls == [True]


def test_only_regular_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe can be read once; nothing is read from it here, or this would wait."""
    calls = switched(monkeypatch)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in (str(pipe), str(tmp_path), "-", "", "a\0b", str(tmp_path / "none")):
        interpret_if_small(name)
    interpret_if_small(None)
    assert calls == []


def test_a_process_with_more_to_do_stays_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests run commands in one process, and so does a notebook."""
    calls = switched(monkeypatch)
    monkeypatch.setattr(small_input._CommandProcess, "runs_one_command", False)
    interpret_if_small(written(tmp_path, SMALL))
    assert calls == []


@pytest.mark.heavy
def test_kernels_are_interpreted_only_before_one_is_compiled() -> None:
    code = (
        "import solver.exact\n"
        "from rebalance import interpret_kernels, kernels_are_interpreted\n"
        "assert not interpret_kernels() and not kernels_are_interpreted()\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
