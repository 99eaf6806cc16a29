"""Values of objectives as the engines count them, against the judge's own count."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from rebalance import Assignment, InstanceError, document_of
from solver.policy import Objective, Sum, no_balance
from solver.policy.policy import Policy
from solver.values import check_policy, scale_of, value_of
from tests.shapes import SHAPES, Document, shape
from tests.solver.routes import INSTANCES, instance
from tests.strategies import SMALL, seeded_rebalance
from verify import objectives
from verify.case import understand


def check_counts(document: Document, rng: Random) -> bool:
    """Assert that both count a drawn assignment alike; tell whether lag was there."""
    laid_out, case = instance(document), understand(document)
    takers: dict[int, list[int]] = {}
    for member in range(len(laid_out.members)):
        for topic in laid_out.topics_of(member).tolist():
            takers.setdefault(topic, []).append(member)
    # Few holders, so that some subscribers have nothing.
    assignee = [
        rng.choice(takers[topic][: rng.randint(1, 3)]) if topic in takers else -1
        for topic in laid_out.partition_topic.tolist()
    ]
    held = Assignment(assignee=np.array(assignee, dtype=np.int32))
    rows = [
        (name, topic, list(numbers))
        for name, topics in document_of(laid_out, held, assignor="a").members.items()
        for topic, numbers in topics.items()
    ]
    tally = objectives.tally_of(case, rows)
    for objective in Objective:
        level = Sum.of(objective)
        try:
            check_policy(laid_out, Policy(balance=no_balance, levels=(level,)))
        except InstanceError:
            continue
        told = value_of(laid_out, held, level)
        counted = objectives.value_of(case, tally, ((1, objective.value),))
        assert (list(told) if isinstance(told, tuple) else told) == counted, objective
        assert scale_of(laid_out, level) == objectives.scale_of(
            case, ((1, objective.value),)
        )
    return laid_out.lag is not None


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_shapes(name: str) -> None:
    check_counts(shape(name), Random(name))  # noqa: S311


def test_the_judge_counts_the_same() -> None:
    rng = Random(1)  # noqa: S311
    counted = sum(
        check_counts(seeded_rebalance(seed, SMALL), rng)
        for seed in range(max(200, INSTANCES // 10))
    )
    assert counted > 50  # with lag
