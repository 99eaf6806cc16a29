"""The sample of mutants: what is drawn, what is counted, and when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import mutation
from tools.mutants import KILLED, SURVIVED, Mutant, Verdict
from tools.mutation import Outcome, Workshop, modules_of, sample, tried
from tools.mutation_parts import PARTS, Part

ROOT = Path(__file__).resolve().parents[2]
CODE = """
def add(a: int, b: int) -> int:
    return a + b


def unseen(a: int) -> int:
    return a - 1
"""
TESTS = """
from package.code import add


def test_add():
    assert add(2, 3) == 5
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package of two functions, one of which is tested."""
    for name, text in (
        ("package/__init__.py", ""),
        ("package/code.py", CODE),
        ("tests/test_code.py", TESTS),
        ("pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["slow: no"]\n'),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def part() -> Part:
    return Part(folder="package", tests=("tests",))


def verdict(outcome: str, line: int = 1) -> Verdict:
    mutant = Mutant(file=Path("package/code.py"), line=line, operator="", occurrence=0)
    return Verdict(mutant=mutant, outcome=outcome, change=f"    -{line}\n    +{line}")


def outcome(killed: int, survived: int, *, drawn: int = 10) -> Outcome:
    found = [verdict(KILLED)] * killed + [verdict(SURVIVED)] * survived
    return Outcome(part=part(), drawn=drawn, verdicts=tuple(found))


def test_every_module_of_the_engines_and_the_judge_is_in_one_part() -> None:
    changed = [module for one in PARTS for module in modules_of(one)]
    every = {
        path.relative_to(ROOT)
        for package in ("solver", "heuristics", "verify")
        for path in (ROOT / package).rglob("*.py")
    }
    assert sorted(changed) == sorted(every)


def test_every_part_has_tests_that_are_there() -> None:
    for one in PARTS:
        for name in (*one.tests, *one.without):
            path, _, test = name.partition("::")
            assert (ROOT / path).exists(), name
            assert test in (ROOT / path).read_text() if test else True, name


def test_all_parts_end_within_eight_minutes_on_two_cores() -> None:
    assert sum(one.seconds for one in PARTS) <= 2 * 8 * 60


def test_the_same_seed_draws_the_same_mutants(project: Path) -> None:
    drawn = sample(part(), 3, seed=1, root=project)
    assert drawn == sample(part(), 3, seed=1, root=project)
    assert len({(one.line, one.operator, one.occurrence) for one in drawn}) == 3
    every = [sample(part(), 99, seed, root=project) for seed in range(5)]
    assert len({len(one) for one in every}) == 1
    assert len({str(one) for one in every}) > 1


def test_detected_mutants_are_killed_and_others_survive(project: Path) -> None:
    mutants = sample(part(), 99, seed=1, root=project)
    some = [
        next(one for one in mutants if one.line == line and "Add" in one.operator)
        if line == 3
        else next(one for one in mutants if one.line == line)
        for line in (3, 7)
    ]
    shop = Workshop(folder=project)
    verdicts = list(tried(shop, part(), some, 120))
    assert [one.outcome for one in verdicts] == [KILLED, SURVIVED]
    assert (project / "package" / "code.py").read_text() == CODE


def test_a_part_whose_time_is_up_has_tried_nothing(project: Path) -> None:
    mutants = sample(part(), 2, seed=1, root=project)
    shop = Workshop(folder=project)
    assert list(tried(shop, part(), mutants, 0)) == []


def test_tests_that_fail_unchanged_end_the_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "tests" / "test_code.py").write_text("def test_it():\n    assert 0\n")
    with pytest.raises(SystemExit):
        list(tried(Workshop(folder=project), part(), [], 120))
    assert "package/: tests fail unchanged" in capsys.readouterr().out


def test_a_killed_share_below_the_floor_is_not_enough() -> None:
    assert outcome(3, 7).is_enough
    assert not outcome(2, 8).is_enough


def test_too_few_mutants_fail_but_where_no_more_were_drawn() -> None:
    few = outcome(3, 0, drawn=10)
    assert not few.is_enough
    assert not outcome(0, 0, drawn=10).is_enough
    told = list(few.lines())[-1]
    assert told.endswith("100% killed, floor 25% (too few to judge): FAILED")
    assert outcome(4, 0, drawn=10).is_enough
    assert outcome(3, 0, drawn=3).is_enough


def test_the_least_number_is_tried_though_the_time_is_up(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation, "PATIENCE", 1e12)
    monkeypatch.setattr(mutation, "LEAST", 1)
    mutants = sample(part(), 2, seed=1, root=project)
    verdicts = list(tried(Workshop(folder=project), part(), mutants, 1e-9))
    assert [one.mutant for one in verdicts] == mutants[:1]


def test_a_part_reports_survivors_and_counts() -> None:
    found = Outcome(
        part=part(),
        drawn=5,
        verdicts=(
            *(verdict(SURVIVED, 9), verdict(SURVIVED, 1), verdict(SURVIVED, 2)),
            verdict(SURVIVED, 5),
        ),
    )
    assert list(found.lines()) == [
        "survived: package/code.py:1",
        "    -1\n    +1",
        "survived: package/code.py:2",
        "    -2\n    +2",
        "survived: package/code.py:5",
        "    -5\n    +5",
        "survived: package/code.py:9",
        "    -9\n    +9",
        (
            "mutation: package/: 4 tried, 0 killed, 4 survived, 1 out of time; "
            "0% killed, floor 25%: FAILED"
        ),
    ]


@pytest.mark.parametrize(
    ("killed", "of_judge", "code"), [(10, 10, 0), (10, 2, 1), (5, 10, 1), (0, 0, 1)]
)
def test_the_exit_code_is_1_below_a_floor(
    killed: int,
    of_judge: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def tried_part(_: object, part: Part, *__: object) -> Outcome:
        n_killed = of_judge if part.folder == "verify" else killed
        return outcome(n_killed, 10 - n_killed if n_killed else 0)

    monkeypatch.setattr(mutation, "COPIES", tmp_path)
    monkeypatch.setattr(mutation, "try_part", tried_part)
    monkeypatch.setattr(mutation, "sample", lambda *_: [])
    monkeypatch.setattr(Workshop, "opened", lambda _: Workshop(folder=ROOT))
    monkeypatch.setattr("sys.argv", ["mutation"])
    assert mutation.main() == code
    assert "tried" in capsys.readouterr().out
