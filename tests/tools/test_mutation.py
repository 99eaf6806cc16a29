"""The sample of mutants: what is drawn, what is counted, and when it fails."""

from __future__ import annotations

import time
from itertools import chain, groupby
from pathlib import Path

import pytest

from tests.tools.repositories import write
from tools import mutation
from tools.mutants import KILLED, SURVIVED, Mutant, MutantVerdict
from tools.mutation import (
    PartOutcome,
    Workshop,
    judge,
    modules_of,
    sample,
    tried,
)
from tools.mutation_parts import PARTS, MutationPart

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


SLEEPS = """
import time


def test_it():
    time.sleep({})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package of two functions, one of which is tested."""
    markers = '[tool.pytest.ini_options]\nmarkers = ["heavy: no", "nightly: no"]\n'
    code = {
        "package/__init__.py": "",
        "package/code.py": CODE,
        "pyproject.toml": markers,
    }
    write(tmp_path, code | {"tests/test_code.py": TESTS})
    return tmp_path


def part() -> MutationPart:
    return MutationPart(folder="package", tests=("tests",))


def verdict(outcome: str, line: int = 1) -> MutantVerdict:
    mutant = Mutant(file=Path("package/code.py"), line=line, operator="", occurrence=0)
    return MutantVerdict(
        mutant=mutant, outcome=outcome, change=f"    -{line}\n    +{line}"
    )


def outcome(killed: int, survived: int, *, drawn: int = 10) -> PartOutcome:
    found = [verdict(KILLED)] * killed + [verdict(SURVIVED)] * survived
    return PartOutcome(part=part(), drawn=drawn, verdicts=tuple(found))


def test_every_module_of_the_engines_and_the_judge_is_in_one_part() -> None:
    changed = [module for part in PARTS for module in modules_of(part)]
    every = {
        path.relative_to(ROOT)
        for package in ("solver", "heuristics", "pipeline/judging", "verify")
        for path in (ROOT / package).rglob("*.py")
    }
    assert sorted(changed) == sorted(every)


def test_every_part_has_tests_that_are_there() -> None:
    for part in PARTS:
        for name in (*part.tests, *part.without):
            path, _, test = name.partition("[")[0].partition("::")
            assert (ROOT / path).exists(), name
            assert test in (ROOT / path).read_text() if test else True, name


def test_all_parts_end_within_nine_minutes_on_two_cores() -> None:
    assert sum(part.seconds for part in PARTS) <= 2 * 9 * 60


def test_the_same_seed_draws_the_same_mutants(project: Path) -> None:
    drawn = sample(part(), 3, seed=1, root=project)
    assert drawn == sample(part(), 3, seed=1, root=project)
    assert len({(m.line, m.operator, m.occurrence) for m in drawn}) == 3
    every = [sample(part(), 99, seed, root=project) for seed in range(5)]
    assert len({len(mutants) for mutants in every}) == 1
    assert len({str(mutants) for mutants in every}) > 1


@pytest.mark.heavy
def test_heavy_and_nightly_tests_are_left_out(project: Path) -> None:
    marked = "import pytest\n"
    for mark in ("heavy", "nightly"):
        marked += f"@pytest.mark.{mark}\ndef test_{mark}(): assert 0\n"
    (project / "tests" / "test_more.py").write_text(marked)
    shop, deadline = Workshop(folder=project), time.monotonic() + 120
    assert shop.test(["tests"], 120, deadline) == 0
    (project / "tests" / "test_more.py").write_text("def test_quick(): assert 0\n")
    assert shop.test(["tests"], 120, deadline) == 1


@pytest.mark.heavy
def test_a_night_draws_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {"INSTANCES": "100", "FIRST_SEED": "0", "PROFILE": "sample"}
    (project / "tests" / "test_code.py").write_text(
        "import os\n\n\ndef test_it():\n"
        + "".join(
            f"    assert os.environ['ORACLE_{k}'] == {drawn[k]!r}\n" for k in drawn
        )
    )
    for name in drawn:
        monkeypatch.setenv(f"ORACLE_{name}", "7")
    shop = Workshop(folder=project)
    assert shop.test(["tests"], 120, time.monotonic() + 120) == 0


@pytest.mark.heavy
def test_quick_files_come_first_within_their_folder(project: Path) -> None:
    """In the order of time alone, pytest 9.1 misses a fixture of the folder below."""
    fixture = "import pytest\n@pytest.fixture\ndef one(): return 1\n"
    write(
        project,
        {
            "tests/inner/conftest.py": fixture,
            "tests/inner/test_a.py": "def test_it(one): assert one\n",
            "tests/inner/test_b.py": SLEEPS.replace("()", "(one)").format(0.4),
            "tests/test_code.py": SLEEPS.format(0.2),
            "tests/test_last.py": SLEEPS.format(0.6),
        },
    )
    shop, deadline = Workshop(folder=project), time.monotonic() + 120
    assert shop.test(["tests"], 120, deadline) == 0
    files = shop.quickest_first()
    names = "inner/test_a", "inner/test_b", "test_code", "test_last"
    assert files == [f"tests/{name}.py" for name in names]
    assert shop.test(files, 120, deadline) == 0


