"""Reading and running scenarios, and reporting unmet expectations."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from conformance import Expectation, Scenario, Step, parse_scenario, play, unmet
from rebalance import AssignmentDocument, DocumentError, Rebalance
from tests.support.shapes import member, rebalance

DOCUMENT = rebalance(
    {"t": 2, "u": 2}, {"a": member(["t", "u"]), "b": member(["t", "u"])}
)
WITH_IDLER = rebalance({"t": 2, "u": 2}, DOCUMENT["members"] | {"idle": member([])})
SCENARIO: dict[str, Any] = {
    "format": "scenario/1",
    "name": "two",
    "source": "here",
    "tells": "nothing much",
    "steps": [
        {
            "name": "fresh",
            "rebalance": DOCUMENT,
            "expect": [{"name": "even", "of": ["range"], "figures": {"kept": 0}}],
        }
    ],
}


def changed(path: list[str | int], value: object) -> str:
    """Return the scenario's text with one value in another place."""
    document = copy.deepcopy(SCENARIO)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(document)


def test_reads_valid_scenarios() -> None:
    scenario = parse_scenario(json.dumps(SCENARIO))
    assert isinstance(scenario, Scenario)
    assert scenario.steps[0].expect[0].of == ["range"]


MEMBER: list[str | int] = ["steps", 0, "rebalance", "members", "a"]
EXPECT: list[str | int] = ["steps", 0, "expect", 0]


