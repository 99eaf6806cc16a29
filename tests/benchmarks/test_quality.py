"""The quality study: digests of reruns, resumption, pairs, tables, and the page."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import verify
from benchmarks.quality.__main__ import PAGE, STORED, main
from benchmarks.quality.answering import (
    FIELDS,
    SCHEMA,
    AnswerTask,
    answer_family,
    record_file,
)
from benchmarks.quality.export import export_records
from benchmarks.quality.measures import Measured, summarized
from benchmarks.quality.pairs import StudyPair, compared, pairs_of
from benchmarks.quality.results_page import results_part
from benchmarks.quality.study_comparison import differences
from benchmarks.quality.study_instances import SCHEMA as INSTANCES
from benchmarks.quality.study_instances import (
    InstanceTask,
    digest_of,
    draw_instances,
    instance_file,
)
from benchmarks.quality.study_plan import StudyPlan
from benchmarks.quality.study_run import run_study
from benchmarks.quality.study_subjects import (
    HeuristicSubject,
    StudySubject,
    client_subjects,
    own_subjects,
)
from benchmarks.quality.study_summary import read_summary, summary_of
from benchmarks.result_page import END, START
from conformance.clients import Answer, Verdict
from conformance.runs import (
    FAMILIES,
    NoSubject,
    Subject,
    drive,
    external_command,
    family_of,
)
from tests.conformance.subjects import Scripted, failed, optimal
from tests.oracle.cli.commands import CHAIN, write_lines

Line = dict[str, Any]
PLAN = StudyPlan(families=("claims", "racks"), seeds=3, count=30)
OWN = own_subjects(["sticky", "range", "constrained-sticky", "cooperative-sticky"])
ABOUT = {"version": "0", "date": "2026-01-01"}


def studied(
    folder: Path,
    subjects: Sequence[StudySubject] = OWN,
    plan: StudyPlan = PLAN,
    workers: int = 1,
) -> list[Line]:
    """Run a study; return the lines of its summary."""
    said: list[str] = []
    done = run_study(plan, subjects, folder, workers=workers, say=said.append)
    assert len(done) == len(subjects), said
    return list(summary_of(plan, done, folder, **ABOUT))


def timeless(lines: Sequence[Line]) -> list[Line]:
    """Return a summary without the seconds that it took."""
    text = json.dumps(lines)
    return json.loads(re.sub(r'"took": [\d.]+', '"took": 0', text))  # type: ignore[no-any-return]


def answer_of(name: str, document: Line) -> Answer:
    return HeuristicSubject(assignor=name).answer(json.dumps(document).encode())


def rows_of(folder: Path, subject: StudySubject, family: str) -> list[Line]:
    rows: list[Line] = pq.read_table(
        record_file(folder, subject.name, family)
    ).to_pylist()
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def summary(folder: Path) -> list[Line]:
    return studied(folder)


def test_a_rerun_has_the_same_digests(summary: list[Line], tmp_path: Path) -> None:
    again = studied(tmp_path)
    assert timeless(again) == timeless(summary)
    assert list(differences(summary, again)) == []


@pytest.mark.heavy
def test_two_workers_and_a_client_have_the_same_digests(tmp_path: Path) -> None:
    clients = [*client_subjects(["kafka-clients@4.4.0/range"])]
    clients += client_subjects(["kafka-python@3.0.12/roundrobin"])
    subjects = [
        *OWN,
        *(client for client in clients if isinstance(client, StudySubject)),
    ]
    assert len(subjects) == len(OWN) + 2, clients
    alone = studied(tmp_path / "one", subjects)
    both = studied(tmp_path / "two", subjects, workers=2)
    assert timeless(both) == timeless(alone)
    assert list(differences(alone, both)) == []


def test_instances_are_the_draws_with_proved_optima(
    summary: list[Line], folder: Path
) -> None:
    about = summary[0]["families"]["claims"]
    assert about["instances"] == 30
    rows = pq.read_table(instance_file(folder, "claims"), schema=INSTANCES).to_pylist()
    assert [(row["seed"], row["index"]) for row in rows] == [
        (seed, index) for index in range(10) for seed in (1, 2, 3)
    ]
    digest = hashlib.sha256()
    for row in rows:
        document = FAMILIES["claims"].first(row["seed"], row["index"])
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        assert row["document"] == text.encode()
        if row["seed"] == 2:
            digest.update(text.encode() + b"\n")
        outcome = drive(Scripted(optimal), document)
        assert outcome.figures is not None
        assert outcome.figures["moves"] == row["best_moves"]
        assert outcome.figures["kip54_score"] == row["best_score"]
    assert about["digests"]["2"] == digest.hexdigest()


def test_records_state_what_the_judge_finds(summary: list[Line], folder: Path) -> None:
    del summary
    least = {"optimal": 0, "needless": 0, "unbalanced": 0}
    for row in rows_of(folder, OWN[0], "claims"):
        document = FAMILIES["claims"].first(row["seed"], row["index"])
        answer = HeuristicSubject(assignor="sticky").answer(
            json.dumps(document).encode()
        )
        best = optimal(document).assignment
        assert answer.assignment is not None
        assert best is not None
        found, wanted = (
            verify.judge(document, {"members": held.members})["figures"]
            for held in (answer.assignment, best)
        )
        assert row["valid"]
        assert row["moves"] == found["moves"] >= row["moves_bound"]
        assert row["moves_gap"] == found["moves"] - wanted["moves"]
        assert row["score_gap"] == found["kip54_score"] - wanted["kip54_score"] >= 0
        spreads = [f["loads"][0] - f["loads"][-1] for f in (found, wanted)]
        assert row["spread_gap"] == spreads[0] - spreads[1] >= 0
        assert row["balanced"] == (found["loads"] == wanted["loads"])
        assert (row["score_gap"] == 0) == row["balanced"]
        is_optimal = row["balanced"] and row["moves_gap"] == 0
        assert (row["category"] == "optimal") == is_optimal
        least["optimal"] += is_optimal
        least["needless"] += bool(row["needless_moves"])
        least["unbalanced"] += not row["balanced"]
    assert all(least.values())


def test_refusals_are_left_out(summary: list[Line]) -> None:
    (line,) = (entry for entry in summary if entry.get("name") == "constrained-sticky")
    for row in line["families"].values():
        refused = row["outcomes"]["refused"]
        assert 0 < refused < 30
        assert row["n"] == 30 - refused
        assert row["valid"][0] == row["n"]


def test_a_killed_study_continues(summary: list[Line], tmp_path: Path) -> None:
    studied(tmp_path)
    lost = record_file(tmp_path, OWN[1].name, "racks")
    partial_file = lost.with_name(lost.name + ".part")
    lost.replace(partial_file)  # as a write that was interrupted
    said: list[str] = []
    done = run_study(PLAN, OWN, tmp_path, workers=1, say=said.append)
    new = [
        line for line in said if line.startswith("assignor") and "before" not in line
    ]
    assert [line.partition(" records")[0] for line in new] == [
        f"{OWN[1].name}: racks: 30"
    ]
    again = summary_of(PLAN, done, tmp_path, **ABOUT)
    assert timeless(list(again)) == timeless(summary)


def test_other_instances_are_not_used_again(tmp_path: Path) -> None:
    few = replace(PLAN, families=("claims",), count=6)
    first = studied(tmp_path, OWN[:1], few)
    more = studied(tmp_path, OWN[:1], replace(few, count=9))
    assert [run[1]["families"]["claims"]["records"] for run in (first, more)] == [6, 9]
    assert more == studied(tmp_path, OWN[:1], replace(few, count=9))


def test_parquet_and_csv_have_all_records(summary: list[Line], folder: Path) -> None:
    del summary
    parts = [
        record_file(folder, assignor.name, f) for assignor in OWN for f in PLAN.names
    ]
    assert export_records(parts, folder) == 240
    table = pq.read_table(folder / "records.parquet")
    assert table.schema.equals(SCHEMA)
    with gzip.open(folder / "records.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [
        {name: "" if row[name] is None else str(row[name]) for name in FIELDS}
        for row in table.to_pylist()
    ]
    truth = {"true": "True", "false": "False"}
    assert [{n: truth.get(row[n], row[n]) for n in FIELDS} for row in rows] == kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(StudySubject):
    """A subject that answers as a function does."""

    reply: Callable[[Line], Answer]

    def start(self, seconds: float) -> Subject:
        del seconds
        return Scripted(self.reply)


def fake(reply: Callable[[Line], Answer], *, deterministic: bool = True) -> Fake:
    return Fake(
        name="fake",
        client="fake",
        version="1",
        assignor="sticky",
        language="Python",
        cooperative=False,
        deterministic=deterministic,
        reply=reply,
    )


def undecided(seed: int, often: float) -> Fake:
    """Answer as sticky, and by chance as range."""
    rng = Random(seed)  # noqa: S311

    def reply(document: Line) -> Answer:
        return answer_of("range" if rng.random() < often else "sticky", document)

    return fake(reply, deterministic=False)


LATE = replace(optimal(CHAIN), is_late=True)  # on a busy machine
NONE = failed(Verdict.HANG, "no answer after 5 s of CPU time")


@pytest.mark.parametrize(("answer", "category"), [(LATE, "optimal"), (NONE, "slow")])
def test_an_answer_is_not_judged_by_its_time(
    answer: Answer, category: str, tmp_path: Path
) -> None:
    plan = StudyPlan(given=Path(write_lines(tmp_path / "given.jsonl", CHAIN)))
    subject = fake(lambda _: answer)
    run_study(plan, [subject], tmp_path / "study", workers=1, say=print)
    (row,) = rows_of(tmp_path / "study", subject, "file")
    assert (row["category"], row["valid"]) == (category, category == "optimal")


def test_a_subject_that_is_not_deterministic_stays_within_its_intervals(
    tmp_path: Path,
) -> None:
    first, second = (
        studied(tmp_path / str(seed), [undecided(seed, 0.05)]) for seed in (2, 5)
    )
    assert first[1]["records"] != second[1]["records"]
    assert list(differences(first, second)) == []
    other = studied(tmp_path / "3", [undecided(3, 1.0)])
    found = list(differences(first, other))
    assert any(line.startswith("fake, total: optimal") for line in found)
    declared = [first[0], first[1] | {"deterministic": True}]
    assert any("the records differ" in line for line in differences(declared, second))


def test_other_instances_are_a_difference(summary: list[Line], tmp_path: Path) -> None:
    plan = replace(PLAN, seeds=2)
    found = list(differences(summary, studied(tmp_path, OWN[:1], plan)))
    assert "claims, seed 1: the instances differ" in found
    assert "claims, seed 3: the instances differ" in found


def columns(optimal: str, moves: Sequence[int], refused: str = "") -> Measured:
    """Return records, a letter each: ``o`` optimal, ``-`` valid, ``x`` not valid."""
    letters = np.array(list(optimal))
    valid, best = letters != "x", letters == "o"
    applies = np.array([c != "r" for c in refused.ljust(len(optimal))])
    zeros = np.zeros(len(optimal), dtype=np.int64)
    values = {
        "spread_gap": zeros,
        "moves_gap": np.array(moves),
        "needless_moves": zeros,
    }
    return Measured(
        categories=tuple(
            {"o": "optimal", "-": "unbalanced", "x": "hang"}[c] for c in optimal
        ),
        applies=applies,
        shares={"valid": valid, "kip54": valid, "balanced": best, "optimal": best},
        means=values,
        counts=dict.fromkeys(values, valid & applies),
    )


def test_totals_weigh_families_equally() -> None:
    families = {"f": columns("o" * 9 + "-", [2] * 10), "g": columns("ox", [8, 0])}
    found, total = summarized("a", families, {"f": 10.0, "g": 20.0})
    assert total["optimal"][0] == (0.9 + 0.5) / 2
    assert total["valid"][0] == 0.75
    assert total["moves_gap"][0] == (100 * 2 / 10 + 100 * 8 / 20) / 2
    assert found["g"]["moves_gap"][:3] == [8, 1, 40.0]
    assert found["g"]["outcomes"] == {"hang": 1, "optimal": 1}


def test_pairs_are_of_the_same_instances() -> None:
    first = {"f": columns("oo-x-o", [1, 2, 3, 4, 5, 6])}
    second = {"f": columns("o-o-", [0, 0, 0, 0], refused="   r")}  # a prefix
    pair = StudyPair(kind="reference", first="a", second="b")
    found, total = compared(pair, first, second, {"f": 50.0})
    assert (total["n"], total["better"], total["worse"]) == (3, 1, 1)
    assert found["f"]["optimal"][:3] == [0, 3, 0.0]
    assert found["f"]["moves_gap"][:3] == [6, 3, 4.0]  # 2 moves of 50 partitions


def test_every_assignor_is_compared_with_the_same_one() -> None:
    names = ("kafka-clients@4.4.0/sticky", "kafka-clients@3.9.2/sticky", "k/range")
    clients = [
        replace(OWN[1], name=name, client=name.partition("@")[0].partition("/")[0],
                assignor=name.partition("/")[2])
        for name in names
    ]  # fmt: skip
    pairs = list(pairs_of([*OWN[:2], *clients]))
    reference = [pair for pair in pairs if pair.kind == "reference"]
    assert {pair.second for pair in reference} == {names[0]}
    assert len(reference) == 4
    (versions,) = (pair for pair in pairs if pair.kind == "version")
    assert (versions.first, versions.second) == names[:2]
    (ours,) = (pair for pair in pairs if pair.kind == "ours")
    assert (ours.first, ours.second) == (OWN[0].name, names[0])


def test_a_program_that_cannot_be_started_is_left_out(tmp_path: Path) -> None:
    external = external_command("true", seconds=5)
    gone = replace(external, program=replace(external.program, argv=("/no/such",)))
    absent = replace(OWN[0], name="absent", external=replace(gone, memory=None))
    said: list[str] = []
    plan = replace(PLAN, families=("fresh",), count=2)
    done = run_study(plan, [absent, OWN[1]], tmp_path, workers=1, say=said.append)
    assert done == [OWN[1]]
    assert any(line.startswith("absent: fresh: not answered: ") for line in said)


def test_a_slow_assignor_answers_a_prefix(tmp_path: Path) -> None:
    plan = replace(PLAN, families=("fresh",), family_seconds=0.0)
    lines = studied(tmp_path, OWN[:2], plan)
    assert [line["families"]["fresh"]["records"] for line in lines[1:3]] == [1, 1]
    page = results_part(lines, pictures=".")
    assert f"`{OWN[0].name}` answered 1 of 30 instances of `fresh` in 0 s." in page


def test_only_the_time_of_answers_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(step=10**9)  # a second from one look to the next
    monkeypatch.setattr("time.perf_counter_ns", lambda: next(clock))
    monkeypatch.setattr("time.monotonic", lambda: 10.0**9 * next(clock))
    file = tmp_path / "fresh.parquet"
    plan = replace(PLAN, families=("fresh",), family_seconds=3.0)
    draw_instances(NoSubject(), InstanceTask(plan=plan, family="fresh", file=file))
    task = AnswerTask(
        plan=plan,
        subject=OWN[0],
        family="fresh",
        instances=file,
        file=tmp_path / "records.parquet",
    )
    assert answer_family(NoSubject(), task).records == 3


OWN_FAMILY = """
def draw(rng):
    return {"format": "rebalance/1", "group": "g",
            "topics": {"t": {"partitions": rng.randint(1, 5)}},
            "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}}
"""


@pytest.mark.heavy
def test_one_command_studies_own_families_and_given_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study_family.py").write_text(OWN_FAMILY)
    given = write_lines(tmp_path / "given", CHAIN)
    arguments = ["--count", "6", "--seeds", "2", "--own", "sticky", "--workers", "1"]
    arguments += ["--family", "study_family:draw", "--instances", given, "--out"]
    assert main([*arguments, "first"]) == 0
    first = Path("first")
    lines = read_summary(first / "quality.jsonl")
    assert {f: row["instances"] for f, row in lines[0]["families"].items()} == {
        "study_family:draw": 6,
        "file": 1,
    }
    assert pq.read_table(first / "records.parquet").num_rows == 7
    for name in ("results.md", "outcomes.svg", "differences.svg", "records.csv.gz"):
        assert (first / name).stat().st_size
    assert main([*arguments, "again", "--check", "first/quality.jsonl"]) == 0
    write_lines(tmp_path / "given", CHAIN | {"group": "other"})
    assert main([*arguments, "other", "--check", "first/quality.jsonl"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--family", "no"], "no family 'no'; there are fresh"),
        (["--client", "no"], "client: no 'no'; there are"),
        (["--own", "no"], "invalid choice"),
        (["--count", "0"], "a number above 0"),
    ],
)
def test_usage_errors(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_page_states_the_stored_summary() -> None:
    text = PAGE.read_text(encoding="utf-8")
    part = text.partition(START)[2].partition(END)[0]
    stored = read_summary(STORED)
    assert part.strip() == results_part(stored, pictures="../images/quality").strip()


@pytest.mark.heavy
def test_the_stored_instances_can_be_drawn_again() -> None:
    study = read_summary(STORED)[0]
    plan = StudyPlan(seeds=study["seeds"], count=study["count"])
    for family in ("fresh", "stale"):
        drawn = [
            (seed, index, family_of(family).first(seed, index))
            for seed, index in plan.places()
            if seed == 2
        ]
        assert digest_of(drawn) == study["families"][family]["digests"]["2"]
