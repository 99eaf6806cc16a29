"""The harness of `benchmarks.jvm`: input, output, counts, and tables."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from benchmarks.core_instances import equal, mixed, one_left
from benchmarks.jvm_calls import Calls, OurCalls, take_turns, warm
from benchmarks.jvm_picture import picture_of
from benchmarks.jvm_process import (
    CallTooSlowError,
    JavaCalls,
    JavaFailedError,
    read_line,
)
from benchmarks.jvm_runs import CallLimits, timed
from benchmarks.jvm_table import page_part
from benchmarks.jvm_work import (
    TimedCase,
    fixed_cases,
    growing,
    with_lag,
    write_document,
)
from benchmarks.peers import OURS
from benchmarks.result_page import END, START, write_into
from conformance.clients import LINES, KafkaClients, install
from heuristics import ASSIGNORS
from rebalance import (
    Instance,
    assignment_of,
    instance_of,
    parse_assignment,
    parse_rebalance,
)
from tests.support.snapshots import check_snapshot

NEWEST = next(iter(LINES.values()))
SMALL = {
    "equal": lambda: equal(members=12, partitions=100, topics=7, joined=2),
    "one left": lambda: one_left(members=9, partitions=10),
    "mixed": lambda: mixed(members=20, partitions=200, topics=10, each=4),
}
FAKE_JAVA = """#!{python}
from tests.support.snapshots import check_snapshot
import json, sys, time
print(json.dumps({{"java": "a fake", "machine": "none"}}), flush=True)
for line in sys.stdin:
    word = line.strip()
    if word == "plan":
        print('{{"plan": 1}}', flush=True)
    elif word == "7":
        print('{{"over_s": 3.0}}', flush=True)
    elif word == "8":
        sys.exit(5)
    else:
        times = list(range(1, int(word) + 1))
        told = {{"cpu_ns": times, "wall_ns": times, "collected_ms": 2}}
        print(json.dumps(told), flush=True)
