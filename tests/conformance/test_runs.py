"""A run counts every outcome, whatever the number of workers."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.clients import Patience, suspecting
from conformance.runs import (
    FAMILIES,
    Category,
    External,
    RunPlan,
    external_command,
    run_families,
    run_instances,
)
from rebalance import OutsideError
from tests.support.shapes import CHAIN, member, rebalance

FAULTY = Path(__file__).with_name("faulty_adapter.py")


def faulty(fault: str, *, seconds: float = 20, memory: int | None = None) -> External:
    command = f"{sys.executable} -S {FAULTY} {fault}"
    return external_command(command, seconds=seconds, memory=memory)


def test_every_rebalance_is_counted_once() -> None:
    plan = RunPlan(seed=3, count=21, families=("fresh", "churn", "large"))
    advanced: list[int] = []
    found = run_families(faulty("none"), plan, advance=advanced.append)
    assert [counts.draws for counts in found.values()] == [21, 21, 2]
    assert [counts.rebalances for counts in found.values()] == [21, 84, 4]
    assert sum(advanced) == 109
    for counts in found.values():
        assert sum(counts.outcomes.values()) == counts.rebalances == counts.answers
        assert not any(category.is_safety for category in counts.outcomes)
        assert counts.most_rounds == 1


@pytest.mark.heavy
def test_a_crash_costs_one_instance() -> None:
    plan = RunPlan(count=15, families=("claims",))
    (found,) = run_families(faulty("crash"), plan).values()
    crashes = found.outcomes[Category.CRASH]
    assert 0 < crashes < 15
    assert sum(found.outcomes.values()) == 15
    assert [
        sighting.outcome.detail
        for sighting in found.sightings
        if sighting.kind[0].is_safety
    ] == ["SIGSEGV"]


@pytest.mark.heavy
def test_a_hang_costs_one_instance() -> None:
    plan = RunPlan(count=4, families=("fresh",))
    hanging = replace(faulty("hang", seconds=0.5), patience=suspecting(0.5))
    (found,) = run_families(hanging, plan).values()
    assert 0 < found.outcomes[Category.HANG] < 4


def test_slow_answers_are_counted_as_such_and_recorded() -> None:
    """A valid answer is no fault of safety, however late; it is not optimal either."""
    plan = RunPlan(count=3, families=("churn",))
    (found,) = run_families(faulty("spin", seconds=0.001), plan).values()
    assert set(found.outcomes) == {Category.SLOW}
    assert found.rebalances == 12  # the answers are the next claims
    assert not Category.SLOW.is_safety
    (one,) = found.sightings
    assert one.kind == (Category.SLOW, "")
    assert one.outcome.figures is not None
    said = r"later than 0\.001 s, .* CPU time; \d+ members?, \d+ partitions?"
    assert re.search(said, one.outcome.reason or "")


def test_an_impatient_run_does_not_wait_for_slow_answers() -> None:
    plan = RunPlan(count=2, families=("fresh",))
    hasty = replace(faulty("hang", seconds=0.2), patience=Patience(is_patient=False))
    subscribed = member(["a", "b", "c"])
    three = rebalance({"a": 1, "b": 1, "c": 1}, {"m": subscribed})
    found = run_instances(hasty, [three, three], plan)
    assert found.outcomes == {Category.SLOW: 2}
    (one,) = found.sightings
    assert (one.outcome.reason or "").startswith("no answer in 0.2 s, ")
    assert one.outcome.held is None


def test_cooperative_runs_find_what_is_not_revoked() -> None:
    plan = RunPlan(count=15, families=("claims",), cooperative=True)
    (found,) = run_families(faulty("none"), plan).values()
    assert found.outcomes[Category.UNREVOKED] > 5


@pytest.mark.heavy
def test_a_time_budget_ends_the_draws() -> None:
    plan = RunPlan(count=10**9, seconds=1, families=("fresh", "stale"))
    found = run_families(faulty("none"), plan)
    assert all(0 < counts.draws < 10**6 for counts in found.values())


def test_findings_are_kept_per_kind() -> None:
    plan = RunPlan(count=40, families=("racks",), keep=3)
    (found,) = run_families(faulty("raise"), plan).values()
    assert [sighting.kind for sighting in found.sightings] == [
        (Category.ERROR, "LookupError")
    ] * 3
    assert [sighting.index for sighting in found.sightings] == sorted(
        sighting.index for sighting in found.sightings
    )


def test_draws_begin_where_requested() -> None:
    whole = run_families(faulty("raise"), RunPlan(count=9, families=("racks",), keep=9))
    part = RunPlan(count=1, first=4, families=("racks",), keep=9)
    (found,) = run_families(faulty("raise"), part).values()
    assert found.sightings == [
        sighting for sighting in whole["racks"].sightings if sighting.index == 4
    ]


def test_instances_can_be_given() -> None:
    found = run_instances(faulty("none"), [CHAIN] * 45, RunPlan(keep=50))
    assert (found.family, found.draws, found.rebalances) == ("file", 45, 45)
    assert [sighting.index for sighting in found.sightings] == list(range(45))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/nowhere/assignor --fast", "no such program"),
        ("'", "No closing quotation"),
        ("", "no such program"),
    ],
)
def test_a_command_that_is_none(command: str, message: str) -> None:
    with pytest.raises(OutsideError, match=message):
        external_command(command, seconds=1)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{sys.executable} -c 'raise SystemExit(4)'", "exit code 4"),
        (f"{sys.executable} -c 'import time; time.sleep(60)'", "no CPU time used for"),
    ],
)
def test_a_program_that_does_not_answer_at_all(command: str, message: str) -> None:
    external = replace(external_command(command, seconds=1), patience=suspecting(1))
    with pytest.raises(OutsideError, match=message):
        external.check()


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_memory_limit_is_kept() -> None:
    faulty("memory").check()
    with pytest.raises(OutsideError, match="MemoryError"):
        faulty("memory", memory=500 * 2**20).check()


def test_all_families_run_against_a_valid_assignor() -> None:
    found = run_families(faulty("none"), RunPlan(count=5))
    assert list(found) == list(FAMILIES)
    for counts in found.values():
        assert not any(category.is_safety for category in counts.outcomes), (
            counts.family
        )
