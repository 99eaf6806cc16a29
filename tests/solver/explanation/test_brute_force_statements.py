"""Every statement of an explanation is true, by brute force.

Reaches into `oracle.explanation.records` for the classes of statements, to compare each
with an enumeration.
"""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import assume, example, given

import verify
from oracle.explanation.bound_records import (
    Certified,
    CrowdedClaims,
    LowerBound,
    OutrankedClaims,
    TightBlock,
)
from oracle.explanation.improvement_records import (
    BetterAssignment,
    ClaimExchange,
    Gap,
    ImprovingChain,
    PeakMember,
    Unbalanced,
)
from oracle.explanation.statement_records import TransferRecord
from rebalance import (
    Assignment,
    Instance,
    InstanceError,
    assignment_of,
    instance_of,
    members_of,
    parse_assignment,
    rebalance_of,
)
from solver import explanation, parse_policy, solve
from tests.references.brute import Brute
from tests.references.naive_explanations import (
    Held,
    Naive,
    apply,
    explained,
    held_by,
    members_in,
)
from tests.support.amount import seeds
from tests.support.examples import costly, shared_by
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.support.strategies import (
    LARGER,
    TINY,
    Limits,
    draw_assignment,
    rebalances,
    rebalances_with_assignments,
    seeded_rebalance,
)
from verify import TooLarge

CHAIN_AS_IT_STANDS: Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}},
}
SKEWED = rebalance(
    {
        "t": {"partitions": 6, "lag": [900, 800, 400, 300, 200, 100]},
        "u": {"partitions": 3, "lag": [700, 600, 10]},
    },
    {
        "a": member(["t", "u"], {"t": [2], "u": [0, 1]}, 1),
        "b": member(["t", "u"], {"t": [3]}, 1),
        "c": member(["t", "u"], None, 1),
    },
)
"""With claims on few partitions, so that stickiness leaves lag to be improved."""
POLICIES = ("sticky", "fair", "none; peak-lag", "lag-aware", "kip54-sticky")


@costly()
@example((CHAIN, CHAIN_AS_IT_STANDS))
@given(rebalances_with_assignments())
def test_the_gains_are_real(pair: tuple[Document, Document]) -> None:
    document, assignment = pair
    naive, found = Naive(document), explained(document, assignment)
    assert found.withdrawn == 0
    held = held_by(assignment)
    for statement in found.statements:
        if isinstance(statement, Unbalanced):
            assert statement.loads == sorted(naive.loads(held).values(), reverse=True)
        elif isinstance(statement, ImprovingChain):
            held = check_chain(naive, statement, held)
        elif isinstance(statement, ClaimExchange):
            held = check_exchange(naive, statement, held)
    if found.answer == "not-best" and not found.more:
        try:
            best = Brute(document).best("dec-min; stickiness")
        except TooLarge:
            assume(False)
        assert best == [naive.moves(held)]  # all statements together are the optimum
        members = members_in(held, document)
        verdict = verify.judge(document, {**assignment, "members": members})
        assert verdict["figures"]["dec_min_balanced"]


def check_chain(naive: Naive, chain: ImprovingChain, held: Held) -> Held:
    length = len(chain.transfers) // chain.chains
    for start in range(0, len(chain.transfers), length):
        check_path(chain.transfers[start : start + length])
    after = apply(held, chain.transfers)
    assert naive.vector(after) < naive.vector(held)
    assert chain.gain.moves == naive.moves(held) - naive.moves(after)
    ends = chain.transfers[0].giver, chain.transfers[-1].to
    assert chain.loads == [naive.loads(held)[name] for name in ends]
    if chain.gain.kip54_score is not None:
        score = naive.score(held) - naive.score(after)
        assert chain.gain.kip54_score == score > 0
    return after


