"""Chain sticky: dec-min loads for all subscriptions."""

from __future__ import annotations

import numpy as np
import pytest

from conformance import Scenario, play
from heuristics import ASSIGNORS
from rebalance import (
    NOBODY,
    AssignmentDocument,
    Instance,
    Rebalance,
    document_of,
    instance_of,
)
from solver import solve
from tests.conformance.corpus.scenes import SCENARIOS
from tests.heuristics.routes import faults, fits, instance
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import LARGER, seeded_rebalance


def loads(laid_out: Instance, assignee: np.ndarray) -> list[int]:
    held = np.bincount(assignee[assignee != NOBODY], minlength=len(laid_out.members))
    return sorted(held.tolist())


def agrees(document: Document) -> int:
    """Assert that it is valid and balanced; return moves beyond the fewest.

    Capacities do not count, so they are left out.
    """
    members = {
        name: {key: about[key] for key in about if key != "capacity"}
        for name, about in document["members"].items()
    }
    document = document | {"members": members}
    laid_out = instance(document)
    assignor = ASSIGNORS["chain-sticky"]
    assert assignor.refuses(laid_out) is None
    assignment = assignor.assign(laid_out)
    held = document_of(laid_out, assignment, assignor=assignor.name).members
    assert faults(document, held) == []
    best = solve(laid_out).require_assignment()
    assert loads(laid_out, assignment.assignee) == loads(laid_out, best.assignee)
    owned = laid_out.owner != NOBODY
    moved, fewest = (
        int(np.count_nonzero(owned & (assignee != laid_out.owner)))
        for assignee in (assignment.assignee, best.assignee)
    )
    assert moved >= fewest
    return moved - fewest


def test_on_larger_rebalances_with_few_needless_moves() -> None:
    needless = [agrees(d) for d in map(larger, range(400)) if fits(d)]
    assert sum(map(bool, needless)) < len(needless) // 4
    assert sum(needless) < len(needless)


def larger(seed: int) -> Document:
    return seeded_rebalance(seed, LARGER)


@pytest.mark.heavy
def test_on_many_rebalances() -> None:
    for seed in seeds(INSTANCES):
        document = seeded_rebalance(seed)
        if fits(document):
            agrees(document)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_on_the_corpus_with_its_own_answers_as_claims(scenario: Scenario) -> None:
    assignor = ASSIGNORS["chain-sticky"]

    def answer(given_rebalance: Rebalance) -> AssignmentDocument:
        laid_out = instance_of(given_rebalance)
        assignment = assignor.assign(laid_out)
        best = solve(laid_out).require_assignment()
        assert loads(laid_out, assignment.assignee) == loads(laid_out, best.assignee)
        return document_of(laid_out, assignment, assignor=assignor.name)

    for _ in play(scenario, answer):
        pass


def test_what_has_moved_goes_home_where_that_costs_nothing() -> None:
    """The first chain is a to b; then c needs one, and b gives its own, not a's."""
    document = rebalance(
        {"s": {"partitions": 3}, "t": {"partitions": 1}},
        {
            "a": member(["s"], {"s": [0, 1, 2]}),
            "b": member(["s", "t"], {"t": [0]}),
            "c": member(["t"]),
        },
    )
    held = ASSIGNORS["chain-sticky"].assign(instance(document)).assignee
    assert held.tolist() == [0, 1, 0, 2]
    assert agrees(document) == 0


def test_member_order_in_the_document_does_not_matter() -> None:
    for seed in range(100):
        document = seeded_rebalance(seed)
        if not fits(document):
            continue
        turned = document | {
            "members": dict(reversed(document["members"].items())),
            "topics": dict(reversed(document["topics"].items())),
        }
        ours, same = (
            ASSIGNORS["chain-sticky"].assign(instance(d)).assignee.tolist()
            for d in (document, turned)
        )
        assert ours == same
