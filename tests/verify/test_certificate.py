"""A certificate proves only true statements, whatever it contains."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from tests.references import naive_judge as naive
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import (
    CHAIN,
    Document,
    member,
    rebalance,
    shape,
)
from tests.support.strategies import (
    SMALL,
    TINY,
    draw_assignment,
    generators,
    rebalances,
    seeded_rebalance,
)

EVEN = {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}}
LEVELS = dict.fromkeys("abcd", 1)
PRICES = {"a": 3, "b": 2, "c": 1, "d": 0}
OUTSIDE = st.integers(-(2**63) + 1, 2**63 - 1)
HUGE = 2**63 - 1


def proved(instance: Document, members: Document, certificate: Any) -> Document:
    answer = {"members": members, "certificate": certificate}
    verdict: Document = verify.judge(instance, answer)["proved"]
    return verdict


def assert_sound(instance: Document, answer: Document) -> Document:
    """Enumeration confirms everything that is proved."""
    verdict = verify.judge(instance, answer)
    best, figures = verify.best(instance), verdict["figures"]
    stated: Document = verdict["proved"]
    if stated["dec_min"]:
        assert naive.is_dec_min(instance, answer, best)
        assert figures["dec_min_balanced"]
    if stated["stickiness"]:
        assert stated["dec_min"]
        assert figures["kept"] == best["kept"]
    if stated["peak_lag"]:
        assert figures["peak_lag"] == best["any_peak_lag"]
    return stated


def likely_certificate(rng: Random, instance: Document, answer: Document) -> Document:
    """Return levels near the loads and small prices: often nearly a proof."""
    loads = {m: sum(map(len, held.values())) for m, held in answer["members"].items()}
    level = {m: max(0, load - rng.randrange(2)) for m, load in loads.items()}
    price = {m: rng.randint(-2, 2) for m in loads}
    certificate: Document = {"level": level, "price": price}
    if rng.randrange(4) or len(set(naive.capacities(instance).values())) > 1:
        certificate |= likely_thresholds(rng, instance, loads)
    if level and rng.randrange(4) == 0:
        level[rng.choice(sorted(level))] = rng.randrange(4)
    return certificate


def likely_thresholds(
    rng: Random, instance: Document, loads: dict[str, int]
) -> Document:
    """Return keys near the loads, often one for all, and the levels they make."""
    weights = naive.capacities(instance)
    keys = [(max(1, n + rng.randrange(2)), weights[m]) for m, n in loads.items()]
    keys = rng.sample(keys, 1) if keys and rng.randrange(3) else keys
    threshold = {name: rng.choice(keys) for name in loads}
    level = {
        name: sum(
            naive.by_key((n, weights[name])) < naive.by_key(key) for n in range(1, 30)
        )
        for name, key in threshold.items()
    }
    return {"level": level, "threshold": {m: list(key) for m, key in threshold.items()}}


@given(rebalances(TINY), generators(), st.data())
def test_sound_for_any_integers(
    instance: Document, rng: Random, data: st.DataObject
) -> None:
    answer = draw_assignment(rng, instance)
    names = sorted(instance["members"])
    level = {name: data.draw(st.integers(0, 3) | st.just(HUGE)) for name in names}
    price = {name: data.draw(st.integers(-2, 2) | OUTSIDE) for name in names}
    answer["certificate"] = {"level": level, "price": price}
    assert_sound(instance, answer)


@pytest.mark.parametrize(
    "count", [400, pytest.param(INSTANCES // 4, marks=pytest.mark.heavy)]
)
def test_sound_for_many_seeds_and_often_a_proof(count: int) -> None:
    """Every proof is checked; a check that never proves is no check."""
    counts = {"dec_min": 0, "stickiness": 0, "peak_lag": 0}
    large = 0
    for seed in seeds(count):
        rng = Random(seed)  # noqa: S311
        instance = seeded_rebalance(seed, SMALL)
        answer = draw_assignment(rng, instance)
        answer["certificate"] = likely_certificate(rng, instance, answer)
        try:
            sound = assert_sound(instance, answer)
        except verify.TooLarge:  # four topics of three partitions, all with any lag
            large += 1
            continue
        for name, so in sound.items():
            counts[name] += so
    assert large <= count // 1000
    assert counts["dec_min"] > count // 5
    assert counts["stickiness"] > count // 10
    assert counts["peak_lag"] > count // 10


def moved(names: str, step: int) -> dict[str, int]:
    return {name: PRICES[name] + step for name in names}


TOO_HIGH: Document = {"fails": "load", "level": 2, "load": 1}


def bound_of(bound: int) -> Document:
    return {"fails": "bound", "kept": 1, "bound": bound}


@pytest.mark.parametrize(
    ("level", "price", "fails"),
    [
        # Prices may be shifted where loads are levels.
        *(({}, moved("abcd", step), None) for step in (0, 5, -5, HUGE - 3, -HUGE)),
        ({}, moved("a", -1), bound_of(2)),  # both of t look better on a
        ({}, moved("a", 1), bound_of(2)),  # nothing gains, a's own share costs one more
        ({}, moved("b", -1), bound_of(3)),
        *(({}, moved(name, 1), bound_of(2)) for name in "bcd"),
        ({}, moved("c", -1), bound_of(2)),
        ({}, moved("d", -1), None),  # v looks better on d by what d's share costs less
        # A level too low puts others in the wrong place, but d's: of level 0 with its
        # extra one, d takes v from nobody.
        ({"a": 0}, {}, {"fails": "place", "member": "b"}),
        ({"b": 0}, {}, {"fails": "place", "member": "a"}),
        ({"c": 0}, {}, {"fails": "place", "member": "d"}),
        ({"d": 0}, {}, None),
        *(({name: 2}, {}, TOO_HIGH | {"member": name}) for name in "abcd"),
    ],
)
def test_every_level_and_price_matters(
    level: dict[str, int], price: dict[str, int], fails: Document | None
) -> None:
    certificate = {"level": LEVELS | level, "price": PRICES | price}
    verdict = verify.judge(CHAIN, {"members": EVEN, "certificate": certificate})
    found = verdict["evidence"].get("certificate", {})
    assert verdict["proved"] == {
        "dec_min": found.get("fails") in {None, "bound"},
        "stickiness": fails is None,
        "peak_lag": False,
    }
    assert bool(found) == (fails is not None)
    assert found.items() >= (fails or {}).items()


def test_an_extra_partition_goes_to_the_dearest() -> None:
    """Three for two: the one that has the extra one sets the bound."""
    instance = rebalance(
        {"t": 3}, {"a": member(["t"], {"t": [0, 1, 2]}), "b": member(["t"])}
    )
    members = {"a": {"t": [0, 1]}, "b": {"t": [2]}}
    for price, bound in ((0, 3), (1, 2), (2, 3)):
        certificate = {"level": {"a": 1, "b": 1}, "price": {"a": price, "b": 0}}
        answer = {"members": members, "certificate": certificate}
        verdict = verify.judge(instance, answer)
        assert verdict["figures"]["kept"] == 2
        assert verdict["proved"]["stickiness"] is (bound == 2)
        if bound != 2:
            found = {"fails": "bound", "kept": 2, "bound": bound}
            assert verdict["evidence"]["certificate"] == found


def test_owners_above_the_least_level_keep_nothing() -> None:
    """Only b is eligible for a partition of a: the bound does not count it for a."""
    instance = rebalance(
        {"t": 1, "u": 3},
        {"a": member(["t", "u"], {"t": [0]}), "b": member(["t"])},
    )
    members = {"a": {"u": [0, 1, 2]}, "b": {"t": [0]}}
    certificate = {"level": {"a": 3, "b": 1}, "price": {"a": 0, "b": 0}}
    assert proved(instance, members, certificate)["stickiness"] is True


@pytest.mark.parametrize("price", [-7, 0, 7, HUGE])
def test_a_member_without_eligible_partitions_can_have_any_price(price: int) -> None:
    members = {"A": {"t1": [0, 1, 2]}, "B": {}}
    certificate = {"level": {"A": 3, "B": 0}, "price": {"A": 0, "B": price}}
    stated = proved(shape("NO_TOPIC_MEMBER"), members, certificate)
    assert stated == {"dec_min": True, "stickiness": True, "peak_lag": False}


def test_peak_lag_is_only_proved_where_lag_is_stated() -> None:
    without = rebalance({"t": 1}, {"a": member(["t"])})
    stated = rebalance({"t": {"partitions": 1, "lag": [0]}}, {"a": member(["t"])})
    answer = {"members": {"a": {"t": [0]}}}
    assert verify.judge(without, answer)["proved"]["peak_lag"] is False
    assert verify.judge(stated, answer)["proved"]["peak_lag"] is True


@pytest.mark.parametrize(("peak", "lag"), [(4, [4, 3]), (4, [3, 1, 4]), (7, [4, 3, 7])])
def test_peak_lag_bounds(peak: int, lag: list[int]) -> None:
    """The average rounded up, over who can get any; or the one largest."""
    instance = rebalance(
        {"t": {"partitions": len(lag), "lag": lag}, "e": 0},
        {
            "a": member(["t"]),
            "b": member(["t"]),
            "c": member([]),
            "d": member(["gone"]),
        },
    )
    answers = list(verify.every_assignment(instance))
    verdicts = [verify.judge(instance, answer) for answer in answers]
    peaks = {v["figures"]["peak_lag"] for v in verdicts if v["proved"]["peak_lag"]}
    assert peaks == {peak}
    assert min(v["figures"]["peak_lag"] for v in verdicts) == peak


UNEVEN = rebalance(
    {"t": 3},
    {"a": member(["t"], {"t": [0]}, capacity=1), "b": member(["t"], capacity=2)},
)
UNEVEN_ANSWER = {"a": {"t": [0]}, "b": {"t": [1, 2]}}
ZERO = {"a": 0, "b": 0}


@pytest.mark.parametrize(
    ("threshold", "level", "fails"),
    [
        ((2, 1), {"a": 1, "b": 4}, "load"),  # b has all keys up to 4 / 2, and but two
        ((1, 1), {"a": 0, "b": 2}, None),
        ((3, 2), {"a": 1, "b": 2}, None),
        ((3, 3), {"a": 1, "b": 1}, "threshold"),  # 2 / 2 comes after 3 / 3
        ((1, 1), {"a": 1, "b": 2}, "threshold"),
        ((1, 2), {"a": 0, "b": 0}, "load"),
    ],
)
def test_keys_that_prove_a_balance_over_capacity(
    threshold: tuple[int, int], level: dict[str, int], fails: str | None
) -> None:
    stated = {
        "level": level,
        "price": ZERO,
        "threshold": dict.fromkeys("ab", threshold),
    }
    answer = {"members": UNEVEN_ANSWER, "certificate": stated}
    verdict = verify.judge(UNEVEN, answer)
    assert verdict["proved"]["dec_min"] is (fails is None)
    assert verdict["evidence"].get("certificate", {}).get("fails") == fails


def test_levels_alone_prove_nothing_over_capacity() -> None:
    even = {"a": {"t": [0, 1]}, "b": {"t": [2]}}
    answer = {
        "members": even,
        "certificate": {"level": {"a": 1, "b": 1}, "price": ZERO},
    }
    verdict = verify.judge(UNEVEN, answer)
    fails = {"fails": "members", "part": "threshold", "member": "a"}
    assert verdict["evidence"]["certificate"] == fails
    assert verdict["proved"]["dec_min"] is False
    alike = shape("CHAIN")
    for entry in alike["members"].values():
        entry["capacity"] = 7
    assert proved(alike, EVEN, {"level": LEVELS, "price": PRICES})["stickiness"] is True
