"""The exchange that is named for a member with the peak lag is the best allowed one.

Every transfer and every swap of a partition of the member is tried, and the judge
decides which of them the policy allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import verify
from rebalance import InstanceError, instance_of, members_of, rebalance_of
from solver import explanation, parse_policy, solve
from tests.references.naive_explanations import (
    Held,
    Naive,
    explained,
    held_by,
    members_in,
)
from tests.support.amount import seeds, share
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import Limits, seeded_rebalance

LIMITS = Limits(members=3, topics=3, partitions=4)
LAG_MAX = 2**50
"""Sums above that, times a common capacity, are refused."""
POLICIES = [
    ("none; stickiness", "none; peak-lag"),
    ("none; stickiness", "none; stickiness, peak-lag"),
    ("none; stickiness", "none; peak-lag; max-moves=1"),
    ("dec-min; stickiness", "dec-min; peak-lag"),
    ("dec-min; stickiness", "dec-min; stickiness, peak-lag"),
    ("dec-min; stickiness", "dec-min; peak-lag; max-moves=3"),
    ("per-topic; stickiness", "per-topic; peak-lag"),
    ("per-topic; stickiness", "per-topic; peak-lag; max-moves=2"),
    ("kip54; stickiness", "kip54; peak-lag"),
    ("kip54; stickiness", "kip54; stickiness, peak-lag"),
    ("spread=1; stickiness", "spread=1; peak-lag"),
    ("spread=3; stickiness", "spread=3; peak-lag"),
]


def every_exchange(naive: Naive, held: Held, giver: str) -> Iterator[Held]:
    """Yield what every transfer of one partition leads to, and every swap."""
    wants = {
        name: set(member["subscription"])
        for name, member in naive.document["members"].items()
    }
    for spot in [spot for spot, name in held.items() if name == giver]:
        for other, wanted in wants.items():
            if other == giver or spot[0] not in wanted:
                continue
            there = {**held, spot: other}
            yield there
            for back, holder in held.items():
                if holder == other and back[0] in wants[giver]:
                    yield {**there, back: giver}


def larger_lag(naive: Naive, before: Held, after: Held, giver: str) -> Fraction:
    """Return the larger lag ÷ capacity of the two members of an exchange."""
    names = {giver, *(after[spot] for spot in after if after[spot] != before[spot])}
    return max(Fraction(naive.lag(after, m), naive.capacity(m)) for m in names)


def best_of(naive: Naive, held: Held, giver: str, policy: str) -> Fraction | None:
    """Return the least larger lag of all allowed exchanges that lower it."""
    document = naive.document
    case = verify.case_of(document)

    def values(held: Held) -> list[object] | None:
        stated = {"format": "assignment/1", "members": members_in(held, document)}
        verdict = verify.judge_case(case, {**stated, "policy": policy})
        met = verdict["policy"]
        moves = [o["value"] for o in verdict["objectives"] if o["of"] == "stickiness"]
        return moves if met["balance_met"] and met["budget_met"] else None

    before, present = values(held), Fraction(naive.lag(held, giver))
    first = present / naive.capacity(giver)
    lags = [
        larger_lag(naive, held, after, giver)
        for after in every_exchange(naive, held, giver)
        if (found := values(after)) is not None and found == before
    ]
    return min((lag for lag in lags if lag < first), default=None)


def check_exchange(document: Document, start: str, policy: str) -> bool | None:
    """Compare the exchange with all; None without a start, else whether one exists."""
    instance = instance_of(rebalance_of(document))
    try:
        begin = solve(instance, parse_policy(start))
        chains = []
        if begin.assignment is not None:
            chains = explanation.lower_peak(
                instance,
                begin.assignment,
                parse_policy(policy),
                begin.certificate if policy.startswith("dec-min") else None,
            )
    except InstanceError:
        return None
    if begin.assignment is None:
        return None
    naive = Naive(document)
    held = held_by({"members": members_of(instance, begin.assignment)})
    ratios = {m: Fraction(naive.lag(held, m), naive.capacity(m)) for m in naive.in_play}
    peak = max(ratios.values(), default=Fraction(0))
    givers = [name for name, ratio in ratios.items() if ratio == peak]
    if not chains:
        if peak and len(givers) == 1:
            assert best_of(naive, held, givers[0], policy) is None
        return False
    names = instance.members
    giver = names[chains[0][0].giver]
    assert giver in givers
    spots = [
        (topic, number)
        for topic in instance.topics
        for number in range(document["topics"][topic]["partitions"])
    ]
    after = held | {spots[t.partition]: names[t.receiver] for t in chains[0]}
    found = larger_lag(naive, held, after, giver)
    assert found == best_of(naive, held, giver, policy)
    return True


@pytest.mark.parametrize(("start", "policy"), POLICIES)
def test_the_exchange_for_a_peak_is_the_best(start: str, policy: str) -> None:
    found = 0
    for seed in seeds(max(100, share(20, 40))):
        document = seeded_rebalance(seed, LIMITS)
        lags = [sum(topic.get("lag", ())) for topic in document["topics"].values()]
        if 0 < sum(lags) < LAG_MAX:
            found += check_exchange(document, start, policy) or 0
    assert found > 0


def peak_of(document: Document, given: Document, policy: str) -> Any:
    """Return the one statement on a member with the peak lag."""
    found = explained(document, given, policy).statements
    (peak,) = (statement for statement in found if statement.kind == "peak")
    return peak


ACROSS = rebalance(
    {
        "t": {"partitions": 1, "lag": [9]},
        "u": {"partitions": 2, "lag": [5, 5]},
        "v": {"partitions": 1, "lag": [0]},
    },
    {"a": member(["t", "u", "v"]), "b": member(["t", "u", "v"])},
)
HELD = {"a": {"t": [0], "u": [0]}, "b": {"u": [1], "v": [0]}}


@pytest.mark.parametrize("policy", ["kip54; peak-lag", "spread=0; peak-lag"])
def test_bug_swaps_between_topics_were_not_tried(policy: str) -> None:
    """A swap within u gains nothing; t:0 for u:1 leaves 10 and 9 of 14 and 5."""
    given = {"format": "assignment/1", "members": HELD}
    peak = peak_of(ACROSS, given, policy)
    assert peak.lags == [14, 10, 9]
    assert best_of(Naive(ACROSS), held_by(given), "a", policy) == 10


def test_bug_a_transfer_that_kip54_allows_was_not_tried() -> None:
    document = rebalance(
        {"t": {"partitions": 3, "lag": [9, 5, 0]}},
        {"a": member(["t"]), "b": member(["t"])},
    )
    given = {
        "format": "assignment/1",
        "members": {"a": {"t": [0, 1]}, "b": {"t": [2]}},
    }
    peak = peak_of(document, given, "kip54; peak-lag")
    assert (len(peak.transfers), peak.lags[0], max(peak.lags[1:])) == (1, 14, 9)


def test_bug_moves_that_the_budget_leaves_were_not_used() -> None:
    document = rebalance(
        {"t": {"partitions": 2, "lag": [9, 5]}},
        {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"])},
    )
    given = {"format": "assignment/1", "members": {"a": {"t": [0, 1]}, "b": {}}}
    peak = peak_of(document, given, "none; peak-lag; max-moves=1")
    assert (peak.lags[0], max(peak.lags[1:])) == (14, 9)
    found = explained(document, given, "none; peak-lag; max-moves=0")
    assert found.answer == "best"
