"""Few partitions with lag, which are packed: answers are the best, and proved."""

from __future__ import annotations

import json
from random import Random

import pytest

import verify
from rebalance import to_json
from solver import Limits, parse_policy
from solver.peak_lag import solve
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document, member, rebalance

SEEDS = seeds(max(20, INSTANCES // 40))
DEALS = 4
"""Number of parts of the seeds, so that several workers share them."""
POLICIES = ("none; peak-lag", "dec-min; peak-lag", "per-topic; peak-lag")


def heap(seed: int) -> Document:
    """Return two or three members alike, and few partitions with lag on each."""
    rng = Random(seed)  # noqa: S311
    topics = {
        name: {
            "partitions": n,
            "lag": [rng.choice((0, rng.randint(1, 30))) for _ in range(n)],
        }
        for name, n in (("t", rng.randint(2, 5)), ("u", rng.randint(0, 2)))
    }
    members = {name: member(["t", "u"]) for name in "abc"[: rng.randint(2, 3)]}
    for participant in members.values():
        participant["capacity"] = 2 if seed % 3 == 0 else 1
    document = rebalance(topics, members)
    last_drawn.note(document, seed)
    return document


@pytest.mark.parametrize("deal", range(DEALS))
def test_answers_with_little_lag(deal: int) -> None:
    for seed in SEEDS[deal::DEALS]:
        document = heap(seed)
        brute = Brute(document)
        check_answers(document, brute)


def check_answers(document: Document, brute: Brute) -> None:
    """Assert that answers are the best, and proved to the judge."""
    laid_out = instance(document)
    for policy in POLICIES:
        outcome = solve(laid_out, parse_policy(policy), limits=Limits(effort=20))
        assert [objective.value for objective in outcome.objectives] == brute.best(
            policy
        )
        verdict = verify.judge(
            document, json.loads(to_json(outcome.to_document(laid_out)))
        )
        (objective,) = verdict["objectives"]
        assert verdict["verdict"] == "valid"
        assert objective["proved"] or objective["rests_on"] == "search", objective
