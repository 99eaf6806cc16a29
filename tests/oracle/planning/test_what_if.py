"""What a change leads to, compared with the judge and with what is counted slowly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from heuristics import ASSIGNORS, withheld_of
from oracle.planning import (
    AddPartitions,
    Change,
    Join,
    Leave,
    PlanDocument,
    SetLag,
    Subscribe,
    apply_changes,
    what_if,
)
from rebalance import (
    Assignment,
    Rebalance,
    assignment_of,
    instance_of,
    members_of,
    parse_record,
    plain_of,
)
from solver import solve
from tests.oracle.planning.questions import group, question
from tests.support.examples import costly
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.support.strategies import rebalances

LAG = {"partitions": 3, "lag": [5, 0, 9]}
HELD = rebalance(
    {"t": LAG},
    {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"], {"t": [2]})},
)


def changed(document: Document, *changes: Change) -> Document:
    found: Document = plain_of(apply_changes(group(document), changes))
    return found


def test_each_change_changes_what_it_states() -> None:
    found = changed(
        HELD,
        Leave(member="a"),
        Join(member="c", subscription=["t", "u"]),
        Subscribe(member="b", subscription=["u"]),
        AddPartitions(topic="t", partitions=4),
        AddPartitions(topic="u", partitions=1),
        SetLag(topic="t", times=2),
        SetLag(topic="t", partition=1, lag=7),
    )
    assert found["members"] == {
        "b": {"subscription": ["u"], "owned": {"t": [2]}},
        "c": {"subscription": ["t", "u"]},
    }
    assert found["topics"] == {
        "t": {"partitions": 4, "lag": [10, 7, 18, 0]},
        "u": {"partitions": 1, "lag": [0]},
    }


def test_racks_of_new_partitions_are_unknown() -> None:
    topic = {"partitions": 1, "racks": [["r"]]}
    document = rebalance({"t": topic}, {"a": member(["t"], rack="r")})
    found = apply_changes(group(document), [AddPartitions(topic="t", partitions=2)])
    assert found.topics["t"].racks == [["r"], []]
    assert instance_of(found).n_partitions == 2


def test_transfers_name_giver_receiver_and_lag() -> None:
    changes: list[Change] = [Leave(member="a"), Join(member="c", subscription=["t"])]
    topic = {"partitions": 4, "lag": [5, 0, 9, 1]}
    members = {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"], {"t": [2, 3]})}
    outcome = what_if(group(rebalance({"t": topic}, members)), changes, question())
    (only,) = [transfer.model_dump(exclude_none=True) for transfer in outcome.transfers]
    assert only == {
        "giver": "a",
        "leaves": True,
        "to": "c",
        "partitions": {"t": [0, 1]},
        "lag": 5,
    }
    steps = outcome.answers[0].transition
    assert steps is not None
    assert (steps.rounds, steps.unowned_partitions) == (1, 2)
    assert steps.unowned_partition_ms == 6000


@st.composite
def changes_of(draw: st.DrawFn, document: Document) -> list[Change]:
    """Draw changes that a group permits."""
    names, topics = sorted(document["members"]), sorted(document["topics"])
    subscriptions = st.lists(st.sampled_from([*topics, "gone"]), unique=True)
    found: list[Change] = []
    subscribes, enlarges = draw(st.tuples(st.booleans(), st.booleans()))
    if names:
        leaving = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
        found += [Leave(member=name) for name in leaving]
        staying = [name for name in names if name not in leaving]
        if staying and subscribes:
            name = draw(st.sampled_from(staying))
            found.append(Subscribe(member=name, subscription=draw(subscriptions)))
    for number in range(draw(st.integers(0, 2))):
        found.append(Join(member=f"n{number}", subscription=draw(subscriptions)))
    if topics and enlarges:
        topic = draw(st.sampled_from(topics))
        more = document["topics"][topic]["partitions"] + draw(st.integers(0, 2))
        found.append(AddPartitions(topic=topic, partitions=more))
    return found


@pytest.mark.heavy
@costly()
@given(st.data())
def test_transfers_lead_from_the_owners_to_the_assignment(data: st.DataObject) -> None:
    document = data.draw(rebalances())
    present = group(document)
    changes = data.draw(changes_of(document))
    outcome = what_if(present, changes, question())
    assert outcome.assignment is not None
    before, after = _owners(present), _held(outcome.assignment.members)
    for transfer in outcome.transfers:
        for topic, numbers in transfer.partitions.items():
            for number in numbers:
                assert before.pop((topic, number), None) == transfer.giver
                if transfer.to is not None:
                    before[topic, number] = transfer.to
    assert before == after
    plan = PlanDocument.known(group=present.group, outcome=outcome, changes=changes)
    assert parse_record(PlanDocument, json.dumps(plan.to_document())) == plan


def _owners(present: Rebalance) -> dict[tuple[str, int], str]:
    instance = instance_of(present)
    return _held(members_of(instance, Assignment(assignee=instance.owner.copy())))


def _held(members: Any) -> dict[tuple[str, int], str]:
    return {
        (topic, number): name
        for name, held in members.items()
        for topic, numbers in held.items()
        for number in numbers
    }


@pytest.mark.heavy
@costly()
@given(st.data())
def test_rounds_are_those_that_the_judge_accepts(data: st.DataObject) -> None:
    """Play the rounds: what is claimed elsewhere is withheld, then nothing is."""
    document = data.draw(rebalances())
    changes = data.draw(changes_of(document))
    outcome = what_if(group(document), changes, question())
    after = apply_changes(group(document), changes)
    instance = instance_of(after)
    assert outcome.assignment is not None
    target = assignment_of(instance, outcome.assignment)
    given_now = target.assignee.copy()
    given_now[withheld_of(instance, target)] = -1
    first = members_of(instance, Assignment(assignee=given_now))
    verdict = verify.judge(
        plain_of(after),
        {"format": "assignment/1", "members": first},
        cooperative=True,
    )
    assert verdict["verdict"] == "valid", verdict["violations"]
    steps = outcome.answers[0].transition
    assert steps is not None
    assert steps.rounds == (2 if verdict["figures"]["withheld"] else 1)
    held = plain_of(after)
    for name, entry in held["members"].items():
        entry.pop("generation", None)
        entry["owned"] = first[name]
    second = instance_of(group(held))
    assert not withheld_of(second, target).any()
    again = solve(second).require_assignment()
    assert not withheld_of(second, again).any()


@pytest.mark.heavy
@costly()
@given(st.data())
def test_partitions_without_an_owner_are_counted(data: st.DataObject) -> None:
    document = data.draw(rebalances())
    changes = data.draw(changes_of(document))
    outcome = what_if(group(document), changes, question())
    owned = _owners(group(document))
    transferred = sum(
        len(numbers)
        for transfer in outcome.transfers
        if transfer.giver is not None
        for numbers in transfer.partitions.values()
    )
    for answer in outcome.answers:
        steps = answer.transition
        if steps is None:
            assert answer.refused is not None
        elif steps.mode == "eager":
            assert (steps.rounds, steps.unowned_partitions) == (1, len(owned))
        elif answer.assignor == "optimum":
            assert steps.unowned_partitions == transferred
            assert steps.unowned_partition_ms == 3000 * transferred


def test_every_assignor_is_listed_with_the_judges_figures() -> None:
    outcome = what_if(group(CHAIN), [], question("kip54-sticky"))
    assert [answer.assignor for answer in outcome.answers] == ["optimum", *ASSIGNORS]
    best = outcome.answers[0]
    assert (best.status, best.balance_met, best.budget_met) == ("optimal", True, True)
    assert best.figures is not None
    assert best.figures.moves == 0
    fair = next(answer for answer in outcome.answers if answer.assignor == "fair")
    assert fair.objectives is not None
    assert [objective.of for objective in fair.objectives] == ["stickiness"]


def test_a_budget_that_no_assignment_meets_is_infeasible() -> None:
    outcome = what_if(group(CHAIN), [], question("sticky; max-moves=1"))
    best = outcome.answers[0]
    assert (best.status, best.figures) == ("infeasible", None)
    assert (outcome.transfers, outcome.assignment) == ([], None)
