"""The exact core against enumeration, another engine, the judge, and itself."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

import verify
from rebalance import ClaimRule, Claims, Instance, members_of, to_json
from solver import Status, solve
from tests.references import naive_judge as naive
from tests.solver.routes import (
    ROUTES,
    check_proved,
    instance,
    kept_by,
)
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from tests.support.strategies import (
    LARGER,
    SMALL,
    TINY,
    Limits,
    seeded_rebalance,
)

LARGE = Limits(members=40, topics=30, partitions=25)
HUGE = 2**63 - 1
WEIGHTS = {
    "small": range(1, 6),
    "ties": (1, 2, 3, 6, 10, 15),
    "huge": (1, 3, 2**61 + 1, 2**62, HUGE - 1, HUGE),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes_are_solved_and_proved(name: str, route: str) -> None:
    document = shape(name)
    laid_out = instance(document)
    answer = ROUTES[route](laid_out)
    verdict = check_proved(document, answer)
    best = verify.best(document, lag=False)
    assert verdict["figures"]["loads"] == best["loads"]
    assert kept_by(laid_out, answer) == best["kept"]


@pytest.mark.parametrize(
    ("name", "loads", "kept"),
    [
        ("CHAIN", [1, 1, 1, 1], 1),
        ("NINE_TEN_ELEVEN", [10, 10, 10], 28),
        ("STICKINESS", [2, 2, 1], 4),
        ("NEWCOMER", [1, 1, 1, 1], 2),
        ("NO_TOPIC_MEMBER", [3, 0], 0),
        ("NO_MEMBERS", [], 0),
        ("NOTHING", [], 0),
    ],
)
def test_published_scenarios_by_hand(name: str, loads: list[int], kept: int) -> None:
    document = shape(name)
    answer = solve(instance(document))
    figures = answer.to_document(instance(document)).figures
    assert figures is not None
    assert (figures.loads, figures.kept) == (loads, kept)


@pytest.mark.parametrize(
    "count",
    [
        max(50, INSTANCES // 8),
        pytest.param((INSTANCES + 1) // 2, marks=pytest.mark.heavy),
    ],
    ids=["some", "all"],
)
@pytest.mark.parametrize("limits", [TINY, SMALL], ids=["tiny", "small"])
def test_agrees_with_enumeration(limits: Limits, count: int) -> None:
    """Solve by both routes; the best is found by trying all assignments."""
    for seed in seeds(count):
        check_best(seeded_rebalance(seed, limits), seed)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_agrees_with_enumeration_over_capacity(weights: str) -> None:
    """Small, with many equal fractions, and so large that products pass 64 bits."""
    for seed in seeds(INSTANCES // 10):
        rng = random.Random(seed)  # noqa: S311
        document = seeded_rebalance(seed, rng.choice([TINY, SMALL]))
        for entry in document["members"].values():
            entry["capacity"] = rng.choice(WEIGHTS[weights])
        check_best(document, seed)


def check_best(document: Document, seed: int) -> None:
    """Assert that both routes find what trying all finds, and prove it."""
    best = verify.best(document, lag=False)
    laid_out = instance(document)
    for solve_it in ROUTES.values():
        answer = solve_it(laid_out)
        assert answer.status is Status.OPTIMAL, seed
        assert kept_by(laid_out, answer) == best["kept"], seed
        written = {"members": members_of(laid_out, answer.require_assignment())}
        assert naive.is_dec_min(document, written, best), seed


@pytest.mark.parametrize(
    ("capacity", "partitions", "loads"),
    [
        ({"a": 1, "b": 2}, 3, [1, 2]),
        ({"a": 1, "b": 2}, 2, [0, 2]),
        ({"a": 2, "b": 3}, 10, [4, 6]),
        ({"a": 2, "b": 2, "c": 3}, 4, [1, 1, 2]),
        ({"a": 6, "b": 10, "c": 15}, 30, [5, 10, 15]),
        ({"a": 6, "b": 10, "c": 15}, 61, [11, 20, 30]),
        ({"a": HUGE, "b": HUGE - 1}, 3, [2, 1]),
        ({"a": HUGE, "b": 1}, 1000, [1000, 0]),
        ({"a": 5, "b": 5}, 3, [2, 1]),
    ],
)
def test_loads_are_shared_by_capacity(
    capacity: dict[str, int], partitions: int, loads: list[int]
) -> None:
    members = {m: member(["t"], capacity=w) for m, w in capacity.items()}
    document = rebalance({"t": partitions}, members)
    for solve_it in ROUTES.values():
        answer = solve_it(instance(document))
        check_proved(document, answer)
        assert answer.require_assignment().loads(instance(document)).tolist() == loads


def test_the_level_is_the_least_load_that_chains_reach() -> None:
    """Neither the last key taken nor the next in a block: d's t may not go to c.

    c holds t alone, next 2 ÷ 1; d holds its own four, next 5 ÷ 3, and would be t's
    seat, if c's level were its own next key and d's were not less for it.
    """
    members = {"c": member(["t"], capacity=1), "d": member(["t", "u"], capacity=3)}
    document = rebalance({"t": 1, "u": 4}, members)
    answer = solve(instance(document))
    check_proved(document, answer)
    assert answer.require_assignment().loads(instance(document)).tolist() == [1, 4]


@pytest.mark.parametrize("rule", ClaimRule)
def test_judge_finds_larger_answers_proved(rule: ClaimRule) -> None:
    for seed in seeds(INSTANCES // 20):
        document = seeded_rebalance(seed, LARGE if seed % 5 == 0 else LARGER)
        for solve_it in ROUTES.values():
            check_proved(document, solve_it(instance(document, rule)), rule)


def test_answer_is_written_with_its_proof() -> None:
    laid_out = instance(shape("CHAIN"))
    written = json.loads(to_json(solve(laid_out).to_document(laid_out)))
    assert written["status"] == "optimal"
    assert written["assignor"] == "oracle"
    assert written["certificate"]["level"] == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert set(written["certificate"]["price"]) == {"a", "b", "c", "d"}
    assert written["figures"] == {
        "loads": [1, 1, 1, 1],
        "kept": 1,
        "moves": 3,
        "kip54_score": 0,
        "kip54_balanced": True,
        "dec_min_balanced": True,
        "peak_lag": 0,
        "lag_spread": 0,
        "rack_mismatches": 0,
    }


def test_class_without_members_wants_nothing() -> None:
    """Columns may hold such a class; a document never makes one."""
    laid_out = Instance(
        group="g",
        topics=("t", "u"),
        topic_offsets=np.array([0, 2, 4]),
        members=("a", "b"),
        member_class=np.array([1, 1], dtype=np.int32),
        class_offsets=np.array([0, 2, 3]),
        class_topics=np.array([0, 1, 0], dtype=np.int32),
        claims=Claims(
            offsets=np.zeros(3, dtype=np.int64),
            partitions=np.zeros(0, dtype=np.int32),
            generation=np.zeros(2, dtype=np.int64),
        ),
    )
    for solve_it in ROUTES.values():
        answer = solve_it(laid_out)
        assert answer.require_assignment().assignee.tolist() == [0, 1, -1, -1]
        assert answer.status is Status.OPTIMAL


def ladder(rungs: int) -> Document:
    """Member i shares topic i with member i + 1; the first two topics have it all."""
    names = [f"m{i:05}" for i in range(rungs + 1)]
    topics = [f"t{i:05}" for i in range(rungs)]
    members: dict[str, Document] = {
        name: {"subscription": topics[max(i - 1, 0) : i + 1]}
        for i, name in enumerate(names)
    }
    for name, topic in zip(names, topics, strict=False):
        members[name]["owned"] = {topic: [0]}
    members[names[0]]["owned"] = {topics[0]: [0, 1]}
    sizes = {t: {"partitions": 2 if t == topics[0] else 1} for t in topics}
    return {
        "format": "rebalance/1",
        "group": "ladder",
        "topics": sizes,
        "members": members,
    }


@pytest.mark.parametrize("rungs", [1, 2, 3, 50, 2000])
def test_long_chain_is_walked_to_its_end(rungs: int) -> None:
    """One transfer per member, all of them needed: the chain visits every member."""
    document = ladder(rungs)
    laid_out = instance(document)
    answer = solve(laid_out)
    assert answer.require_assignment().loads(laid_out).tolist() == [1] * (rungs + 1)
    assert kept_by(laid_out, answer) == 1
    assert answer.status is Status.OPTIMAL


SAMPLE = """
from tests.solver.routes import instance, ROUTES
from tests.support.strategies import LARGER, TINY, seeded_rebalance
from tests.support.shapes import SHAPES
from rebalance import to_json
from solver import Engine, solve

drawn = [seeded_rebalance(seed, LARGER) for seed in range(40)]
for document in [*SHAPES.values(), *drawn]:
    laid_out = instance(document)
    for route in ROUTES.values():
        print(to_json(route(laid_out).to_document(laid_out)).decode())
laid_out = instance(seeded_rebalance(11, TINY))
for policy in ("kip54; load, stickiness", "spread=1; per-topic-spread, rack"):
    for engine in Engine:
        result = solve(laid_out, policy, engine=engine)
        print(to_json(result.to_document(laid_out)).decode())
"""


def printed(**environment: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-c", SAMPLE],
        env=os.environ | environment,
        check=True,
        capture_output=True,
    ).stdout


@pytest.mark.heavy
def test_same_bytes_whatever_the_hash_seed_and_without_the_compiler() -> None:
    compiled = printed(PYTHONHASHSEED="1")
    assert compiled.count(b"\n") > 100
    assert compiled == printed(PYTHONHASHSEED="2", NUMBA_DISABLE_JIT="1")
