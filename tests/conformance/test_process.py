"""Each kind of failure of a client is a verdict, and affects only one rebalance."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.clients import Adapter, Program, Verdict, judged
from tests.shapes import rebalance

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


@pytest.mark.heavy
@pytest.mark.parametrize("group", ["hang", "half a line"])
def test_a_hang_is_ended(group: str) -> None:
    with Adapter(FAKE, seconds=1) as fake:
        hung = fake.answer(line(group))
        assert (hung.verdict, hung.reason) == (Verdict.HANG, "no answer in 1 s")
        fake.seconds = 20
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
