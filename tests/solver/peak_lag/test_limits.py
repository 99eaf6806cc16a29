"""An exceeded limit leaves an assignment and a valid bound, deterministically."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from benchmarks.lags import group
from rebalance import to_json
from solver import Limits, Result, Status, parse_policy
from solver.cpsat import configure_solver
from solver.peak_lag import solve
from solver.peak_lag.work import Work
from solver.run_limited import run_in_thread

POLICIES = ("lag-aware", "lag-sticky", "sticky-lag", "per-topic; topic-peak-lag")


def stopped() -> Event:
    """Return a stop that is set before the start."""
    event = Event()
    event.set()
    return event


def answer(policy: str, limits: Limits) -> Result:
    laid_out = group("uniform", partitions=30, members=6, topics=2, seed=0)
    return solve(laid_out, parse_policy(policy), limits=limits)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(stop=stopped()), "interrupted"),
        (Limits(seconds=0), "time limit of 0 s"),
        (Limits(effort=0), "effort limit of 0"),
        (Limits(memory=1), "memory limit of 0 MiB"),
    ],
)
def test_a_limit_leaves_an_answer(policy: str, limits: Limits, reason: str) -> None:
    outcome = answer(policy, limits)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == reason
    assert outcome.assignment is not None
    for objective in outcome.objectives:
        assert isinstance(objective.bound, int)
        assert isinstance(objective.value, int)
        assert objective.bound <= objective.value


@pytest.mark.parametrize("policy", POLICIES)
def test_same_seed_and_effort_give_the_same(policy: str) -> None:
    once, again = (answer(policy, Limits(effort=0.3, seed=3)) for _ in range(2))
    assert once.assignment is not None
    assert again.assignment is not None
    assert (once.assignment.assignee == again.assignment.assignee).all()
    assert once.objectives == again.objectives


def test_a_limit_in_seconds_changes_nothing_before_it_is_reached() -> None:
    """Once, whether CP-SAT ran depended on the time left."""
    columns = group("pareto", partitions=60, members=10, topics=4, seed=1)
    for text in ("per-topic; peak-lag, lag-spread", "none; peak-lag"):
        policy = parse_policy(text)
        once, again = (
            solve(columns, policy, limits=Limits(effort=0.3, seconds=seconds))
            for seconds in (None, 600)
        )
        assert to_json(once.to_document(columns)) == to_json(again.to_document(columns))


def test_work_records_the_first_limit_that_ended_it() -> None:
    work = Work(limits=Limits(seconds=0))
    assert work.exceeded() == "time limit of 0 s"
    work.limits = Limits()
    assert work.exceeded() is None
    assert work.reason(is_searchable=False) == "time limit of 0 s"


def test_more_effort_is_never_worse() -> None:
    values = [
        answer("lag-aware", Limits(effort=effort)).objectives[0].value
        for effort in (0, 0.1, 0.4)
    ]
    assert values == sorted(values, reverse=True)


def test_an_interrupt_ends_a_long_search() -> None:
    laid_out = group("uniform", partitions=61, members=20, topics=1, seed=0)

    class Later(Event):
        """Set after a few hundred checks."""

        polls = 0

        def is_set(self) -> bool:
            self.polls += 1
            return self.polls > 20

    outcome = solve(
        laid_out,
        parse_policy("dec-min; peak-lag"),
        limits=Limits(stop=Later(), effort=60),
    )
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "interrupted"


def test_a_solver_is_stopped_or_left_behind() -> None:
    limits = Limits(stop=stopped())
    obedient, deaf = Event(), Event()
    assert run_in_thread(obedient.wait, obedient.set, limits)
    assert not run_in_thread(deaf.wait, lambda: None, limits)
    deaf.set()


def test_ctrl_c_is_left_to_the_caller() -> None:
    solver = configure_solver(Limits())
    assert not solver.parameters.catch_sigint_signal


def test_lags_near_the_end_of_64_bits() -> None:
    huge = 2**62 - 1
    laid_out = group("uniform", partitions=4, members=2, topics=1, seed=0)
    lag = np.array([huge, 5, huge, 7])
    columns = {
        name: getattr(laid_out, name)
        for name in ("group", "topics", "topic_offsets", "members", "member_class")
    }
    more = {
        name: getattr(laid_out, name)
        for name in ("class_offsets", "class_topics", "claims")
    }
    again = type(laid_out)(**columns, **more, lag=lag)
    outcome = solve(again, parse_policy("dec-min; peak-lag"), limits=Limits())
    assert outcome.status is Status.OPTIMAL
    assert outcome.objectives[0].value == huge + 7
