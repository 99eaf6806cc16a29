"""Limits of every engine: an answer, its bound, a reason, and nothing left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Event, Timer

import pytest

from benchmarks.lags import group
from rebalance import Instance, plain_of, to_json
from solver import Engine, Limits, Result, Status, parse_policy, solve, values_of

POLICIES = ("lag-aware", "lag-sticky", "sticky-lag", "per-topic; topic-peak-lag")
ENDLESS = "none; peak-lag, lag-spread"
"""No search evens the lags out exactly."""


def stopped() -> Event:
    """Return a stop that is set before the start."""
    event = Event()
    event.set()
    return event


def lagging(partitions: int = 30) -> Instance:
    return group("uniform", partitions=partitions, members=6, topics=2, seed=0)


def check_stopped(outcome: Result, instance: Instance, reason: str) -> None:
    """Assert that an answer counts as it states, and that its bounds are below."""
    assert outcome.status is Status.FEASIBLE
    assert reason in (outcome.reason or "")
    values = tuple(objective.value for objective in outcome.objectives)
    counted = values_of(instance, outcome.require_assignment(), outcome.policy)
    assert values == counted
    for objective in outcome.objectives:
        assert isinstance(objective.bound, int)
        assert isinstance(objective.value, int)
        assert 0 <= objective.bound <= objective.value


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(stop=stopped()), "interrupted"),
        (Limits(seconds=0), "time limit of 0 s"),
        (Limits(effort=0), "effort limit of 0"),
        (Limits(memory=1), "memory"),
    ],
)
def test_a_limit_leaves_an_answer(
    policy: str, engine: Engine, limits: Limits, reason: str
) -> None:
    instance = lagging()
    outcome = solve(instance, policy, limits=limits, engine=engine)
    check_stopped(outcome, instance, reason)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("reason", ["interrupted", "time limit of 0.5 s"])
def test_a_search_is_ended_and_leaves_no_file_and_no_word(
    engine: Engine,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    instance, limits = lagging(60), Limits(seconds=60)
    if reason == "interrupted":
        Timer(0.5, limits.stop.set).start()
    else:
        limits = Limits(seconds=0.5)
    outcome = solve(instance, ENDLESS, limits=limits, engine=engine)
    check_stopped(outcome, instance, reason)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("policy", [ENDLESS, "per-topic; peak-lag, lag-spread"])
@pytest.mark.parametrize("engine", Engine)
def test_effort_ends_at_the_same_step_whatever_the_time(
    policy: str, engine: Engine
) -> None:
    """Once, whether CP-SAT ran depended on the time left."""
    instance = group("pareto", partitions=60, members=10, topics=4, seed=1)
    texts = [
        to_json(
            solve(
                instance,
                policy,
                limits=Limits(effort=0.05, seconds=seconds, seed=3),
                engine=engine,
            ).to_document(instance)
        )
        for seconds in (None, 600)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("engine", Engine)
def test_what_is_solved_is_the_same_each_time_and_nothing_is_printed(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    instance = group("uniform", partitions=9, members=3, topics=1, seed=0)
    policy = parse_policy("none; peak-lag, load")
    once, again = (solve(instance, policy, engine=engine) for _ in range(2))
    assert once.status is Status.OPTIMAL
    assert plain_of(once.to_document(instance)) == plain_of(again.to_document(instance))
    assert capfd.readouterr() == ("", "")


def test_more_effort_is_never_worse() -> None:
    found = [
        solve(lagging(), "lag-aware", limits=Limits(effort=effort)).objectives[0].value
        for effort in (0, 0.1, 0.4)
    ]
    assert found == sorted(found, reverse=True)