"""


class Falling:
    """A runner whose calls take half as long each time, up to the twentieth."""

    def __init__(self) -> None:
        self.calls = 0

    def run(self, calls: int) -> Calls:
        self.calls += calls
        each = 2_000_000_000 >> min(self.calls, 20)
        return Calls(cpu_ns=(each,) * calls, wall_ns=(each,) * calls)


class Noting:
    """A runner that notes whose turn it was."""

    def __init__(self, name: str, turns: list[tuple[str, int]]) -> None:
        self.name, self.turns = name, turns

    def run(self, calls: int) -> Calls:
        self.turns.append((self.name, calls))
        return Calls(cpu_ns=(1,) * calls, wall_ns=(1,) * calls)


def peer(tmp_path: Path) -> JavaCalls:
    java = tmp_path / "java"
    java.write_text(FAKE_JAVA.format(python=sys.executable))
    java.chmod(0o755)
    clients = KafkaClients(line=NEWEST, java=java, class_path=())
    return JavaCalls(clients, "range", tmp_path / "none.json", seconds=5)


def test_times_are_read() -> None:
    line = read_line(b'{"cpu_ns":[3],"wall_ns":[4],"collected_ms":0}')
    assert line == {"cpu_ns": [3], "wall_ns": [4], "collected_ms": 0}


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        (b'{"over_s":60.0}', CallTooSlowError, "over 60 s"),
        (b'{"error":"java.lang.E: no"}', JavaFailedError, "java.lang.E: no"),
        (b"Exception in thread", JavaFailedError, "not JSON"),
        (b"[1]", JavaFailedError, "no object"),
    ],
)
def test_an_invalid_time_is_an_error(
    line: bytes, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        read_line(line)


def test_a_process_answers_line_by_line(tmp_path: Path) -> None:
    with peer(tmp_path) as java:
        assert java.about == {"java": "a fake", "machine": "none"}
        assert java.run(3) == Calls(cpu_ns=(1, 2, 3), wall_ns=(1, 2, 3), collected_ms=2)
        assert json.loads(java.plan()) == {"plan": 1}


def test_a_slow_call_and_a_crash_are_distinguished(tmp_path: Path) -> None:
    with peer(tmp_path) as java, pytest.raises(CallTooSlowError, match="over 3 s"):
        java.run(7)
    with peer(tmp_path) as java, pytest.raises(JavaFailedError, match="exit code 5"):
        java.run(8)


def test_the_warm_up_continues_while_calls_get_faster() -> None:
    runner = Falling()
    warmed = warm(runner, seconds=60, calm_seconds=0)
    assert warmed.first_ms == 1000
    assert runner.calls == warmed.calls > 20


def test_the_warm_up_has_a_time_limit() -> None:
    runner = Falling()
    assert warm(runner, seconds=0).calls == runner.calls == 2


def test_batches_alternate() -> None:
    turns: list[tuple[str, int]] = []
    runners = [Noting("java", turns), Noting("ours", turns)]
    found = take_turns(list(runners), [2, 5], rounds=3, seconds=60)
    assert turns == [("java", 2), ("ours", 5)] * 3
    assert [len(each.cpu_ns) for each in found] == [6, 15]


def test_at_least_one_round_is_run() -> None:
    turns: list[tuple[str, int]] = []
    take_turns([Noting("java", turns)], [1], rounds=9, seconds=-1)
    assert turns == [("java", 1)]


def test_ours_is_called_the_requested_number_of_times() -> None:
    answers: list[int] = []
    calls = OurCalls(lambda: answers.append(1)).run(4)
    assert len(answers) == len(calls.cpu_ns) == len(calls.wall_ns) == 4
    assert min(calls.cpu_ns) >= 0


@pytest.mark.parametrize("shape", SMALL)
def test_the_document_is_the_instance(shape: str, tmp_path: Path) -> None:
    built = SMALL[shape]()
    write_document(built, tmp_path / "a.json")
    read = instance_of(parse_rebalance((tmp_path / "a.json").read_bytes()))
    assert (read.topics, read.members) == (built.topics, built.members)
    assert np.array_equal(read.topic_offsets, built.topic_offsets)
    assert np.array_equal(read.owner, built.owner)
    assert np.array_equal(read.claims.generation, built.claims.generation)
    for m in range(len(built.members)):
        assert np.array_equal(read.topics_of(m), built.topics_of(m))


@pytest.mark.parametrize("kind", ["equal", "mixed"])
def test_sizes_double_up_to_a_million(kind: str) -> None:
    names = [case.name for case in growing(kind, 7)]
    sizes = [int(name.partition("-")[2]) for name in names]
    assert sizes[-1] == 1_000_000
    assert [2 * size for size in sizes[:-1]] == sizes[1:]
    first = growing(kind, 7)[0].build()
    assert first.n_partitions == sizes[0]
    assert len(first.members) == sizes[0] // (500 if kind == "equal" else 100)


def test_lag_is_drawn_and_nothing_else_changes() -> None:
    built = SMALL["mixed"]()
    lagging = with_lag(built)
    assert lagging.lag is not None
    assert lagging.lag.size == built.n_partitions
    assert np.array_equal(lagging.owner, built.owner)


def line(case: str, name: str, size: int, **more: Any) -> dict[str, Any]:
    about = {"case": case, "about": "some", "members": 1, "partitions": size}
    about |= {"kafka": "4", "machine": "m", "versions": "v", "date": "d", "seed": 7}
    ours = {
        f"{what}_{clock}_ms": 2.0
        for what in ("assign", "whole")
        for clock in ("cpu", "wall")
    }
    return about | {"java": "sticky", "ours": name} | ours | more


def with_java(ms: float) -> dict[str, Any]:
    return {"java_first_ms": 9 * ms, "java_cpu_ms": ms, "java_wall_ms": ms}


PAGE_LINES = [
    line("S1", "range", 10, **with_java(7.0), same_plan=True),
    line("S1", "constrained-sticky", 10, java=None),
    line("S2", "range", 10, **with_java(1.0), same_plan=False),
    line("S3", "sticky", 10, java_over_s=60.0),
    line("S5", "sticky", 10, java_error="no"),
    line("mixed-100", "sticky", 100, **with_java(4.0)),
    line("mixed-200", "sticky", 200, java_over_s=60.0),
    line("mixed-400", "sticky", 400, java_not_run=True),
]


def test_the_page_contains_the_measurements() -> None:
    check_snapshot("page/speed.txt", page_part(PAGE_LINES))


def test_ratios_of_repeated_runs_are_a_range() -> None:
    """Times are medians of the runs; a ratio is that of one run, never of medians."""
    runs = [
        line("S2", "sticky", 10, **with_java(6.0)) | {"run": 0},
        line("S2", "sticky", 10, **with_java(9.0)) | {"run": 1, "whole_cpu_ms": 6.0},
        line("S2", "sticky", 10, **with_java(8.0)) | {"run": 2},
    ]
    page = page_part(runs)
    assert "| sticky | 72 ms | 8 ms | 8 ms | 2 ms | 2 ms | 2 ms | 1.5–4.0 |" in page
    assert "| sticky at S2 no slower than Java | 1.5–4.0 | 3.0–4.5 | met |" in page


@pytest.mark.heavy
def test_the_largest_equal_group_is_s2() -> None:
    grown = [line("equal-100", "range", 100), line("S2", "range", 1_000_000)]
    assert "| range | 2 ms | 2 ms (1.00) | 2 |" in page_part(grown)
    last, s2 = growing("equal", 7)[-1].build(), fixed_cases()["S2"].build()
    assert np.array_equal(last.owner, s2.owner)
    assert (last.topics, last.members) == (s2.topics, s2.members)


def test_the_part_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text(f"before {START} old {END} after")
    write_into(page, page_part(PAGE_LINES))
    text = page.read_text()
    assert text.startswith(f"before {START}")
    assert text.endswith(f"{END} after")
    assert " old " not in text


@pytest.mark.heavy
def test_the_growth_is_drawn() -> None:
    assert picture_of(PAGE_LINES).startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def clients() -> KafkaClients:
    return install(NEWEST)


@pytest.mark.heavy
@pytest.mark.parametrize("java", OURS)
@pytest.mark.parametrize("shape", SMALL)
def test_the_timed_call_gives_the_plan(
    shape: str, java: str, tmp_path: Path, clients: KafkaClients
) -> None:
    instance = SMALL[shape]()
    path = tmp_path / "rebalance.json"
    write_document(instance, path)
    with JavaCalls(clients, java, path, seconds=60) as calls:
        assert len(calls.run(3).cpu_ns) == 3
        plan = calls.plan()
    cooperative = java == "cooperative-sticky"
    judged = verify.judge(
        verify.read_rebalance(path.read_bytes()),
        verify.read_assignment(plan),
        cooperative=cooperative,
    )
    assert judged["verdict"] == "valid"
    if java in {"range", "roundrobin", "server-range"}:
        theirs = assignment_of(instance, parse_assignment(plan))
        ours = ASSIGNORS[OURS[java]].assign(instance)
        assert np.array_equal(theirs.assignee, ours.assignee)


@pytest.mark.heavy
def test_a_late_call_is_ended(tmp_path: Path, clients: KafkaClients) -> None:
    path = tmp_path / "rebalance.json"
    large = mixed(members=1000, partitions=10_000, topics=1000, each=20)
    write_document(large, path)
    calls = JavaCalls(clients, "sticky", path, seconds=0.1)
    with calls, pytest.raises(CallTooSlowError, match=r"over 0\.1 s"):
        calls.run(1)


@pytest.mark.heavy
def test_a_case_yields_one_line_per_assignor(clients: KafkaClients) -> None:
    def build() -> Instance:
        return replace(SMALL["mixed"](), group="timed")

    limits = CallLimits(call=60, warming=0.1, turns=0.1, rounds=2)
    case = TimedCase(name="mixed-200", about="small", build=build)
    lines = list(timed(case, clients, limits, skipped=frozenset({"sticky"})))
    assert [each["ours"] for each in lines[:6]] == list(OURS.values())
    assert {each["ours"] for each in lines} == set(ASSIGNORS)
    by_name = {each["ours"]: each for each in lines}
    assert by_name["range"]["same_plan"] is True
    assert by_name["range"]["java_calls"] > 0
    assert by_name["sticky"]["java_not_run"] is True
    assert "refuses" in by_name["constrained-sticky"]
    assert "mixed" in page_part(lines)
