"""Prices, weights and terms of moves and racks: what they prove is so.

Reaches into `verify.policy` to compare single bounds with enumeration.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given

import verify
from rebalance import to_json
from solver import solve
from tests.references import naive_judge as naive
from tests.references.brute import Brute
from tests.solver.flow_policies.routes import ALWAYS, drawn, result_of
from tests.solver.routes import instance
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import TINY, draw_assignment, generators, rebalances
from verify import TooLarge, columns_of
from verify.certificate import Pool, cost_bound, level_pools, levels_of
from verify.policy.best_alone import separate_values
from verify.policy.feasible_region import region_of
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import Tally, tally_of, value_of
from verify.policy.price_bounds import least_values

POLICIES = [text for text in ALWAYS if ";" in text]
RACKS = ((1, "rack"),)
MOVES = ((1, "stickiness"),)


def answered(document: Document, text: str) -> Document:
    """Return the engine's answer with all that it claims."""
    outcome = result_of(document, text)
    assert outcome is not None
    written: Document = json.loads(to_json(outcome.to_document(instance(document))))
    return written


def spoiled(rng: Random, document: Document, answer: Document, brute: Brute) -> None:
    """Change the answer or its proofs, and claim the proofs for what is there then."""
    if rng.randrange(2):
        answer["members"] = draw_assignment(rng, document)["members"]
    shown = answer.get("certificate")
    if shown is not None:
        for part in ("price", "level"):
            for name in shown[part]:
                if rng.randrange(4) == 0:
                    shown[part][name] = max(0, shown[part][name] + rng.randint(-2, 2))
        if rng.randrange(3) == 0:
            shown["weights"] = weights(rng)
    policy = read_policy(answer["policy"])
    tally = tally_of(brute.case, columns_of(brute.case, answer["members"]))
    for objective in answer["objectives"]:
        value = value_of(brute.case, tally, policy.levels[objective["of"]])
        objective["value"] = objective["bound"] = value
        for term in objective["proof"].get("terms", ()):
            term["bound"] = value
            spoil_term(rng, document, term)


def spoil_term(rng: Random, document: Document, term: Document) -> None:
    """Change a term, or make another of it."""
    if rng.randrange(3) == 0:
        term["kind"] = rng.choice(["separate", "prices", "zero"])
    if term["kind"] == "prices":
        if rng.randrange(2) or "weight" not in term:
            term["weight"] = weights(rng)
        prices = term.setdefault("price", {})
        for topic in document["topics"]:
            for name in document["members"]:
                if rng.randrange(3) == 0:
                    prices.setdefault(topic, {})[name] = rng.randint(-2, 3)


def weights(rng: Random) -> dict[str, int]:
    return {"stickiness": rng.randrange(4), "rack": rng.randrange(4)}


def refuted(brute: Brute, policy: Policy, tally: Tally, of: str) -> bool:
    """Return whether an allowed assignment is equal before a level and better in it."""
    names = list(policy.levels)
    before = [policy.levels[name] for name in names[: names.index(of)]]
    mine = [value_of(brute.case, tally, level) for level in before]
    own: Any = value_of(brute.case, tally, policy.levels[of])
    for other in brute.balanced(policy):
        theirs: list[Any] = [value_of(brute.case, other, level) for level in before]
        found: Any = value_of(brute.case, other, policy.levels[of])
        if found < own and all(a <= b for a, b in zip(theirs, mine, strict=True)):
            return True
    return False


