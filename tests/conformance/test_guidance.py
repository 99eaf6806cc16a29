"""A guided run: time is shared, what is rare has more, and draws stay what they are."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace

import pytest

from conformance.campaign import (
    Campaign,
    CampaignPlan,
    DrawnFinding,
    Shrinking,
    uses_claims,
)
from conformance.clients import Answer, Verdict
from conformance.runs import (
    FAMILIES,
    Category,
    Draws,
    FamilyCounts,
    Guide,
    RunPlan,
    Subject,
    run_draws,
    run_families,
)
from tests.conformance.subjects import Scripted, Stuck, failed, optimal
from tests.conformance.test_campaign import Here
from tests.conformance.test_runs import faulty
from tests.support.shapes import Document

TEMPLATE = Draws(family="", seed=11, start=0, count=0, cooperative=False, keep=1)
OPTIMAL = (Category.OPTIMAL, "", "", 1, 0)


def guide(*families: str, first: int = 0) -> Guide:
    return Guide(families=families, template=TEMPLATE, first=first)


def counted(task: Draws, *, seconds: float, rare: int | None = None) -> FamilyCounts:
    """Return the counts of a task, with an outcome that only it has if asked for."""
    traits = Counter({OPTIMAL: task.count})
    if rare is not None:
        traits[Category.INVALID, str(rare), "", 1, 0] = 1
    return FamilyCounts(
        family=task.family, draws=task.count, traits=traits, seconds=seconds
    )


def test_families_have_equal_time_whatever_their_draws_take() -> None:
    guided = guide("fresh", "large")
    spent = dict.fromkeys(("fresh", "large"), 0.0)
    for _ in range(400):
        task = guided.next_draws()
        seconds = task.count * (0.001 if task.family == "fresh" else 0.5)
        spent[task.family] += seconds
        guided.learn(task, counted(task, seconds=seconds))
    assert 0.8 < spent["fresh"] / spent["large"] < 1.25


def test_a_family_that_searches_for_what_is_rare_has_more_turns() -> None:
    guided = guide("fresh", "shares")
    names = []
    for _ in range(700):
        task = guided.next_draws()
        names.append(task.family)
        guided.learn(task, counted(task, seconds=0.1))
    ratio = names.count("shares") / names.count("fresh")
    turns = FAMILIES["shares"].turns
    assert turns > 1
    assert 0.8 < ratio / turns < 1.25


def test_a_family_that_shows_rare_outcomes_has_more_time_and_none_has_nothing() -> None:
    guided = guide("fresh", "stale")
    spent = dict.fromkeys(("fresh", "stale"), 0.0)
    for number in range(400):
        task = guided.next_draws()
        spent[task.family] += 0.1
        rare = number if task.family == "stale" else None
        guided.learn(task, counted(task, seconds=0.1, rare=rare))
    assert 3 < spent["stale"] / spent["fresh"] < 5


def test_each_configuration_of_a_swarm_is_drawn_and_no_draw_twice() -> None:
    guided = guide("swarm", first=5)
    drawn: list[int] = []
    for _ in range(200):
        task = guided.next_draws()
        drawn += task.indices
        guided.learn(task, counted(task, seconds=0.1))
    assert len(set(drawn)) == len(drawn)
    assert min(drawn) == 5
    assert {index % 64 for index in drawn} == set(range(64))
    assert {len({i % 64 for i in task.indices}) for task in [guided.next_draws()]} == {
        1
    }


def test_a_guided_draw_is_that_of_its_index() -> None:
    """What a task finds is what a run with a count finds at the same index."""
    whole = run_families(
        faulty("raise"), RunPlan(count=9, families=("racks",), keep=9, seed=11)
    )
    task = replace(TEMPLATE, keep=9).of("racks", start=1, count=3, stride=3)
    part = run_draws(faulty("raise").start(), task)
    assert part.draws == 3
    assert part.sightings == [
        sighting for sighting in whole["racks"].sightings if sighting.index in {1, 4, 7}
    ]


def unless_large(document: Document) -> Answer | None:
    """Answer for fewer than three members only."""
    return optimal(document) if len(document["members"]) < 3 else None


def test_draws_that_take_long_are_abandoned_and_do_not_count() -> None:
    stuck = Stuck(unless_large)
    task = replace(TEMPLATE, patience=0.1).of("claims", start=0, count=8)
    counts = run_draws(stuck, task)
    members = [len(FAMILIES["claims"].first(11, i)["members"]) for i in range(8)]
    large = sum(number >= 3 for number in members)
    assert 0 < large < 8
    assert counts.draws == 8
    assert counts.rebalances <= 8 - large
    assert stuck.closed >= large
    assert not any(category.is_safety for category in counts.outcomes)


@dataclass
class Leaders:
    """A source of leaders that remember the highest generation, each anew."""

    started: int = 0
    answered: list[list[int]] = field(default_factory=list)

    def start(self) -> Subject:
        self.started += 1
        seen: list[int] = []
        self.answered.append(seen)

        def answer(document: Document) -> Answer:
            members = document["members"].values()
            seen.append(max(member.get("generation", -1) for member in members))
            return optimal(document)

        return Scripted(answer)

    def leading(self) -> Leaders:
        return self


@pytest.mark.parametrize("family", ["restarted", "fresh"])
def test_a_leader_lives_as_long_as_a_draw_of_a_family_that_needs_it(
    family: str,
) -> None:
    source = Leaders()
    run_families(source, RunPlan(families=(family,), count=60))
    if family == "fresh":
        assert source.started == 1
        return
    assert source.started == 1 + 3  # the subject of the run, and one per draw
    for generations in source.answered[1:]:
        assert len(generations) == 3
        assert max(generations[1:]) < generations[0]


@pytest.mark.heavy
@pytest.mark.parametrize("workers", [1, 2])
def test_a_guided_campaign_reports_and_shrinks(workers: int) -> None:
    draws = RunPlan(workers=workers, families=("fresh", "racks", "swarm"))
    deadline = time.monotonic() + 120  # it is left as soon as a fault is shrunk
    plan = CampaignPlan(draws=draws, deadline=deadline, guided=True, shrink_seconds=2)
    campaign = Campaign(source=faulty("raise"), plan=plan)
    kinds = []
    with closing(campaign.run()) as events:
        for event in events:
            kinds.append((type(event), event.sighting.kind[0]))
            if kinds[-1] == (Shrinking, Category.ERROR):
                break
    assert (DrawnFinding, Category.ERROR) in kinds
    assert kinds[-1] == (Shrinking, Category.ERROR)


def test_the_end_of_the_time_ends_a_guided_campaign() -> None:
    stuck = Stuck(unless_large)
    plan = CampaignPlan(
        draws=RunPlan(families=("claims",)),
        deadline=time.monotonic() + 0.5,
        guided=True,
    )
    campaign = Campaign(source=Here(stuck), plan=plan)
    assert [event for event in campaign.run() if event.sighting.kind[0].is_safety] == []
    assert stuck.closed


def without_claims(document: Document) -> Answer:
    """Ignore claims."""
    members = {
        name: {"subscription": member["subscription"]}
        for name, member in document["members"].items()
    }
    return optimal(document | {"members": members})


def test_whether_an_assignor_uses_claims_is_seen_from_its_answers() -> None:
    assert uses_claims(Here(Scripted(optimal)))
    assert not uses_claims(Here(Scripted(without_claims)))
    raised = failed(Verdict.ERROR, "KeyError: 1")
    assert uses_claims(Here(Scripted(lambda _: raised)))


def test_bug_a_slow_start_counted_as_use_of_claims() -> None:
    late = [failed(Verdict.HANG, "no answer in 10 s")]
    slow = Scripted(lambda document: late.pop() if late else without_claims(document))
    assert not uses_claims(Here(slow))
    assert not late