def test_the_files_of_a_folder_are_listed_together() -> None:
    for part in PARTS:
        folders = [Path(name).parent for name in part.tests]
        assert len([*groupby(folders)]) == len(set(folders)), part.folder


@pytest.mark.heavy
def test_detected_mutants_are_killed_and_others_survive(project: Path) -> None:
    mutants = sample(part(), 99, seed=1, root=project)
    some = [
        next(m for m in mutants if m.line == line and operator in m.operator)
        for line, operator in ((3, "Add"), (7, ""))
    ]
    shop = Workshop(folder=project)
    verdicts = list(tried(shop, part(), some, 120))
    assert [verdict.outcome for verdict in verdicts] == [KILLED, SURVIVED]
    assert (project / "package" / "code.py").read_text() == CODE


def test_a_part_whose_time_is_up_has_tried_nothing(project: Path) -> None:
    mutants = sample(part(), 2, seed=1, root=project)
    shop = Workshop(folder=project)
    assert list(tried(shop, part(), mutants, 0)) == []


@pytest.mark.heavy
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
    last_line = list(few.lines())[-1]
    assert last_line.endswith("100% killed, floor 25% (too few to judge): FAILED")
    assert outcome(4, 0, drawn=10).is_enough
    assert outcome(3, 0, drawn=3).is_enough


@pytest.mark.heavy
def test_the_least_number_is_tried_though_the_time_is_up(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation, "PATIENCE", 1e12)
    monkeypatch.setattr(mutation, "LEAST", 1)
    mutants = sample(part(), 2, seed=1, root=project)
    verdicts = list(tried(Workshop(folder=project), part(), mutants, 1e-9))
    assert [verdict.mutant for verdict in verdicts] == mutants[:1]


def test_a_part_reports_survivors_and_counts() -> None:
    verdicts = tuple(verdict(SURVIVED, line) for line in (9, 1, 2, 5))
    found = PartOutcome(part=part(), drawn=5, verdicts=verdicts)
    survivors = [
        (f"survived: package/code.py:{n}", f"    -{n}\n    +{n}") for n in (1, 2, 5, 9)
    ]
    assert list(found.lines()) == [
        *chain.from_iterable(survivors),
        (
            "mutation: package/: 4 tried, 0 killed, 4 survived, 1 out of time; "
            "0% killed, floor 25%: FAILED"
        ),
    ]


def test_all_parts_together_have_a_floor_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    enough, few = outcome(6, 4), outcome(5, 5)
    assert few.is_enough
    assert judge([enough] * len(PARTS), 1) == 0
    assert judge([enough] * (len(PARTS) - 1) + [few], 1) == 1
    total, *_, last = capsys.readouterr().out.splitlines()
    assert total == "mutation: 140 tried, 84 killed, floor 60%, seed 1"
    assert last == "mutation: 140 tried, 83 killed, floor 60%, seed 1: FAILED"


def test_some_parts_have_their_own_floors_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    enough, few = outcome(3, 7), outcome(2, 8)
    assert judge([enough] * (len(PARTS) - 1), 1) == 0
    line = "mutation: 130 tried, 39 killed, floors of the parts alone, seed 1\n"
    assert capsys.readouterr().out == line
    assert judge([enough, few], 1) == 1
    assert judge([], 1) == 1


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
    def tried_part(_: object, part: MutationPart, *__: object) -> PartOutcome:
        n_killed = of_judge if part.folder == "verify" else killed
        return outcome(n_killed, 10 - n_killed if n_killed else 0)

    monkeypatch.setattr(mutation, "COPIES", tmp_path)
    monkeypatch.setattr(mutation, "try_part", tried_part)
    monkeypatch.setattr(mutation, "sample", lambda *_: [])
    monkeypatch.setattr(Workshop, "opened", lambda _: Workshop(folder=ROOT))
    monkeypatch.setattr("sys.argv", ["mutation"])
    assert mutation.main() == code
    (line,) = capsys.readouterr().out.splitlines()  # without --changed, none on why
    assert " tried, " in line


def test_parts_are_named_or_selected_not_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mutation", "--changed", "verify"])
    with pytest.raises(SystemExit) as ended:
        mutation.main()
    assert ended.value.code == 2
