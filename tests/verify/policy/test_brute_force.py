"""Brute force for policies: against the plain list, each assignment judged.

Reaches into `verify.policy` to compare its states with that list.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from tests.support.shapes import (
    CHAIN,
    LAG_GREEDY_FAILS,
    Document,
    member,
    rebalance,
    shape,
)
from tests.support.strategies import TINY, draw_rebalance, generators
from tests.verify.commands import EVEN, Capture, Files, judged
from verify import TooLarge, columns_of
from verify.policy.brute_force import ASKS, Brute, settle_policy
from verify.policy.notation import OBJECTIVES

WEIGHED = (  # by the points of fronts alone: no other answer states them
    "none; sum-of-squares; max-moves=1",
    "kip54; sum-of-squares",
)
POLICIES = (
    "dec-min",
    "dec-min; stickiness, peak-lag",
    "dec-min; peak-lag + rack; max-moves=1",
    "kip54; stickiness, lag-spread",
    "kip54; rack; max-moves=0",
    "per-topic; peak-lag, stickiness",
    "per-topic; topic-peak-lag, load",
    "per-topic; per-topic-spread; max-moves=2",
    "spread=0; stickiness",
    "spread=1; load, lag-deviation",
    "none; per-topic-spread, topic-peak-lag",
    "none; 2*stickiness + rack, load",
    "none; lag-deviation; max-moves=0",
    *WEIGHED,
)


def settled(document: Document, answer: Document) -> Document:
    verdict = verify.judge(document, answer)
    case = verify.case_of(document)
    return settle_policy(
        case,
        columns_of(case, answer["members"]),
        answer,
        complete=verdict["verdict"] == "valid",
    )


def listed(document: Document, policy: str) -> list[tuple[Document, bool, list[Any]]]:
    """Return every assignment, whether the judge finds it allowed, and its values."""
    found = []
    for answer in verify.every_assignment(document):
        verdict = verify.judge(document, answer | {"policy": policy})
        met = verdict["policy"]["balance_met"] and verdict["policy"]["budget_met"]
        values = [objective["value"] for objective in verdict["objectives"]]
        found.append((answer, met, values))
    return found


@given(generators(), st.sampled_from(POLICIES))
def test_as_the_plain_list_says(rng: Random, policy: str) -> None:
    """Differential: the least vector, and what is claimed of a random assignment."""
    document = draw_rebalance(rng, TINY)
    every = listed(document, policy)
    allowed = [values for _, met, values in every if met]
    answer, met, mine = rng.choice(every)
    levels = policy.split("; ")[1].split(", ") if policy != "dec-min" else []
    bounds = [_near(rng, value) for value in mine]
    status = rng.choice(("optimal", "feasible", "infeasible", "unknown"))
    stated = answer | {"policy": policy, "status": status}
    stated["objectives"] = [
        {"of": of, "value": value, "bound": bound}
        for of, value, bound in zip(levels, mine, bounds, strict=True)
    ]
    found = settled(document, stated)
    assert found["policy"] == policy
    assert found["feasible"] == bool(allowed)
    assert found["allowed"] == met
    assert found["optimal"] == (met and mine == min(allowed))
    assert [objective["of"] for objective in found["objectives"]] == levels
    for place, objective in enumerate(found["objectives"]):
        if allowed:
            assert objective["least"] == min(allowed)[place]
            reached = met and mine[: place + 1] == min(allowed)[: place + 1]
            assert objective["reached"] == reached
        else:
            assert (objective["reached"], "least" in objective) == (False, False)
        as_good = [other for other in allowed if other[:place] == mine[:place]]
        holds = all(bounds[place] <= other[place] for other in as_good)
        assert objective["bound_holds"] == holds
    holds_of = {
        "optimal": found["optimal"],
        "feasible": met,
        "infeasible": not allowed,
        "unknown": None,
    }
    assert found.get("status_holds") == holds_of[status]


def _near(rng: Random, value: Any) -> Any:
    if isinstance(value, list):
        return [max(0, number + rng.choice((0, 0, 1, -1))) for number in value]
    return value + rng.choice((0, 0, 1, -1, -(10**6)))


def test_brute_force_knows_every_word_of_a_policy() -> None:
    """Objectives that are not listed would be lost where equal holdings are merged."""
    balances = {"dec-min", "kip54", "per-topic", "spread", "none"}
    assert ASKS.keys() == {*OBJECTIVES, *balances}


def test_fractions_are_stated_in_their_units() -> None:
    document = shape("LAG_GREEDY_FAILS")
    for name, capacity in zip(sorted(document["members"]), (2, 3), strict=True):
        document["members"][name]["capacity"] = capacity
    case = verify.case_of(document)
    (least,) = min(Brute(case, "none; peak-lag").vectors)
    nobody: Document = {name: {} for name in document["members"]}
    found = settled(document, {"members": nobody, "policy": "none; peak-lag"})
    expected = {"of": "peak-lag", "least": least, "scale": 6, "reached": False}
    assert found["objectives"] == [expected]


def test_from_a_shell(files: Files, capfdbinary: Capture) -> None:
    greedy = {"a": {"t": [0]}, "b": {"t": [1, 2, 3]}}
    answer = EVEN | {"policy": "dec-min; stickiness", "status": "optimal"}
    code, (verdict,), _ = judged(
        capfdbinary, files("i", CHAIN), files("a", answer), "--against-brute-force"
    )
    assert code == 0
    found = verdict["evidence"]["brute_force"]
    assert found["objectives"] == [{"of": "stickiness", "least": 3, "reached": True}]
    assert found["status_holds"]
    names = sorted(LAG_GREEDY_FAILS["members"])
    held = dict(zip(names, greedy.values(), strict=True))
    invalid = {"format": "assignment/1", "members": held, "policy": "none; peak-lag"}
    pair = files("i", LAG_GREEDY_FAILS), files("a", invalid)
    _, (verdict,), _ = judged(capfdbinary, *pair, "--against-brute-force")
    assert not verdict["evidence"]["brute_force"]["optimal"]


def test_a_withheld_partition_reaches_nothing(
    files: Files, capfdbinary: Capture
) -> None:
    held = {"c1": {"t": [1]}, "c2": {"t": [2]}, "c3": {}}
    answer = {"format": "assignment/1", "members": held, "policy": "none; stickiness"}
    pair = files("i", shape("DOUBLE_CLAIM")), files("a", answer)
    flags = "--cooperative", "--against-brute-force"
    _, (verdict,), _ = judged(capfdbinary, *pair, *flags)
    assert not verdict["evidence"]["brute_force"]["allowed"]


def test_too_large_in_words(files: Files, capfdbinary: Capture) -> None:
    topics = {"t": {"partitions": 14, "lag": [4**n for n in range(14)]}}
    document = rebalance(topics, {name: member(["t"]) for name in "abc"})
    held = {"a": {"t": [*range(14)]}, "b": {}, "c": {}}
    answer = {"format": "assignment/1", "members": held, "policy": "none; peak-lag"}
    path = files("i", document)
    code, (verdict,), err = judged(
        capfdbinary, path, files("a", answer), "--against-brute-force"
    )
    reason = "too large for brute force: more than 500000 states"
    assert code == 2
    assert verdict["verdict"] == "valid"
    assert verdict["evidence"]["brute_force"] == {"refused": reason}
    assert err == f"verify: {path}:1: {reason}\n"
    # What is not asked for does not count: by number alone it is soon dealt.
    counted = Brute(verify.case_of(document), "dec-min; stickiness")
    assert counted.vectors.count([0]) == len(counted.vectors) > 0


def test_refuses_many_members_and_partitions_before_dealing() -> None:
    for members, partitions in ((21, 1), (1, 201), (2, 20_000_000)):
        document = rebalance(
            {"t": {"partitions": partitions}},
            {f"m{n}": member(["t"]) for n in range(members)},
        )
        with pytest.raises(TooLarge, match="brute force goes up to 20 and 200"):
            Brute(verify.case_of(document), "dec-min")
