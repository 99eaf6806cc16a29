"""Each kind of failure of a client is a verdict, and affects only one rebalance."""

from __future__ import annotations

import json
import re
import select
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from conformance.clients import (
    Adapter,
    Patience,
    Program,
    Verdict,
    judged,
    suspecting,
)
from tests.support.shapes import rebalance
from tests.support.waiting import wait_until

FAKE = Program(
    name="fake", argv=(sys.executable, str(Path(__file__).with_name("fake_adapter.py")))
)


def line(group: str, *, partitions: int = 0, members: int = 2) -> bytes:
    wanting = {f"m{i}": {"subscription": ["t"]} for i in range(members)}
    document = rebalance({"t": {"partitions": partitions}}, wanting)
    return json.dumps(document | {"group": group}).encode()


@pytest.fixture
def fake() -> Iterator[Adapter]:
    with Adapter(FAKE, seconds=20) as adapter:
        yield adapter


@pytest.mark.parametrize(
    ("group", "verdict", "reason"),
    [
        ("raise", Verdict.ERROR, "java.lang.Oops: of one instance"),
        ("broken error", Verdict.INVALID, "unexpected end of data"),
        ("nonsense", Verdict.INVALID, "expected assignment/1"),
        ("two lines", Verdict.INVALID, "wrote more than one line"),
        ("a line and a half", Verdict.INVALID, "wrote more than one line"),
        ("no end", Verdict.INVALID, "wrote more than 1 MiB without an end"),
        ("exit", Verdict.CRASH, "exit code 3: last words"),
        ("killed", Verdict.CRASH, "SIGKILL"),
    ],
)
def test_a_failure_costs_one_rebalance(
    fake: Adapter,
    monkeypatch: pytest.MonkeyPatch,
    group: str,
    verdict: Verdict,
    reason: str,
) -> None:
    monkeypatch.setattr("conformance.clients.process.MOST_BYTES", 2**20)
    for _ in range(2):
        assert fake.answer(line("fine")).verdict is Verdict.ANSWERED
        failed = fake.answer(line(group))
        assert failed.verdict is verdict
        assert failed.assignment is None
        assert reason in (failed.reason or "")
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("hang", "no answer, and no CPU time used for 0.3 s"),
        ("half a line", "no answer, and no CPU time used for 0.3 s"),
        ("spin", "no answer after 0.3 s of CPU time"),
        ("child", "no answer after 0.3 s of CPU time"),
    ],
)
def test_a_hang_is_ended(fake: Adapter, group: str, reason: str) -> None:
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED
    assert fake._running is not None
    program = psutil.Process(fake._running.pid)
    patience, fake.seconds, fake.patience = fake.patience, 0.1, suspecting(0.3)
    hung = fake.answer(line(group, partitions=3))
    assert (hung.verdict, hung.reason) == (
        Verdict.HANG,
        f"{reason}; 2 members, 3 partitions",
    )
    assert not program.is_running()
    fake.seconds, fake.patience = 20, patience
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED


def test_what_a_program_has_started_ends_with_it(fake: Adapter) -> None:
    children: list[psutil.Process] = []

    def used() -> None:
        while not children:
            assert fake._running is not None
            children.extend(psutil.Process(fake._running.pid).children())
            time.sleep(0.01)

    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED
    watcher = threading.Thread(target=used)
    watcher.start()
    fake.seconds, fake.patience = 0.1, suspecting(0.3)
    assert fake.answer(line("child")).verdict is Verdict.HANG
    watcher.join()
    (child,) = children
    wait_until(lambda: not child.is_running() or child.status() == "zombie")


def test_slow_is_not_a_hang(fake: Adapter) -> None:
    """Once, whatever took longer than the limit was a hang."""
    fake.seconds = 0.05
    late = fake.answer(line("slow", partitions=1))
    assert (late.verdict, late.is_late) == (Verdict.ANSWERED, True)
    said = r"answered after \d+\.\d s, later than 0.05 s, [\d.]+ s of CPU time; "
    assert re.fullmatch(said + "2 members, 1 partition", late.reason or "")
    fake.patience = Patience(is_patient=False)
    slow = fake.answer(line("slow"))
    assert (slow.verdict, slow.is_late) == (Verdict.SLOW, False)
    assert (slow.reason or "").startswith("no answer in 0.05 s, ")
    fake.seconds, fake.patience = 60, Patience()
    assert fake.answer(line("slow")).is_late is False


@pytest.mark.parametrize(
    ("seconds", "verdict", "reason"),
    [
        (
            0.0,
            Verdict.SLOW,
            r"no answer in [\d.]+ s, when the run ended, [\d.]+ s of .*",
        ),
        (600.0, Verdict.CRASH, "SIGKILL"),
    ],
)
@pytest.mark.parametrize("group", ["hang", "child"])
def test_what_is_cut_is_slow_if_it_is_late(
    fake: Adapter, group: str, seconds: float, verdict: Verdict, reason: str
) -> None:
    """A program with a child, which keeps its pipes open, is ended as well."""
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED
    fake.seconds = seconds
    cutting = threading.Timer(0.3, fake.cut)
    cutting.start()
    answer = fake.answer(line(group))
    cutting.join()
    assert answer.verdict is verdict
    assert re.fullmatch(reason, answer.reason or "")
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED


def test_a_crash_after_an_answer_does_not_affect_the_next(fake: Adapter) -> None:
    for _ in range(3):
        assert fake.answer(line("answer and die")).verdict is Verdict.ANSWERED
        assert fake._running is not None
        fake._running._process.wait()  # else the next one may meet it dying


def test_a_line_after_the_answer_is_no_answer_to_the_next(fake: Adapter) -> None:
    assert fake.answer(line("a line too late")).verdict is Verdict.ANSWERED
    assert fake._running is not None
    ready, _, _ = select.select([fake._running._from], [], [], 20)
    assert ready  # the late line has come, however busy the machine is
    late = fake.answer(line("fine"))
    assert late.verdict is Verdict.INVALID
    assert late.reason == "wrote more than one line for the rebalance before"
    assert fake.answer(line("fine")).verdict is Verdict.ANSWERED


@pytest.mark.heavy
def test_long_lines_and_error_output_do_not_block(fake: Adapter) -> None:
    answer = fake.answer(line("chatter", members=50_000))
    assert answer.assignment is not None
    assert len(answer.assignment.members) == 50_000


def test_an_answer_is_judged(fake: Adapter) -> None:
    for partitions, verdict in ((0, Verdict.ANSWERED), (1, Verdict.INVALID)):
        text = line("fine", partitions=partitions)
        found = judged(fake.answer(text), text)
        assert found.verdict is verdict
        assert found.assignment is not None
    assert "unassigned" in (found.reason or "")
    failed = fake.answer(line("raise"))
    assert judged(failed, line("raise")) == failed


def test_a_line_break_would_be_two_rebalances(fake: Adapter) -> None:
    with pytest.raises(ValueError, match="several lines"):
        fake.answer(line("fine") + b"\n")


def test_a_program_that_does_not_start_is_an_error() -> None:
    with (
        Adapter(Program(name="none", argv=("/nowhere/to/be/found",))) as none,
        pytest.raises(OSError, match="nowhere"),
    ):
        none.answer(line("fine"))
