"""The choice of hands against brute force, under every balance it can take."""

from __future__ import annotations

import threading
from random import Random

import numpy as np
import pytest

from rebalance import Assignment
from solver.budget import Choice
from solver.limits import Limits
from solver.milp import is_allowed
from solver.objectives import common_capacity, values_of
from solver.peak_lag.work import Work
from solver.policy import parse_policy
from tests.shapes import Document, member, rebalance
from tests.solver.brute import Brute
from tests.solver.routes import INSTANCES, instance
from tests.solver.test_engines_agree import with_lags
from tests.strategies import Limits as Size
from tests.strategies import seeded_rebalance
from verify.enumerate import TooLarge

BALANCES = ("none", "per-topic", "dec-min")
SIZE = Size(members=4, topics=3, partitions=4)


def check_least(document: Document, balance: str, budget: int, more: int) -> None:
    """Assert that the least peak is found and proved, from a value above it."""
    brute = Brute(document)
    policy = parse_policy(f"{balance}; peak-lag; max-moves={budget}")
    best = brute.best(str(policy))
    laid_out = instance(document)
    if best is None or laid_out.lag is None:
        return
    (least,) = best
    assert isinstance(least, int)
    choice = Choice(laid_out, policy.balance, least + more)
    if not choice.is_small:
        return
    reached = choice.least(budget, 0, least + more, Work(limits=Limits()))
    assert (reached.value, reached.bound) == (least, least)
    assert (reached.assignee is None) == (more == 0)
    if reached.assignee is not None:
        assignment = Assignment(assignee=reached.assignee)
        assert is_allowed(laid_out, policy, assignment)
        assert values_of(laid_out, assignment, policy) == (least,)


@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize("part", range(10))
def test_agrees_with_brute_force(part: int, balance: str) -> None:
    rng = Random(part)  # noqa: S311
    for seed in range(part, max(100, INSTANCES // 25), 10):
        document = with_lags(seeded_rebalance(seed, SIZE), rng)
        try:
            check_least(document, balance, rng.randint(0, 6), rng.choice([0, 1, 10**6]))
        except TooLarge:
            continue


def test_most_drawn_rebalances_are_small_enough() -> None:
    small = 0
    for seed in range(100):
        laid_out = instance(with_lags(seeded_rebalance(seed, SIZE), Random(seed)))  # noqa: S311
        small += Choice(laid_out, parse_policy("none").balance, 10**6).is_small
    assert small > 50


def drawn(seed: int, partitions: int, members: int) -> Document:
    """Everybody wants everything; the last has joined."""
    rng = Random(seed)  # noqa: S311
    owned: list[list[int]] = [[] for _ in range(members)]
    for number in range(partitions):
        owned[rng.randrange(members - 1)].append(number)
    lag = [rng.randint(0, 100_000) for _ in range(partitions)]
    return rebalance(
        {"t": {"partitions": partitions, "lag": lag}},
        {f"m{i}": member(["t"], {"t": some}) for i, some in enumerate(owned)},
    )


def test_a_budget_of_a_group_too_large_for_enumeration() -> None:
    """More moves, less lag; each value is had, and one less is not, says CP-SAT too."""
    laid_out = instance(drawn(1, 20, 4))
    assert laid_out.lag is not None
    total = int(laid_out.lag.sum())
    choice = Choice(laid_out, parse_policy("none").balance, total)
    value, found = total, []
    for budget in range(12):
        work = Work(limits=Limits())
        reached = choice.least(budget, -(-total // 4), value, work)
        assert reached.bound == reached.value
        assert work.spent > 0
        value = reached.value
        found.append(value)
    assert found == sorted(found, reverse=True)
    assert len(set(found)) > 5


def test_a_deal_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = instance(drawn(3, 18, 4))
    assert laid_out.lag is not None
    low = -(-int(laid_out.lag.sum()) // 4)
    none = parse_policy("none").balance
    ways = []
    for steps in (50_000_000, 1, 7):
        monkeypatch.setattr("solver.budget.choice._STEPS", steps)
        work = Work(limits=Limits())
        ways.append([Choice(laid_out, none, 2 * low).within(6, low + 9, work)])
        ways[-1].append(Choice(laid_out, none, 2 * low).within(6, low + 30_000, work))
    (no, yes), *others = ways
    assert no == (None, True)
    assert yes[0] is not None
    for one, other in others:
        assert one == no
        assert other[0] is not None
        assert other[0].tolist() == yes[0].tolist()


def test_the_bound_holds_when_a_limit_strikes() -> None:
    laid_out = instance(drawn(2, 30, 6))
    assert laid_out.lag is not None
    total = int(laid_out.lag.sum())
    choice = Choice(laid_out, parse_policy("none").balance, total)
    stop = threading.Event()
    stop.set()
    low = -(-total // 6)
    reached = choice.least(9, low, 2 * low, Work(limits=Limits(stop=stop)))
    assert (reached.value, reached.bound, reached.assignee) == (2 * low, low, None)
    value = choice.least(4, low, 2 * low, Work(limits=Limits())).value
    some = choice.least(9, low, value, Work(limits=Limits(effort=1e-6)))
    whole = choice.least(9, low, value, Work(limits=Limits()))
    assert low <= some.bound < some.value <= value
    assert some.bound <= whole.bound == whole.value <= some.value


def test_capacities_and_what_has_no_lag() -> None:
    document = rebalance(
        {"t": {"partitions": 5, "lag": [0, 7, 5, 4, 0]}},
        {
            "a": member(["t"], {"t": [0, 1, 2]}, capacity=2),
            "b": member(["t"], {"t": [3]}),
        },
    )
    laid_out = instance(document)
    choice = Choice(laid_out, parse_policy("none").balance, 100)
    assert choice.is_small
    reached = choice.least(0, 0, 100, Work(limits=Limits()))
    assert common_capacity(laid_out) == 2
    assert reached.value == 12  # a: 12 records at 1, b: 4 at 2
    assert reached.assignee is not None
    assert np.count_nonzero(reached.assignee < 0) == 0
