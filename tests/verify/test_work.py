"""The judge takes no more steps than it charges beforehand.

Reaches into `verify.policy` to count comparisons with racks.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import verify
from tests.support.shapes import Document
from tests.verify.racked_groups import (
    answer_by_certificate,
    answer_by_terms,
    far_owners,
    numbered,
    own_racks,
)
from verify.figures import is_far
from verify.policy import answers, best_alone
from verify.policy.notation import read_policy
from verify.policy.work import WORK_MAX, Work, steps_of_pass, steps_of_racks

SIZE = 60
SEPARATE: Document = {"kind": "separate", "bound": 0}
PRICES: Document = {"kind": "prices", "bound": 0, "weight": {"rack": 1}}
BOTH: Document = {"stickiness": 1, "rack": 1}
LOADS = [1] * SIZE
CASES: dict[str, tuple[Document, Document]] = {
    "separate": (
        own_racks(SIZE),
        answer_by_terms(own_racks(SIZE), "none; rack", "rack", [SEPARATE]),
    ),
    "separate of a sum": (
        own_racks(SIZE),
        answer_by_terms(
            own_racks(SIZE),
            "none; 2*stickiness + rack, rack",
            "rack",
            [SEPARATE, SEPARATE],
        ),
    ),
    "prices": (
        own_racks(SIZE),
        answer_by_terms(own_racks(SIZE), "per-topic; rack", "rack", [PRICES]),
    ),
    "certificate": (
        own_racks(SIZE),
        answer_by_certificate(own_racks(SIZE), "none; rack, load", [0, LOADS], BOTH),
    ),
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the comparisons with racks, and the steps that are charged."""
    counts: Counter[str] = Counter()

    def compare(*given: Any) -> bool:
        counts["compared"] += 1
        return is_far(*given)

    def spend(work: Work, steps: int) -> Document | None:
        counts["charged"] += steps
        return refuse(work, steps)

    refuse = Work.refuse
    monkeypatch.setattr("verify.policy.best_alone.is_far", compare)
    monkeypatch.setattr("verify.certificate.is_far", compare)
    monkeypatch.setattr(Work, "refuse", spend)
    return counts


@pytest.mark.parametrize(("group", "answer"), CASES.values(), ids=CASES)
def test_bug_each_set_of_racks_is_compared_with_each_member(
    group: Document, answer: Document, counted: Counter[str]
) -> None:
    """One term compared n * n members with racks, and was charged 16 * n steps."""
    verdict = verify.judge(group, answer)
    stated = [
        objective
        for objective in verdict["objectives"]
        if objective["rests_on"] != "nothing"
    ]
    assert [objective["proved"] for objective in stated] == [True] * len(
        answer["objectives"]
    )
    case = verify.case_of(group)
    assert counted["compared"] >= SIZE * SIZE
    assert steps_of_pass(case) == 4 * 2 * SIZE
    assert steps_of_racks(case) == SIZE + (SIZE - 1) * SIZE
    assert counted["compared"] <= counted["charged"]


@pytest.mark.parametrize(
    ("policy", "level"),
    [("none; stickiness, rack", "stickiness"), ("none; 2*stickiness", "2*stickiness")],
)
def test_racks_cost_nothing_where_no_level_counts_them(
    policy: str, level: str, counted: Counter[str]
) -> None:
    group = own_racks(SIZE)
    verify.judge(group, answer_by_terms(group, policy, level, [SEPARATE]))
    assert counted["charged"] == 2 * steps_of_pass(verify.case_of(group))


def test_bug_owners_that_are_as_good_as_others() -> None:
    """Each owner is listed with all members that have a replica: n * n names."""
    group = far_owners(SIZE)
    case = verify.case_of(group)
    levels = list(read_policy("none; stickiness + rack").levels.values())
    owned = {name: member.get("owned", {}) for name, member in group["members"].items()}
    found = best_alone.narrowed(case, verify.columns_of(case, owned), levels)
    listed = sum(map(len, found.case.subscribers.values()))
    assert listed == SIZE * (SIZE + 1)
    assert best_alone.steps_of_narrowing(case, levels) == 16 * listed
    assert steps_of_pass(found.case) >= 4 * listed > 8 * steps_of_pass(case)


@pytest.mark.parametrize("left", [0, -1])
def test_narrowing_shares_the_limit(left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    group = far_owners(SIZE)
    case, policy = verify.case_of(group), "none; stickiness + rack, load"
    steps = 5 * (steps_of_pass(case) + steps_of_racks(case))
    steps += 16 * SIZE * (SIZE + 1)
    monkeypatch.setattr(answers, "Work", lambda: Work(steps + left))
    loads = [1] * SIZE + [0] * SIZE
    given = answer_by_certificate(group, policy, [SIZE, loads], BOTH)
    verdict = verify.judge(group, given)
    assert [objective["proved"] for objective in verdict["objectives"]] == [
        left == 0
    ] * 2
    fails = verdict["evidence"].get("certificate", {}).get("fails")
    assert fails == (None if left == 0 else "work")


def test_what_a_replica_lists_is_read() -> None:
    """A million racks of one partition were a pass of 8 steps."""
    group = own_racks(1)
    group["topics"]["t"]["racks"] = [numbered(1000, "r") * 2]
    assert steps_of_racks(verify.case_of(group)) == 2000


def test_the_limit_is_that_of_half_a_minute() -> None:
    """Of terms on 2,500 racks each, 7 are accepted; 2,500 were, in an hour."""
    case = verify.case_of(own_racks(2500))
    passes = 2 * (steps_of_pass(case) + steps_of_racks(case))
    assert WORK_MAX // passes == 7
    assert WORK_MAX // (2 * steps_of_pass(case)) == 2500
