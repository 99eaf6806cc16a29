"""Claims that nothing is allowed: proved or refuted by counting, never wrongly."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

import verify
from tests.references.brute import Brute
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.support.strategies import (
    SMALL,
    TINY,
    draw_rebalance,
    generators,
)
from verify import TooLarge

BALANCES = ("dec-min", "kip54", "per-topic", "spread=0", "spread=1", "spread=2", "none")


@given(generators(), st.sampled_from(BALANCES))
def test_never_wrongly(rng: Random, balance: str) -> None:
    document = draw_rebalance(rng, rng.choice((TINY, SMALL)))
    budget = rng.choice(("", *(f"; max-moves={n}" for n in range(4))))
    try:
        brute = Brute(document)
    except TooLarge:
        return
    best = brute.best(balance + budget)
    found = judged(document, balance + budget)
    assert "proved" not in found or best is None, found
    assert "refuted" not in found or best is not None, found
    assert len({"proved", "refuted"} & found.keys()) <= 1


def judged(document: Document, policy: str) -> Document:
    """Judge claims that no assignment is allowed."""
    nobody: Document = {"members": {name: {} for name in document["members"]}}
    claim = {"format": "assignment/1", "policy": policy, "status": "infeasible"}
    verdict = verify.judge(document, nobody | claim)
    return dict(verdict["evidence"]["status"])


def test_one_too_many_for_equal_loads() -> None:
    document = rebalance({"t": {"partitions": 3}}, {m: member(["t"]) for m in "ab"})
    proved = {"proved": True, "because": {"spread": 1}}
    assert judged(document, "spread=0") == {"claimed": "infeasible"} | proved
    # An upper bound it has not: what may be possible stays open.
    assert judged(document, "spread=1") == {"claimed": "infeasible"}
    for name, weight in zip("ab", (1, 2), strict=True):
        document["members"][name]["capacity"] = weight
    assert judged(document, "spread=0") == {"claimed": "infeasible"}
    document["topics"]["t"]["partitions"] = 4
    reason = {"spread": 1, "scale": 2}
    assert judged(document, "spread=0")["because"] == reason


def test_a_member_with_few_topics_prevents_an_even_spread() -> None:
    topics = {"t": {"partitions": 9}, "u": {"partitions": 1}}
    people = {"a": member(["t"]), "b": member(["t"]), "c": member(["u"])}
    found = judged(rebalance(topics, people), "spread=3; stickiness")
    assert found["because"] == {"spread": 4}
    assert found["proved"]


def test_budgets_are_counted_topic_by_topic() -> None:
    owned = {"t": [0, 1, 2, 3], "u": [0]}
    people = {"a": member(["t", "u"], owned), "b": member(["t", "u"])}
    topics = {"t": {"partitions": 4}, "u": {"partitions": 1}}
    document = rebalance(topics, people)
    assert judged(document, "per-topic; max-moves=1") == {
        "claimed": "infeasible",
        "proved": True,
        "because": {"moves": 2},
    }
    assert judged(document, "per-topic; max-moves=2")["refuted"]
    assert judged(document, "dec-min; max-moves=1")["because"] == {"moves": 2}
    assert judged(document, "none; max-moves=0")["refuted"]
    assert judged(document, "kip54") == {
        "claimed": "infeasible",
        "refuted": True,
        "because": {"balance": "kip54"},
    }
    assert judged(document, "kip54; max-moves=0") == {"claimed": "infeasible"}
    topics = {"t": {"partitions": 4}}
    people = {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"], {"t": [2, 3]})}
    one_extra = rebalance(topics, people | {"c": member(["t"])})
    assert judged(one_extra, "dec-min; max-moves=0")["because"] == {"moves": 1}
    assert judged(CHAIN, "dec-min; max-moves=2") == {"claimed": "infeasible"}
