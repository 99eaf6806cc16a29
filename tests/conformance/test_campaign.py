"""A campaign reports findings when they are found, once, and ends with its time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

import pytest

from conformance import unusual_shapes
from conformance.campaign import Campaign, CampaignPlan, DrawnFinding, Shrinking
from conformance.clients import Answer, Verdict
from conformance.runs import FILE, Category, RunPlan, Subject
from tests.conformance.fault import has_rival_claims
from tests.conformance.subjects import Scripted, Stuck, answered, failed, optimal
from tests.conformance.test_runs import faulty
from tests.support.shapes import CHAIN, Document, claims_of, member, rebalance


@dataclass(frozen=True)
class Here:
    """A source whose subject is in this process."""

    subject: Subject

    def start(self) -> Subject:
        return self.subject

    def start_impatient(self, seconds: float) -> Subject:  # noqa: ARG002
        return self.subject


def raising(document: Document) -> Answer:
    """Raise in one place if a member has a rack, in another one if it has an id."""
    members = document["members"].values()
    for key, place in (("rack", "racks (a.py:1)"), ("instance_id", "ids (a.py:2)")):
        if any(key in member for member in members):
            return Answer(verdict=Verdict.ERROR, reason="KeyError: 0", place=place)
    return optimal(document)


def test_a_finding_of_several_families_is_one_and_places_are_several() -> None:
    plan = RunPlan(families=("racks", "static", "fresh"), count=10, workers=1)
    campaign = Campaign(source=Here(Scripted(raising)), plan=CampaignPlan(draws=plan))
    events = list(campaign.run())
    places = [event.sighting.outcome.place for event in events]
    assert places == ["racks (a.py:1)"] * 2 + ["ids (a.py:2)"] * 2
    assert [type(event) for event in events] == [DrawnFinding, Shrinking] * 2
    for event in events:
        if isinstance(event, Shrinking):
            assert event.shrunk is not None
            assert event.shrunk.is_minimal
            assert len(event.shrunk.outcome.rounds[0].rebalance["members"]) == 1
    for counts in campaign.counts.values():
        bad = counts.rebalances - counts.outcomes[Category.OPTIMAL]
        assert sum(counts.mechanisms.values()) == bad
    assert campaign.counts["fresh"].mechanisms == {}
    assert sum(campaign.counts["racks"].mechanisms.values()) > 0


def unsticky(document: Document) -> Answer:
    """Ignore claims without a generation, and those of a group with a double claim."""
    members, ((topic, about),) = sorted(document["members"]), document["topics"].items()
    dated = {m for m in members if "generation" in document["members"][m]}
    claimed = {m: document["members"][m].get("owned", {}).get(topic, []) for m in dated}
    if not dated or has_rival_claims(document):
        numbers, places = range(about["partitions"]), enumerate(members)
        claimed = {m: list(numbers[i :: len(members)]) for i, m in places}
    return answered({m: {topic: claimed.get(m, [])} for m in members})


def test_needless_moves_are_distinguished_by_the_claims_on_one_partition() -> None:
    early, late = member(["t"], {"t": [0]}, 1), member(["t"], {"t": [0]}, 2)
    undated = rebalance({"t": 1}, {"a": member(["t"]), "b": member(["t"], {"t": [0]})})
    dated = rebalance({"t": 1}, {"a": early, "b": late})
    crossed = member(["t"], {"t": [1, 2]}, 1), member(["t"], {"t": [0, 2]}, 1)
    tied = rebalance({"t": 3}, dict(zip("ab", crossed, strict=True)))
    given = [undated, dated, undated, tied, dated]
    plan = CampaignPlan(draws=RunPlan(), given=given, shrink_seconds=None)
    campaign = Campaign(source=Here(Scripted(unsticky)), plan=plan)
    events = [event for event in campaign.run() if isinstance(event, Shrinking)]
    assert [event.sighting.index for event in events] == [0, 1, 3]
    outcomes = {event.sighting.outcome.category for event in events}
    assert outcomes == {Category.NEEDLESS_MOVES}


@pytest.mark.parametrize("keep", [1, 3])
def test_so_many_findings_of_a_mechanism_are_kept(keep: int) -> None:
    plan = RunPlan(families=("racks", "claims"), count=40, keep=keep)
    raised = Answer(verdict=Verdict.ERROR, reason="KeyError: 1", place="f (a.py:1)")
    subject = Scripted(lambda _: raised)
    campaign = Campaign(
        source=Here(subject), plan=CampaignPlan(draws=plan, shrink_seconds=None)
    )
    events = [event for event in campaign.run() if isinstance(event, Shrinking)]
    assert [event.shrunk for event in events] == [None] * keep
    assert sum(count.draws for count in campaign.counts.values()) == 80


def test_given_instances_are_tested_instead_of_draws() -> None:
    racked = rebalance({"t": 1}, {"m": member(["t"], rack="r")})
    given = [CHAIN, racked, racked]
    campaign = Campaign(
        source=Here(Scripted(raising)),
        plan=CampaignPlan(draws=RunPlan(), given=given, shrink_seconds=None),
    )
    (found, _) = campaign.run()
    assert found.sighting.index == 1
    assert campaign.counts[FILE].outcomes == {Category.OPTIMAL: 1, Category.ERROR: 2}


def test_the_end_of_the_time_ends_the_program_and_is_no_crash() -> None:
    left = [optimal] * 3
    stuck = Stuck(lambda document: left.pop()(document) if left else None)
    plan = CampaignPlan(
        draws=RunPlan(families=("fresh",), count=10**6),
        deadline=time.monotonic() + 2.0,
    )
    campaign = Campaign(source=Here(stuck), plan=plan)
    assert list(campaign.run()) == []
    assert not left
    assert stuck.closed
    assert campaign.counts["fresh"].outcomes == {Category.OPTIMAL: 3}
    assert campaign.counts["fresh"].rebalances == 3


def test_what_could_not_be_shrunk_is_reported_as_far_as_it_was() -> None:
    six = rebalance({"t": 1}, {f"m{i}": member(["t"]) for i in range(6)})
    plan = CampaignPlan(draws=RunPlan(), given=[six], deadline=time.monotonic() + 0.5)
    raised = failed(Verdict.ERROR, "KeyError: 2")
    stuck = Stuck(lambda smaller: raised if len(smaller["members"]) >= 3 else None)
    campaign = Campaign(source=Here(stuck), plan=plan)
    (found, whole) = campaign.run()
    assert isinstance(found, DrawnFinding)
    assert isinstance(whole, Shrinking)
    assert whole.shrunk is not None
    assert not whole.shrunk.is_minimal
    shown = whole.shrunk.outcome
    assert (shown.category, shown.detail) == (Category.ERROR, "KeyError")
    assert 3 <= len(shown.rounds[0].rebalance["members"]) <= 6


@pytest.mark.heavy
def test_the_order_of_findings_does_not_depend_on_workers() -> None:
    causes = []
    for workers in (1, 3):
        plan = RunPlan(families=("racks", "fresh", "churn"), count=60, workers=workers)
        campaign = Campaign(source=faulty("raise"), plan=CampaignPlan(draws=plan))
        causes.append(
            [
                (event.sighting.mechanism, event.sighting.family, event.sighting.index)
                for event in campaign.run()
                if isinstance(event, Shrinking)
            ]
        )
    assert causes[0] == causes[1]
    assert len(causes[0]) > 1


def losing(document: Document) -> Answer:
    """Drop what is claimed twice, and what belongs to a topic that its claimant left.

    Both are `unassigned`, and no place is known.
    """
    answer = optimal(document)
    assert answer.assignment is not None
    claims = Counter((topic, number) for _, topic, number in claims_of(document))
    lost = {claim for claim, count in claims.items() if count > 1} | {
        (topic, number)
        for name, topic, number in claims_of(document)
        if topic not in document["members"][name]["subscription"]
    }
    return answered(
        {
            name: {t: [n for n in ns if (t, n) not in lost] for t, ns in held.items()}
            for name, held in answer.assignment.members.items()
        }
    )


def test_shapes_of_shrunk_instances_tell_faults_apart() -> None:
    plan = RunPlan(families=("stale", "left", "joiners"), count=30)
    given = CampaignPlan(draws=plan)
    campaign = Campaign(source=Here(Scripted(losing)), plan=given)
    whole = [event for event in campaign.run() if isinstance(event, Shrinking)]
    assert [event.sighting.family for event in whole] == ["stale", "left"]
    assert {event.sighting.kind for event in whole} == {
        (Category.INVALID, "unassigned")
    }
    shapes = []
    for event in whole:
        assert event.shrunk is not None
        small = event.shrunk.outcome.rounds[0].rebalance
        shapes.append(unusual_shapes(small))
    assert shapes == [{"double-claims"}, {"left-claims", "idle-member"}]
    again = Campaign(
        source=Here(Scripted(losing)),
        plan=CampaignPlan(draws=RunPlan(families=("stale", "claims"), count=30)),
    )
    assert len([event for event in again.run() if isinstance(event, Shrinking)]) == 1


@pytest.mark.parametrize("place", [None, "f (a.py:1)"])
def test_what_a_leader_remembers_is_another_finding(place: str | None) -> None:
    """The same fault in a single rebalance would hide it: no later run repeats it."""
    raised = Answer(verdict=Verdict.ERROR, reason="KeyError: 1", place=place)
    draws = RunPlan(families=("claims", "restarted"), count=40)
    plan = CampaignPlan(draws=draws, shrink_seconds=None)
    campaign = Campaign(source=Here(Scripted(lambda _: raised)), plan=plan)
    whole = [event for event in campaign.run() if isinstance(event, Shrinking)]
    assert [event.sighting.family for event in whole] == ["claims", "restarted"]
