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
from tests.amount import seeds
from tests.examples import costly, shared_by
from tests.explanation.naive import (
    Held,
    Naive,
    apply,
    explained,
    held_by,
    members_in,
)
from tests.shapes import CHAIN, Document, member, rebalance
from tests.solver.brute import Brute
from tests.strategies import (
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
    for one in found.statements:
        if isinstance(one, Unbalanced):
            assert one.loads == sorted(naive.loads(held).values(), reverse=True)
        elif isinstance(one, ImprovingChain):
            held = check_chain(naive, one, held)
        elif isinstance(one, ClaimExchange):
            held = check_exchange(naive, one, held)
    if found.answer == "not-best" and not found.more:
        try:
            best = Brute(document).best("dec-min; stickiness")
        except TooLarge:
            assume(False)
        assert best == [naive.moves(held)]  # all statements together are the optimum
        members = members_in(held, document)
        verdict = verify.judge(document, {**assignment, "members": members})
        assert verdict["figures"]["dec_min_balanced"]


def check_chain(naive: Naive, one: ImprovingChain, held: Held) -> Held:
    length = len(one.transfers) // one.chains
    for start in range(0, len(one.transfers), length):
        check_path(one.transfers[start : start + length])
    after = apply(held, one.transfers)
    assert naive.vector(after) < naive.vector(held)
    assert one.gain.moves == naive.moves(held) - naive.moves(after)
    ends = one.transfers[0].giver, one.transfers[-1].to
    assert one.loads == [naive.loads(held)[name] for name in ends]
    if one.gain.kip54_score is not None:
        score = naive.score(held) - naive.score(after)
        assert one.gain.kip54_score == score > 0
    return after


def check_exchange(naive: Naive, one: ClaimExchange, held: Held) -> Held:
    check_path(one.transfers)
    after = apply(held, one.transfers)
    assert naive.vector(after) == naive.vector(held)
    assert one.gain.moves == naive.moves(held) - naive.moves(after)
    assert len(one.restored) >= one.gain.moves > 0
    for back in one.restored:
        assert back in one.transfers
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
    values = [one["value"] for one in judged["objectives"]]
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
    for one in found.statements:
        if isinstance(one, TightBlock):
            check_block(naive, one, every, balanced)
        elif isinstance(one, CrowdedClaims):
            check_claims(naive, one, balanced)
        elif isinstance(one, OutrankedClaims):
            for number in one.partitions:
                spot = one.topic, number
                assert naive.owner[spot] == one.member
                assert all(held[spot] in one.to for held in balanced)
        elif isinstance(one, Certified):
            assert one.bound == min(map(naive.moves, balanced))


def check_block(
    naive: Naive, one: TightBlock, every: list[Held], balanced: list[Held]
) -> None:
    for held in every:
        inside = {m for (topic, _), m in held.items() if topic in one.topics}
        assert inside <= {*one.members, *one.above}
    for held in balanced:
        loads = naive.loads(held)
        mine = [loads[name] for name in one.members]
        assert sum(mine) == one.partitions
        if one.capacities is None:
            assert sorted(mine, reverse=True) == one.loads
            assert all(loads[name] >= max(mine) for name in one.above)
        for (topic, _), name in held.items():
            assert (name in one.members) == (topic in one.topics)


def check_claims(naive: Naive, one: CrowdedClaims, balanced: list[Held]) -> None:
    mine = [
        spot
        for spot, owner in naive.owner.items()
        if owner in one.members and spot[0] in one.topics
    ]
    assert len(mine) == one.claims
    assert one.claims + one.others - one.room == one.leaving > 0
    for held in balanced:
        assert sum(map(naive.loads(held).__getitem__, one.members)) <= one.room
        assert sum(held[spot] not in one.members for spot in mine) >= one.leaving


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
    for one in found.statements:
        if isinstance(one, PeakMember):
            lag = naive.lag(held, one.member)
            assert lag == one.lags[0]
            assert naive.peak(held) * naive.capacity(one.member) == lag
            held = apply(held, one.transfers)
            receiver = one.transfers[0].to
            after = [naive.lag(held, name) for name in (one.member, receiver)]
            assert after == one.lags[1:]
        elif isinstance(one, BetterAssignment):
            best = min(map(naive.peak, naive.every()))
            assert naive.peak(apply(start, one.transfers)) == best
        elif isinstance(one, LowerBound):
            best = min(map(naive.peak, naive.every()))
            assert best * (one.scale or 1) == one.bound
        elif isinstance(one, Gap):
            assert naive.peak(start) * (one.scale or 1) == one.value
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
        for one in found.statements:
            if isinstance(one, PeakMember):
                held = apply(held, one.transfers)
        if held == held_by({"members": members}):
            continue
        changed = members_in(held, document)
        before, after = (
            verify.judge(
                document, {"format": "assignment/1", "members": one, "policy": policy}
            )
            for one in (members, changed)
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
        rules = {one["rule"] for one in verdict["violations"]}
        assert {str(getattr(one, "rule", "")) for one in found.statements} == rules


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
