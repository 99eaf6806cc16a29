"""The values of the engines and of the judge share no code, and are equal.

Reaches into `solver` and `verify.policy` to compare their values, one by one.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import verify
from rebalance import (
    PolicyError,
    assignment_of,
    instance_of,
    parse_assignment,
    parse_rebalance,
)
from solver import NAMED, Objective, WeightedObjective, parse_policy
from solver.objectives import scale_of, value_of
from solver.policy import WEIGHT_MAX
from tests.references.brute import Brute, best_values
from tests.support.examples import costly, shared_by
from tests.support.shapes import SHAPES, Document
from tests.support.strategies import (
    TINY,
    generators,
    rebalances,
    rebalances_with_assignments,
)
from verify import columns_of
from verify.policy.notation import OBJECTIVES, read_policy
from verify.policy.objectives import scale_of as judges_scale
from verify.policy.objectives import tally_of
from verify.policy.objectives import value_of as judges_value

Pair = tuple[Document, Document]
ALONE = [WeightedObjective.of(objective) for objective in Objective]
PLAIN = [objective for objective in Objective if objective is not Objective.LOAD]
WORDS = (
    *(word for word in OBJECTIVES if word != "sum-of-squares"),
    *("dec-min", "kip54", "per-topic", "none", "spread=0", "spread=03", "spread"),
    *("max-moves=2", "max-moves=-1", "sticky", "2*", "1*", "02*", "9999999999*"),
    *("; ", ", ", " + ", ";", " ", "=", "*", "\u0663*", "spread=9223372036854775808"),
)


def values(pair: Pair, level: WeightedObjective) -> tuple[Any, int]:
    instance = instance_of(parse_rebalance(json.dumps(pair[0])))
    assignment = assignment_of(instance, parse_assignment(json.dumps(pair[1])))
    found = value_of(instance, assignment, level)
    plain = list(found) if isinstance(found, tuple) else found
    return plain, scale_of(instance, level)


def judged(pair: Pair, level: WeightedObjective) -> tuple[Any, int]:
    case = verify.case_of(pair[0])
    (terms,) = read_policy(f"none; {level}").levels.values()
    tally = tally_of(case, columns_of(case, pair[1]["members"]))
    return judges_value(case, tally, terms), judges_scale(case, terms)


@pytest.mark.parametrize("level", ALONE, ids=str)
@shared_by(len(ALONE))
@given(rebalances_with_assignments())
def test_each_objective(level: WeightedObjective, pair: Pair) -> None:
    assert judged(pair, level) == values(pair, level)


@pytest.mark.heavy
@given(rebalances_with_assignments())
def test_the_sum_of_squares_of_a_frontier(pair: Pair) -> None:
    instance = instance_of(parse_rebalance(json.dumps(pair[0])))
    assignment = assignment_of(instance, parse_assignment(json.dumps(pair[1])))
    case, level = verify.case_of(pair[0]), ((1, "sum-of-squares"),)
    tally = tally_of(case, columns_of(case, pair[1]["members"]))
    squares = sum(n * n for n in assignment.loads(instance).tolist())
    assert judges_value(case, tally, level) == squares
    assert judges_scale(case, level) == 1


def test_the_sum_of_squares_is_for_the_judge_and_for_fronts() -> None:
    word = "sum-of-squares"
    assert read_policy(f"none; {word}; max-moves=1").levels == {word: ((1, word),)}
    with pytest.raises(PolicyError, match="sum-of-squares is weighed by front"):
        parse_policy("none; sum-of-squares; max-moves=1")


@pytest.mark.heavy
@given(rebalances_with_assignments(), st.data())
def test_sums(pair: Pair, data: st.DataObject) -> None:
    objectives = data.draw(st.lists(st.sampled_from(PLAIN), min_size=1, unique=True))
    weights = st.integers(1, WEIGHT_MAX)
    level = WeightedObjective(
        terms=tuple((data.draw(weights), objective) for objective in objectives)
    )
    assert judged(pair, level) == values(pair, level)


def is_canonical(text: str) -> bool:
    try:
        return str(parse_policy(text)) == text
    except PolicyError:
        return False


def is_read(text: str) -> bool:
    try:
        read_policy(text)
    except verify.Unreadable as error:
        return error.path != "$.policy"
    return True


@given(st.lists(st.sampled_from(WORDS), max_size=9).map("".join) | st.text(max_size=9))
@example("dec-min; load, 2*stickiness + rack; max-moves=0")
@example("none; 2*rack, rack")
@example("none; rack + stickiness, rack + stickiness")
@example("spread=9223372036854775807; 2147483647*rack + stickiness")
@example("none; 2147483648*rack")
@example("none; " + ", ".join(f"{n}*rack + stickiness" for n in range(2, 400)))
def test_a_policy_is_read_when_it_is_written_canonically(text: str) -> None:
    assert is_read(text) == is_canonical(text), text


@pytest.mark.parametrize("name", NAMED)
def test_named_policies_are_read(name: str) -> None:
    text = str(NAMED[name])
    policy = read_policy(text)
    assert list(policy.levels) == list(map(str, NAMED[name].objectives))
    assert (policy.balance, policy.max_moves) == (NAMED[name].balance.kind.value, None)


def naive_best(
    document: Document, objectives: list[WeightedObjective], most: int
) -> Any:
    """List every assignment and count each with the engines' values."""
    listed = []
    for answer in verify.every_assignment(document):
        listed.append([values((document, answer), level)[0] for level in objectives])
    moves = values((document, answer), WeightedObjective.of(Objective.STICKINESS))
    assert moves[1] == 1
    return min((row for row in listed if row[-1] <= most), default=None)


@pytest.mark.heavy
@costly()
@given(rebalances(TINY), generators())
def test_brute_force_by_holdings_equals_that_by_assignments(
    document: Document, rng: Random
) -> None:
    """With stickiness as the last level, its value is what the budget is about."""
    others = [
        objective for objective in ALONE if objective.only is not Objective.STICKINESS
    ]
    some = [*rng.sample(others, 2), WeightedObjective.of(Objective.STICKINESS)]
    most = rng.randrange(3)
    text = f"none; {', '.join(map(str, some))}; max-moves={most}"
    assert best_values(document, text) == naive_best(document, some, most)


@pytest.mark.heavy
@given(rebalances(TINY))
@example(SHAPES["CHAIN"])
@example(SHAPES["NOTHING"])
def test_brute_force_agrees_with_the_judges(document: Document) -> None:
    best, brute = verify.best(document), Brute(document)
    owned = sum(map(len, brute.case.owned.values()))
    assert brute.best("dec-min; stickiness") == [owned - best["kept"]]
    assert brute.best("none; stickiness") == [owned - best["any_kept"]]
    assert brute.best("none; load") == brute.best("dec-min; load")
    assert brute.best("per-topic") == []
    assert brute.best(f"spread={sum(best['loads'])}") == []