def check_exchange(naive: Naive, exchange: ClaimExchange, held: Held) -> Held:
    check_path(exchange.transfers)
    after = apply(held, exchange.transfers)
    assert naive.vector(after) == naive.vector(held)
    assert exchange.gain.moves == naive.moves(held) - naive.moves(after)
    assert len(exchange.restored) >= exchange.gain.moves > 0
    for back in exchange.restored:
        assert back in exchange.transfers
        assert naive.owner[back.topic, back.partition] == back.to
    return after


def check_path(transfers: list[TransferRecord]) -> None:
    for giver, receiver in pairwise(transfers):
        assert giver.to == receiver.giver


@pytest.mark.parametrize("policy", POLICIES)
@shared_by(len(POLICIES))
@given(pair=rebalances_with_assignments(TINY))
def test_the_answer_is_that_of_brute_force(
    policy: str, pair: tuple[Document, Document]
) -> None:
    document, assignment = pair
    try:
        found = explained(document, assignment, policy)
    except InstanceError:  # no lag
        assume(False)
    assert found.withdrawn == 0
    stated = assignment | {"policy": found.policy}
    judged = verify.judge(document, stated)
    values = [objective["value"] for objective in judged["objectives"]]
    is_best = (
        judged["policy"]["balance_met"] and Brute(document).best(found.policy) == values
    )
    assert found.answer == ("best" if is_best else "not-best")
    assert bool(found.statements) or is_best


@given(rebalances(TINY))
def test_sets_and_claims_hold_in_every_balanced_assignment(document: Document) -> None:
    naive, found = Naive(document), explained(document)
    assert (found.answer, found.withdrawn) == ("best", 0)
    every, balanced = list(naive.every()), naive.balanced()
    for statement in found.statements:
        if isinstance(statement, TightBlock):
            check_block(naive, statement, every, balanced)
        elif isinstance(statement, CrowdedClaims):
            check_claims(naive, statement, balanced)
        elif isinstance(statement, OutrankedClaims):
            for number in statement.partitions:
                spot = statement.topic, number
                assert naive.owner[spot] == statement.member
                assert all(held[spot] in statement.to for held in balanced)
        elif isinstance(statement, Certified):
            assert statement.bound == min(map(naive.moves, balanced))


def check_block(
    naive: Naive, block: TightBlock, every: list[Held], balanced: list[Held]
) -> None:
    for held in every:
        inside = {m for (topic, _), m in held.items() if topic in block.topics}
        assert inside <= {*block.members, *block.above}
    for held in balanced:
        loads = naive.loads(held)
        mine = [loads[name] for name in block.members]
        assert sum(mine) == block.partitions
        if block.capacities is None:
            assert sorted(mine, reverse=True) == block.loads
            assert all(loads[name] >= max(mine) for name in block.above)
        for (topic, _), name in held.items():
            assert (name in block.members) == (topic in block.topics)


def check_claims(naive: Naive, claims: CrowdedClaims, balanced: list[Held]) -> None:
    mine = [
        spot
        for spot, owner in naive.owner.items()
        if owner in claims.members and spot[0] in claims.topics
    ]
    assert len(mine) == claims.claims
    assert claims.claims + claims.others - claims.room == claims.leaving > 0
    for held in balanced:
        assert sum(map(naive.loads(held).__getitem__, claims.members)) <= claims.room
        assert sum(held[spot] not in claims.members for spot in mine) >= claims.leaving


@costly()
@given(rebalances_with_assignments(TINY))
def test_peak_lag_is_explained(pair: tuple[Document, Document]) -> None:
    document, assignment = pair
    try:
        found = explained(document, assignment, "none; peak-lag")
    except InstanceError:
        assume(False)
    naive = Naive(document)
    held = start = held_by(assignment)
    for statement in found.statements:
        if isinstance(statement, PeakMember):
            lag = naive.lag(held, statement.member)
            assert lag == statement.lags[0]
            assert naive.peak(held) * naive.capacity(statement.member) == lag
            held = apply(held, statement.transfers)
            receiver = statement.transfers[0].to
            after = [naive.lag(held, name) for name in (statement.member, receiver)]
            assert after == statement.lags[1:]
        elif isinstance(statement, BetterAssignment):
            best = min(map(naive.peak, naive.every()))
            assert naive.peak(apply(start, statement.transfers)) == best
        elif isinstance(statement, LowerBound):
            best = min(map(naive.peak, naive.every()))
            assert best * (statement.scale or 1) == statement.bound
        elif isinstance(statement, Gap):
            assert naive.peak(start) * (statement.scale or 1) == statement.value
    if held != start:
        assert naive.peak(held) < naive.peak(start)