@pytest.mark.parametrize(
    "count", [150, pytest.param(INSTANCES // 11, marks=pytest.mark.heavy)]
)
def test_nothing_false_is_ever_proved(count: int) -> None:
    """Answers and proofs are changed at random: what the judge proves is so."""
    counts: Counter[tuple[str, bool]] = Counter()
    for seed in seeds(count):
        rng = Random(seed)  # noqa: S311
        document, text = drawn(seed), rng.choice(POLICIES)
        try:
            brute = Brute(document)
        except TooLarge:
            continue
        answer = answered(document, text)
        if not answer.get("objectives"):
            continue
        spoiled(rng, document, answer, brute)
        verdict = verify.judge(document, answer)
        policy = read_policy(text)
        tally = tally_of(brute.case, columns_of(brute.case, answer["members"]))
        for level in verdict["objectives"]:
            counts[level["rests_on"], level["proved"]] += 1
            if level["proved"]:
                assert not refuted(brute, policy, tally, level["of"]), (seed, text)
    for rests_on in ("certificate", "terms"):
        for proved in (True, False):
            assert counts[rests_on, proved] > count // 12, counts


TWO = rebalance(
    {"t": {"partitions": 2, "racks": [["x"], ["x"]]}},
    {"a": member(["t"], {"t": [0, 1]}, rack="y"), "b": member(["t"], rack="x")},
)


@pytest.mark.parametrize(
    ("levels", "least"),
    [
        ([MOVES], (0,)),
        ([RACKS], (0,)),
        ([MOVES, RACKS], (0, 2)),
        ([RACKS, MOVES], (0, 2)),
        ([((1, "stickiness"), (1, "rack"))], (2,)),
        ([((3, "stickiness"), (2, "rack"))], (4,)),
        ([((1, "stickiness"), (1, "rack")), RACKS], (2, 0)),
    ],
)
def test_what_partitions_cost_alone(levels: list[Any], least: tuple[int, ...]) -> None:
    """Each of the two stays far away, or moves near."""
    assert separate_values(verify.case_of(TWO), levels) == least


def test_a_bound_of_a_level_holds_among_assignments_equal_before() -> None:
    """Members that keep are in the wrong rack, others need not be: no bound for c."""
    document = rebalance(TWO["topics"], TWO["members"] | {"c": member(["t"], rack="y")})
    levels = [
        {"of": of, "value": 2, "bound": bound}
        | {"proof": {"by": "terms", "terms": [{"kind": "separate", "bound": bound}]}}
        for of, bound in (("stickiness", 0), ("rack", 2))
    ]
    answer = {"policy": "none; stickiness, rack", "objectives": levels}
    for holder, proved in (("c", [False, False]), ("a", [True, True])):
        given_out: Document = {"a": {}, "b": {}, "c": {}} | {holder: {"t": [0, 1]}}
        verdict = verify.judge(document, answer | {"members": given_out})
        assert [objective["proved"] for objective in verdict["objectives"]] == proved


@pytest.mark.parametrize(
    ("levels", "weights", "bound", "budget", "least"),
    [
        ([MOVES], {"stickiness": 1}, 1, None, (1,)),
        ([MOVES], {"stickiness": 2}, 3, None, (2,)),
        ([MOVES], {"stickiness": 1}, -1, None, (0,)),
        ([MOVES], {"stickiness": 1}, 3, None, None),  # more than are owned
        ([MOVES], {"stickiness": 1}, 2, 1, None),
        ([MOVES], {"stickiness": 1}, 2, 2, (2,)),
        ([MOVES, RACKS], {"stickiness": 3, "rack": 1}, 2, None, (0, 2)),
        ([MOVES, RACKS], {"stickiness": 3, "rack": 1}, 4, None, (1, 1)),
        ([RACKS, MOVES], {"stickiness": 1, "rack": 3}, 4, None, (1, 1)),
        ([RACKS, MOVES], {"stickiness": 1, "rack": 3}, 4, 0, (2, 0)),
        ([RACKS], {"stickiness": 0, "rack": 2}, 3, None, (2,)),
        ([RACKS], {"stickiness": 1, "rack": 1}, 3, None, (1,)),
        ([RACKS, MOVES], {}, 0, None, (0, 0)),
        ([RACKS, MOVES], {}, 1, None, None),
        ([((1, "stickiness"), (1, "rack"))], {"stickiness": 2, "rack": 1}, 4, 2, (2,)),
    ],
)
def test_pairs_of_counts_that_a_bound_leaves(
    levels: list[Any],
    weights: dict[str, int],
    bound: int,
    budget: int | None,
    least: tuple[int, ...] | None,
) -> None:
    """Of two owned and two that may mismatch."""
    case = verify.case_of(TWO)
    assert least_values(case, levels, weights, bound, budget) == least


def test_prices_bound_topics_that_are_balanced_by_themselves() -> None:
    """Under dec-min the same topics need not be even: the term is refused."""
    members = {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"])}
    document = rebalance({"t": 2}, members)
    term = {"kind": "prices", "bound": 1, "price": {"t": {"a": 1}}}
    term["weight"] = {"stickiness": 1}
    stated = {"of": "stickiness", "value": 1, "bound": 1}
    stated["proof"] = {"by": "terms", "terms": [term]}
    answer = {"members": {"a": {"t": [0]}, "b": {"t": [1]}}, "objectives": [stated]}
    for balance, proved in (("per-topic", True), ("dec-min", False), ("none", False)):
        verdict = verify.judge(document, answer | {"policy": f"{balance}; stickiness"})
        assert [objective["proved"] for objective in verdict["objectives"]] == [proved]


def naive_bound(
    document: Document, pool: Pool, price: dict[str, int], weight: dict[str, int]
) -> int:
    """Sum the least cost partition by partition; hand out a pool's units one by one."""
    members, owners, total = document["members"], naive.owners(document), 0
    for topic in pool.topics:
        about = document["topics"][topic]
        for number in range(about["partitions"]):
            owner = owners.get((topic, number))
            racks = about.get("racks", [[]] * about["partitions"])[number]
            total += min(
                price[name]
                + weight["stickiness"] * (owner not in {None, name})
                + weight["rack"]
                * (bool(racks) and member.get("rack") not in {None, *racks})
                for name, member in members.items()
                if topic in member["subscription"] and name in pool.limits
            )
    paid = [
        price[name] for name, (least, _) in pool.limits.items() for _ in range(least)
    ]
    more = (
        price[name]
        for name, (least, most) in pool.limits.items()
        for _ in range(least, most)
    )
    left = pool.units - len(paid)
    return total - sum(paid) - sum(sorted(more, reverse=True)[:left])


@given(rebalances(TINY), generators())
def test_bounds_by_prices_are_those_of_the_definition(
    document: Document, rng: Random
) -> None:
    """Differential: under dec-min, with a certificate's levels, and under per-topic."""
    case, weight, columns = (
        verify.case_of(document),
        weights(rng),
        instance(document),
    )
    shown = solve(columns).to_document(columns).model_dump(exclude_none=True)
    price = {name: rng.randint(-3, 3) for name in document["members"]}
    by_level = level_pools(case, levels_of(case, shown["certificate"]))
    for pools in (by_level, region_of(case, "per-topic").pools):
        found = cost_bound(case, [(pool, price) for pool in pools], weight)
        assert found == sum(
            naive_bound(document, pool, price, weight) for pool in pools
        )
