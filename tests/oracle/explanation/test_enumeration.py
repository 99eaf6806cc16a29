"""Every sentence, scope included, against an enumeration, under drawn policies."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from oracle.explanation import Explanation
from rebalance import InstanceError, instance_of, members_of, rebalance_of
from solver import parse_policy, solve
from tests.references.enumeration import Enumerated
from tests.references.naive_explanations import explained
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document
from tests.support.strategies import TINY, draw_assignment, seeded_rebalance

BALANCES = ("dec-min", "kip54", "per-topic", "spread=1", "spread=2", "none")
OBJECTIVES = (
    "stickiness",
    "peak-lag",
    "topic-peak-lag",
    "lag-spread",
    "lag-deviation",
    "rack",
    "per-topic-spread",
    "load",
    "stickiness + rack",
    "2*rack + stickiness",
)
NAMED = (
    "dec-min; stickiness",
    "dec-min",
    "kip54; stickiness",
    "none; stickiness, load",
    "per-topic; peak-lag",
    "dec-min; stickiness, peak-lag",
    "dec-min; peak-lag, stickiness",
)
SHARDS = 16
POLICIES_TRIED = 20
"""Drawn policies per rebalance; those that need lag may not apply."""
KINDS = {
    *("gap", "balance", "chain", "topic", "exchange", "budget", "peak", "difference"),
    *("block", "claims", "outranked", "bound", "certificate", "search"),
}


RARE = {"outranked", "peak"}
"""Kinds of which one of a shard's 1,563 instances at night can be without any."""


def drawn_policy(rng: Random) -> str:
    """Return a named policy, or any other: a balance, objectives, and a budget."""
    if rng.random() < 0.25:
        return rng.choice(NAMED)
    names = rng.sample(OBJECTIVES, rng.choice((0, 1, 2, 2, 3)))
    budget = [f"max-moves={rng.randrange(3)}"] if rng.random() < 0.25 else []
    levels = [", ".join(names)] if names else []
    return "; ".join([rng.choice(BALANCES), *levels, *budget])


def explained_under(
    document: Document, given: Document, policy: str
) -> tuple[Explanation, Explanation, Document | None] | None:
    """Explain an assignment and the optimum; None if the policy does not apply."""
    instance = instance_of(rebalance_of(document))
    try:
        best = solve(instance, parse_policy(policy)).assignment
        found = explained(document, given, policy), explained(document, None, policy)
    except InstanceError:  # no lag, or too much of it
        return None
    return *found, None if best is None else members_of(instance, best)


def check(seed: int) -> Counter[str]:
    """Check the explanations of a drawn assignment and of the optimum; count kinds."""
    rng = Random(f"explained {seed}")  # noqa: S311
    document = seeded_rebalance(seed, TINY)
    given = draw_assignment(rng, document)
    for _ in range(POLICIES_TRIED):
        policy = str(parse_policy(drawn_policy(rng)))
        explanations = explained_under(document, given, policy)
        if explanations is not None:
            break
    else:
        return Counter()
    found, optimum, members = explanations
    assert (found.withdrawn, optimum.withdrawn) == (0, 0)
    kinds: Counter[str] = Counter()
    kinds.update(
        statement.kind for statement in (*found.statements, *optimum.statements)
    )
    if document["members"]:
        Enumerated(document, given["members"], policy).check(found)
        if members is not None:
            Enumerated(document, members, policy).check(optimum)
    return kinds


def test_sentences_agree_with_enumeration() -> None:
    kinds: Counter[str] = Counter()
    for seed in seeds(30):
        kinds += check(seed)
    assert len(kinds) > 4  # by the window of seeds, 8 or more


@pytest.mark.heavy(minutes=3)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_more_sentences_agree_with_enumeration(shard: int) -> None:
    """Half of the instances of a run: 4,000 in CI, 25,000 at night."""
    each = INSTANCES // 2 // SHARDS + 1
    kinds: Counter[str] = Counter()
    for seed in seeds(each, first=shard * each):
        kinds += check(seed)
    if each > 500:
        assert kinds.keys() >= KINDS - RARE