@pytest.mark.parametrize(
    ("start", "policy"),
    [
        ("dec-min", "dec-min; peak-lag"),
        ("per-topic; stickiness", "per-topic; peak-lag"),
        ("spread=1; stickiness", "spread=1; peak-lag"),
        ("dec-min; stickiness", "dec-min; stickiness, peak-lag"),
        ("none; stickiness", "none; peak-lag; max-moves=1"),
    ],
)
def test_a_lower_peak_is_allowed_by_the_policy(start: str, policy: str) -> None:
    lowered = 0
    for document in (SKEWED, *(seeded_rebalance(seed, TINY) for seed in range(60))):
        if not any("lag" in topic for topic in document["topics"].values()):
            continue
        instance = instance_of(rebalance_of(document))
        best = solve(instance, parse_policy(start)).assignment
        if best is None:  # spread=1
            continue
        members = members_of(instance, best)
        answer = {"format": "assignment/1", "members": members}
        try:
            found = explained(document, answer, policy)
        except InstanceError:  # too large for CP-SAT
            continue
        assert found.withdrawn == 0
        held = held_by({"members": members})
        for statement in found.statements:
            if isinstance(statement, PeakMember):
                held = apply(held, statement.transfers)
        if held == held_by({"members": members}):
            continue
        changed = members_in(held, document)
        before, after = (
            verify.judge(
                document,
                {"format": "assignment/1", "members": assigned, "policy": policy},
            )
            for assigned in (members, changed)
        )
        assert after["policy"]["balance_met"]
        assert after["policy"]["budget_met"]
        values = [[o["value"] for o in v["objectives"]] for v in (after, before)]
        assert values[0] < values[1]
        lowered += 1
    assert lowered > 0


@given(rebalances_with_assignments(TINY, valid=False))
def test_an_invalid_assignment_is_that_of_the_judge(
    pair: tuple[Document, Document],
) -> None:
    document, assignment = pair
    found = explained(document, assignment)
    verdict = verify.judge(document, assignment)
    assert (found.answer == "invalid") == (verdict["verdict"] == "invalid")
    if found.answer == "invalid":
        rules = {violation["rule"] for violation in verdict["violations"]}
        assert {
            str(getattr(statement, "rule", "")) for statement in found.statements
        } == rules


# What is chosen among true statements, from the columns.


def drawn(seed: int, limits: Limits) -> tuple[Instance, Assignment]:
    """Return the rebalance of a seed, and a valid assignment of it."""
    document = seeded_rebalance(seed, limits)
    answer = parse_assignment(
        json.dumps(draw_assignment(Random(seed), document))  # noqa: S311
    )
    instance = instance_of(rebalance_of(document))
    return instance, assignment_of(instance, answer)


def test_chains_between_the_most_unequal_loads_are_first() -> None:
    unlike = longer = 0
    for seed in seeds(60):
        instance, assignment = drawn(seed, LARGER)
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
        instance, _ = drawn(seed, LARGER)
        certificate = solve(instance).certificate
        assert certificate is not None
        blocks = explanation.blocks_of(instance, certificate)
        for crowd in explanation.crowds_of(instance, certificate, blocks):
            in_block = np.isin(instance.partition_topic, crowd.block.topics)
            owners = instance.owner[in_block]
            assert crowd.claims == np.isin(owners, crowd.members).sum()
            counted += 1
    assert counted > 10
