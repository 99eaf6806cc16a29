"""Which of the true statements are chosen, from the columns.

`tests.oracle.explanation.test_enumeration` compares each with an enumeration.
"""

from __future__ import annotations

import json
from random import Random

import numpy as np

from rebalance import (
    Assignment,
    Instance,
    assignment_of,
    instance_of,
    parse_assignment,
    rebalance_of,
)
from solver import explanation, solve
from tests.support.amount import seeds
from tests.support.strategies import LARGER, draw_assignment, seeded_rebalance


def drawn(seed: int) -> tuple[Instance, Assignment]:
    """Return the rebalance of a seed, and a valid assignment of it."""
    document = seeded_rebalance(seed, LARGER)
    answer = parse_assignment(
        json.dumps(draw_assignment(Random(seed), document))  # noqa: S311
    )
    instance = instance_of(rebalance_of(document))
    return instance, assignment_of(instance, answer)


def test_chains_between_the_most_unequal_loads_are_first() -> None:
    unlike = longer = 0
    for seed in seeds(60):
        instance, assignment = drawn(seed)
        chains, balanced = explanation.balance(instance, assignment)
        loads, assignee = assignment.loads(instance), assignment.assignee
        gaps = [loads[chain[0].giver] - loads[chain[-1].receiver] for chain in chains]
        assert gaps == sorted(gaps, reverse=True)
        for chain in chains:
            assignee = explanation.apply(assignee, chain)
        after = Assignment(assignee=assignee).loads(instance)
        assert after.tolist() == balanced.loads(instance).tolist()
        if len(set(gaps)) > 1:
            unlike += 1
            longer += any(len(chain) > 1 for chain in chains)
    assert unlike > longer > 0


def test_a_set_counts_all_claims_of_its_members() -> None:
    counted = 0
    for seed in seeds(60):
        instance, _ = drawn(seed)
        certificate = solve(instance).certificate
        assert certificate is not None
        blocks = explanation.blocks_of(instance, certificate)
        for crowd in explanation.crowds_of(instance, certificate, blocks):
            in_block = np.isin(instance.partition_topic, crowd.block.topics)
            owners = instance.owner[in_block]
            assert crowd.claims == np.isin(owners, crowd.members).sum()
            counted += 1
    assert counted > 10
