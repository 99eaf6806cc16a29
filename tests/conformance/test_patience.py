"""When a missing answer is slow, and when a hang: with a clock of the test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.clients import Answer, Patience, Verdict, Watch, suspecting
from conformance.clients.cpu_time import TICKS, Used
from conformance.clients.reference_time import RebalanceSize
from rebalance import AssignmentDocument

SIZE = RebalanceSize(2100, 2100)
GIVEN = Answer(
    verdict=Verdict.ANSWERED, assignment=AssignmentDocument(members={"a": {}})
)
COMPUTED = "no answer after 60 s of CPU time"
IDLE = "no answer, and no CPU time used for 60 s"


@dataclass
class Program:
    """One that uses ``share`` of a processor, and never answers."""

    share: float = 0.0
    is_busy: bool = False
    time: float = 0.0
    measured: list[RebalanceSize] = field(default_factory=list)
    reference: float = 0.001

    def now(self) -> float:
        return self.time

    def used(self) -> Used:
        return Used(500 + round(self.time * self.share * TICKS), self.is_busy)

    def measure(self, size: RebalanceSize) -> float:
        self.measured.append(size)
        return self.reference

    def patience(self, *, is_patient: bool = True) -> Patience:
        return Patience(reference=self.measure, is_patient=is_patient)

    def watch(self, seconds: float, patience: Patience, **more: Any) -> Watch:
        details: dict[str, Any] = {"used": self.used, "is_new": False} | more
        return Watch(
            seconds=seconds,
            patience=patience,
            size=lambda: SIZE,
            now=self.now,
            **details,
        )

    def ended(self, watch: Watch, *, most: float = 100_000.0) -> Answer | None:
        """Look whenever it is due."""
        while self.time < most:
            pause = watch.pause
            assert pause > 0
            self.time += pause
            found = watch.look()
            if found is not None:
                return found
        return None


@pytest.mark.parametrize(
    ("share", "reference", "seconds", "reason", "time"),
    [
        pytest.param(1.0, 0.001, 10, COMPUTED, 60, id="after its CPU time"),
        pytest.param(0.05, 0.001, 10, COMPUTED, 1200, id="later on a busy machine"),
        pytest.param(
            1.0,
            0.9,
            10,
            "no answer after 90 s of CPU time",
            90,
            id="after a hundred times the reference for a large instance",
        ),
        pytest.param(0.0, 0.001, 10, IDLE, 60, id="idle"),
        pytest.param(0.01, 0.001, 10, IDLE, 60, id="as good as idle"),
        pytest.param(1.0, 0.001, 300, COMPUTED, 300, id="not before the limit"),
    ],
)
def test_a_program_hangs(
    share: float, reference: float, seconds: float, reason: str, time: float
) -> None:
    program = Program(share=share, reference=reference)
    found = program.ended(program.watch(seconds, program.patience()))
    assert found is not None
    assert found.verdict is Verdict.HANG
    assert found.reason == f"{reason}; 2,100 members, 2,100 partitions"
    assert time <= program.time < time + (1 if time < 1000 else 6)
    assert seconds < time or program.time == seconds
    assert program.measured == ([] if reason == IDLE else [SIZE])  # once


def test_a_program_that_waits_for_a_processor_is_not_idle() -> None:
    program = Program(share=0.001, is_busy=True)
    assert program.ended(program.watch(10, program.patience()), most=5_000) is None


@pytest.mark.parametrize(
    ("share", "seconds", "verdict", "reason"),
    [
        (1.0, 10, Verdict.SLOW, "no answer in 10 s, 9.8 s of CPU time"),
        (0.0, 10, Verdict.SLOW, "no answer in 10 s, 0 s of CPU time"),
        (1.0, 61, Verdict.HANG, "no answer after 60 s of CPU time"),
        (0.0, 61, Verdict.HANG, "no answer, and no CPU time used for 60 s"),
    ],
)
def test_an_impatient_run_ends_with_the_limit_in_seconds(
    share: float, seconds: float, verdict: Verdict, reason: str
) -> None:
    program = Program(share=share)
    hasty = program.patience(is_patient=False)
    found = program.ended(program.watch(seconds, hasty))
    assert found is not None
    size = "2,100 members, 2,100 partitions"
    assert (found.verdict, found.reason) == (verdict, f"{reason}; {size}")
    assert program.time == seconds


def test_cpu_time_of_the_start_counts_for_a_new_program() -> None:
    for is_new, seconds in ((True, 55), (False, 60)):
        program = Program(share=1.0)
        watch = program.watch(10, program.patience(), is_new=is_new)
        assert program.ended(watch) is not None
        assert seconds <= program.time < seconds + 1


def test_of_an_outside_consumer_only_the_time_is_known() -> None:
    for seconds in (10, 300):
        program = Program()
        found = program.ended(program.watch(seconds, program.patience(), used=None))
        assert found is not None
        assert found.verdict is Verdict.HANG
        assert (found.reason or "").startswith(f"no answer in {max(60, seconds)} s; ")
        assert program.time == pytest.approx(max(60, seconds), abs=1)


def test_an_answer_in_time_is_returned_as_it_is() -> None:
    program = Program(share=1.0, time=7.0)
    watch = program.watch(10, program.patience())
    program.time = 17.0
    assert watch.answered(GIVEN) is GIVEN
    program.time = 18.0
    late = watch.answered(GIVEN)
    assert (late.verdict, late.is_late) == (Verdict.ANSWERED, True)
    assert late.assignment == GIVEN.assignment
    assert (late.reason or "").startswith("answered after 11.0 s, later than 10 s, ")
    raised = Answer(verdict=Verdict.ERROR, reason="no racks")
    assert watch.answered(raised) is raised


def test_a_suspected_hang_needs_no_reference() -> None:
    program = Program(share=0.5)
    found = program.ended(program.watch(2, suspecting(2)))
    assert found is not None
    assert found.verdict is Verdict.HANG
    assert program.time == pytest.approx(4.25, abs=0.3)
