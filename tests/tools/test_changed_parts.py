"""The parts whose mutants are tried: those that changed since a night that passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.repositories import commit, repository, write
from tests.tools.test_mutation import outcome
from tools import mutation
from tools.mutation import (
    MOST_PARTS,
    PartOutcome,
    parts_since_passed,
)
from tools.mutation_parts import PARTS, MutationPart, changed_parts
from tools.nightly_passed import PASSED, write_passed

ONE_FILE_EACH = {
    "solver/exact/core.py": "1\n",
    "solver/results.py": "2\n",
    "verify/judge.py": "3\n",
    "tests/verify/policy/test_answers.py": "4\n",
    "tests/verify/test_sums.py": "5\n",
    "tools/mutants.py": "6\n",
    "tools/other.py": "7\n",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose commit passed the nightly run, as the next commit says."""
    monkeypatch.delenv("GIT_DIR", raising=False)
    root = repository(tmp_path / "checkout", ONE_FILE_EACH)
    write_passed(commit(root), "today", root)
    commit(root)
    return root


def passed(root: Path) -> str:
    return (root / PASSED).read_text().splitlines()[-1][:7]


def test_no_part_is_tried_where_nothing_has_changed(checkout: Path) -> None:
    write(checkout, {"tools/other.py": "new\n", "tests/oracle/cli/test_it.py": "new\n"})
    line = f"mutation: no part changed since {passed(checkout)}: nothing to try"
    assert parts_since_passed(1, checkout) == ([], line)


def test_the_parts_that_have_changed_are_tried(checkout: Path) -> None:
    write(checkout, {"solver/exact/core.py": "new\n"})
    commit(checkout)
    write(checkout, {"tests/verify/test_sums.py": "new\n"})
    parts, line = parts_since_passed(1, checkout)
    assert [part.folder for part in parts] == ["solver/exact", "verify"]
    since = f"changed since {passed(checkout)}"
    assert line == f"mutation: 2 of {len(PARTS)} parts {since}: solver/exact, verify"


def test_deleted_and_untracked_modules_have_changed(checkout: Path) -> None:
    (checkout / "solver" / "results.py").unlink()
    write(checkout, {"heuristics/group/new.py": ""})
    parts, _ = parts_since_passed(1, checkout)
    assert [part.folder for part in parts] == ["solver", "heuristics/group"]


def test_of_many_parts_those_with_the_most_changed_files_are_tried(
    checkout: Path,
) -> None:
    folders = [part.folder for part in PARTS][: MOST_PARTS + 1]
    for number, folder in enumerate(folders):
        names = [f"{folder}/new_{i}.py" for i in range(number + 1)]
        write(checkout, dict.fromkeys(names, ""))
    parts, line = parts_since_passed(1, checkout)
    assert [part.folder for part in parts] == folders[:0:-1]
    changed, tried = line.split(f"parts changed since {passed(checkout)}: ")[1].split(
        "; those with the most changed files are tried: "
    )
    assert changed.split(", ") == folders
    assert tried.split(", ") == folders[:0:-1]


def test_a_change_of_the_tool_itself_draws_parts(checkout: Path) -> None:
    write(checkout, {"tools/mutants.py": "new\n", "verify/judge.py": "new\n"})
    parts, line = parts_since_passed(1, checkout)
    assert len(set(parts)) == MOST_PARTS
    assert set(parts) < set(PARTS)
    assert parts_since_passed(1, checkout) == (parts, line)
    assert any(parts_since_passed(i, checkout)[0] != parts for i in range(2, 5))
    names = ", ".join(part.folder for part in parts)
    since = f"tools/mutants.py changed since {passed(checkout)}"
    assert line == f"mutation: 4 of all {len(PARTS)} parts ({names}): {since}"


def test_parts_are_drawn_where_no_commit_is_known(checkout: Path) -> None:
    (checkout / PASSED).unlink()
    parts, line = parts_since_passed(1, checkout)
    assert len(set(parts)) == MOST_PARTS
    assert line.endswith("): there is no .ci/nightly-passed")


@pytest.mark.parametrize(
    ("file", "folders"),
    [
        ("solver/results.py", ["solver"]),
        ("solver/new/module.py", ["solver"]),
        ("solver/policy/module.py", ["solver/policy"]),
        ("solver/policy.py", ["solver"]),
        ("solver/exact/notes.md", []),
        ("solverless/module.py", []),
        ("tests/solver/test_limits.py", ["solver"]),
        ("tests/solver/cpsat/cases.py", ["solver/cpsat"]),
        ("tests/heuristics/test_sticky.py", ["heuristics"]),
        ("tests/heuristics/group/test_machine.py", ["heuristics/group"]),
        ("tests/verify/policy/test_answers.py", ["verify/policy"]),
        ("tests/support/strategies.py", []),
    ],
)
def test_a_file_belongs_to_parts(file: str, folders: list[str]) -> None:
    assert [part.folder for part in changed_parts([Path(file)])] == folders


def test_without_a_change_nothing_is_tried_or_copied(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutation, "ROOT", checkout)
    monkeypatch.setattr(mutation, "COPIES", checkout / "build" / "copies")
    monkeypatch.setattr("sys.argv", ["mutation", "--changed"])
    assert mutation.main() == 0
    assert capsys.readouterr().out.endswith(": nothing to try\n")
    assert not (checkout / "build").exists()


@pytest.mark.parametrize(("killed", "code"), [(5, 0), (0, 1)])
def test_of_changed_parts_each_has_its_floor(
    killed: int,
    code: int,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def tried_part(_: object, part: MutationPart, *__: object) -> PartOutcome:
        print(part.folder)
        return outcome(killed, 10 - killed - 1)

    write(checkout, {"verify/judge.py": "new\n"})
    monkeypatch.setattr(mutation, "ROOT", checkout)
    monkeypatch.setattr(mutation, "COPIES", checkout / "build" / "copies")
    monkeypatch.setattr(mutation, "try_part", tried_part)
    monkeypatch.setattr(mutation, "sample", lambda *_: [])
    monkeypatch.setattr("sys.argv", ["mutation", "--changed", "--workers=1"])
    assert mutation.main() == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(f"parts changed since {passed(checkout)}: verify")
    assert lines[1] == "verify"
    assert lines[2].startswith(
        f"mutation: 9 tried, {killed} killed, floors of the parts"
    )