@pytest.mark.parametrize(
    ("path", "value", "culprit"),
    [
        (["format"], "scenario/2", "$.format"),
        (["colour"], "red", "$.colour"),
        (["steps"], [], "$.steps"),
        ([*EXPECT, "of"], [], "$.steps[0].expect[0].of"),
        ([*EXPECT, "kept"], 3, "$.steps[0].expect[0].kept"),
        ([*EXPECT, "round"], 0, "$.steps[0].expect[0].round"),
        ([*EXPECT, "figures"], None, "$.steps[0].expect[0].figures"),
        ([*EXPECT, "loads_within"], [1], "$.steps[0].expect[0].loads_within"),
        ([*MEMBER, "owned"], {"t": [-1]}, "$.steps[0].rebalance"),
        (["steps", 0, "unreadable"], "$.topics", "$.steps[0].rebalance"),
    ],
)
def test_names_the_culprit(path: list[str | int], value: object, culprit: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_scenario(changed(path, value), source="two.json")
    assert caught.value.path == culprit
    assert caught.value.source == "two.json"


def test_says_where_an_unreadable_step_is_unreadable() -> None:
    text = changed([*MEMBER, "owned"], {"t": [-1]})
    with pytest.raises(DocumentError, match=r"at \$\.members\.a\.owned\.t\[0\], said"):
        parse_scenario(text)


def test_text_that_is_no_json_is_an_error_with_its_file() -> None:
    with pytest.raises(DocumentError, match=r"two\.json"):
        parse_scenario("{", source="two.json")


# Playing.


def scenario_of(*steps: dict[str, Any]) -> Scenario:
    listed = [{"name": str(i)} | step for i, step in enumerate(steps)]
    return parse_scenario(json.dumps(SCENARIO | {"steps": listed}))


def all_to_first(document: Rebalance) -> AssignmentDocument:
    first = min(document.members)
    numbers = {t: list(range(about.partitions)) for t, about in document.topics.items()}
    held = {name: numbers if name == first else {} for name in document.members}
    return AssignmentDocument(members=held)


def test_claims_are_carried_from_each_step_to_the_next() -> None:
    scenario = scenario_of({"rebalance": DOCUMENT}, {"rebalance": DOCUMENT})
    fresh, later = (scene.rebalance for scene in play(scenario, all_to_first))
    assert [about.owned for about in fresh.members.values()] == [None, None]
    assert later.members["a"].owned == {"t": [0, 1], "u": [0, 1]}
    assert later.members["b"].owned == {}
    assert {about.generation for about in later.members.values()} == {1}


def test_stated_claims_stand_and_newcomers_have_none() -> None:
    later = rebalance(
        {"t": 2},
        {"a": member(["t"], {"t": [1]}), "new": member(["t"]), "b": member(["t"])},
    )
    scenario = scenario_of({"rebalance": DOCUMENT}, {"rebalance": later})
    _, scene = play(scenario, all_to_first)
    members = scene.rebalance.members
    assert (members["a"].owned, members["a"].generation) == ({"t": [1]}, None)
    assert (members["new"].owned, members["new"].generation) == (None, None)
    assert (members["b"].owned, members["b"].generation) == ({}, 1)


def test_after_a_refusal_a_step_is_as_written() -> None:
    scenario = scenario_of({"rebalance": DOCUMENT}, {"rebalance": DOCUMENT})
    scenes = list(play(scenario, lambda _: None))
    assert [scene.assignment for scene in scenes] == [None, None]
    assert scenes[0].rebalance == scenes[1].rebalance


def test_unreadable_steps_are_not_played() -> None:
    broken = rebalance({"t": 1}, {"a": member(["t"], {"t": [-1]})})
    culprit = "$.members.a.owned.t[0]"
    scenario = scenario_of(
        {"rebalance": broken, "unreadable": culprit}, {"rebalance": DOCUMENT}
    )
    assert [scene.step.name for scene in play(scenario, all_to_first)] == ["1"]
    with pytest.raises(DocumentError) as caught:
        scenario.steps[0].after(None, 0)
    assert caught.value.path == culprit


# Expectations, each met by EVEN and missed by something else.

EVEN = {"a": {"t": [0], "u": [0]}, "b": {"t": [1], "u": [1]}}
APART = {"a": {"t": [0], "u": [1]}, "b": {"t": [1], "u": [0]}}
BY_TOPIC = {"a": {"t": [0, 1]}, "b": {"u": [0, 1]}}
UNEVEN = {"a": {"t": [0, 1], "u": [0, 1]}, "b": {}}
FIGURES = {"kept": 3, "loads": [2, 2]}

Held = dict[str, dict[str, list[int]]]


def lacking(held: Held, **properties: object) -> list[str]:
    expectation = Expectation.model_validate(
        {"name": "it", "of": ["range"]} | properties
    )
    document = scenario_of({"rebalance": WITH_IDLER}).steps[0].after(None, 0)
    answer = AssignmentDocument(members=held)
    return list(unmet(expectation, document, answer, FIGURES))


@pytest.mark.parametrize(
    ("properties", "missed_by", "fault"),
    [
        ({"assignment": EVEN}, BY_TOPIC, "a holds {'t': [0, 1]}, expected"),
        ({"assignment": EVEN}, EVEN | {"idle": {"t": [1]}}, "idle holds {'t': [1]}"),
        ({"holds": {"a": {"u": [0]}}}, APART, "a lacks u:0"),
        ({"loads_within": [1, 2]}, UNEVEN, "b has 0, expected 1 to 2"),
        ({"loads_within": [2, 3]}, UNEVEN, "a has 4, expected 2 to 3"),
        ({"per_topic": {"u": [1, 1]}}, BY_TOPIC, "u over [2, 0], expected [1, 1]"),
        ({"together": [["t", "u"]]}, APART, "t:0 apart from 0 of u"),
    ],
)
def test_a_property_is_met_or_missed(
    properties: dict[str, object], missed_by: Held, fault: str
) -> None:
    assert lacking(EVEN, **properties) == []
    assert any(found.startswith(fault) for found in lacking(missed_by, **properties))


def test_order_and_empty_parts_make_no_difference() -> None:
    in_order = {"a": {"t": [0, 1], "u": [0, 1]}}
    unsorted: Held = {"b": {}, "a": {"u": [1, 0], "t": [1, 0]}, "c": {"t": []}}
    assert lacking(unsorted, assignment=in_order) == []
    assert lacking(in_order, assignment=unsorted) == []


def test_figures_are_compared_as_far_as_they_are_expected() -> None:
    assert lacking(EVEN, figures={"kept": 3}) == []
    assert lacking(EVEN, figures={"kept": 2}) == ["kept 3, expected 2"]
    assert lacking(EVEN, figures={"moves": 0}) == ["moves None, expected 0"]


def test_an_answer_where_a_refusal_is_expected() -> None:
    assert lacking(EVEN, refused=True) == ["answered, expected to refuse"]


def test_expected_of_finds_any_of_the_subjects() -> None:
    listed = [
        {"name": "one", "of": ["range"]},
        {"name": "two", "of": ["everyone"]},
        {"name": "three", "of": ["sticky"]},
    ]
    step = Step.model_validate({"name": "s", "rebalance": DOCUMENT, "expect": listed})
    found = [expectation.name for expectation in step.expected_of("range", "everyone")]
    assert found == ["one", "two"]
