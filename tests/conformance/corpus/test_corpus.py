"""The corpus: complete, and correct about claims and optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance import AS_IT_STANDS, EVERYONE, OPTIMUM, Expectation, Scenario, Step
from heuristics import ASSIGNORS
from rebalance import (
    Assignment,
    AssignmentDocument,
    ClaimRule,
    instance_of,
    members_of,
    to_json,
)
from solver import parse_policy
from tests.conformance.corpus.scenes import SCENARIOS, complaints
from tests.conformance.subjects import Held
from verify import best, every_assignment, read_rebalance

PREFIX = "policy:"

STEPS = [
    pytest.param(scenario, step, id=f"{scenario.name}: {step.name}")
    for scenario in SCENARIOS.values()
    for step in scenario.steps
    if step.unreadable is None
]


def expectations() -> Iterator[Expectation]:
    for scenario in SCENARIOS.values():
        for step in scenario.steps:
            yield from step.expect


def owners(step: Step, rule: ClaimRule) -> dict[str, dict[str, list[int]]]:
    instance = instance_of(step.after(None, 0), claim_rule=rule)
    held = members_of(instance, Assignment(assignee=instance.owner.copy()))
    return {member_id: mine for member_id, mine in held.items() if mine}


def test_every_table_of_sources_is_there() -> None:
    sources = " ".join(scenario.source for scenario in SCENARIOS.values())
    for source in (
        "KIP-54, example 1",
        "KIP-54, example 2",
        "KIP-54, example 3",
        "KIP-169",
        "KIP-615",
        "KAFKA-7026",
        "KAFKA-7962",
        "KAFKA-12984",
        "KAFKA-14639",
        "KAFKA-14891",
        "KAFKA-15106",
        "KAFKA-15170",
        "KAFKA-16277",
        "KAFKA-16930",
        "KAFKA-17710",
        "KAFKA-18688",
        "franz-go commit 2f6d70e2",
        "franz-go commit 32be513b",
        "franz-go commit 4deed686",
        "franz-go issue 795",
        "librdkafka issue 3306",
        "librdkafka issue 4044",
        "librdkafka issue 4533",
        "librdkafka issue 4783",
        "KAFKA-13406",
        "KAFKA-13419",
        "KAFKA-13435, KIP-814",
        "KIP-345",
        "KIP-792",
        "KIP-848",
        "aiokafka issue 1176",
        "kafka-go issue 838",
        "kafkajs issue 1361",
        "sarama issue 2765",
    ):
        assert source in sources


def generations(step: Step) -> dict[tuple[str, int], list[int]]:
    """Return the generations of the claims on each partition."""
    claims: dict[tuple[str, int], list[int]] = {}
    for about in step.rebalance["members"].values():
        for topic, numbers in about.get("owned", {}).items():
            for number in numbers:
                generation = about.get("generation", -1)
                claims.setdefault((topic, number), []).append(generation)
    return claims


def is_stale(step: Step) -> bool:
    """Return whether a partition is claimed at two generations."""
    return any(len(set(found)) > 1 for found in generations(step).values())


def is_double(step: Step) -> bool:
    """Return whether a partition is claimed twice at its newest generation."""
    return any(found.count(max(found)) > 1 for found in generations(step).values())


def has(step: Step, part: str, key: str) -> bool:
    return any(key in about for about in step.rebalance[part].values())


FAMILIES: dict[str, tuple[int, Callable[[Scenario], bool]]] = {
    "sequences": (30, lambda scenario: len(scenario.steps) >= 2),
    "long sequences": (12, lambda scenario: len(scenario.steps) >= 3),
    "rounds": (
        30,
        lambda scenario: any(e.round for s in scenario.steps for e in s.expect),
    ),
    "racks": (
        20,
        lambda scenario: any(has(s, "topics", "racks") for s in scenario.steps),
    ),
    "lag": (8, lambda scenario: any(has(s, "topics", "lag") for s in scenario.steps)),
    "static": (
        8,
        lambda scenario: any(has(s, "members", "instance_id") for s in scenario.steps),
    ),
    "stale claims": (15, lambda scenario: any(map(is_stale, scenario.steps))),
    "double claims": (6, lambda scenario: any(map(is_double, scenario.steps))),
    "coordinator": (20, lambda scenario: "group-coordinator" in scenario.source),
    "claim rules": (12, lambda scenario: any(s.owners for s in scenario.steps)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_well_represented(family: str) -> None:
    least, belongs = FAMILIES[family]
    assert sum(map(belongs, SCENARIOS.values())) >= least


def test_the_corpus_is_large_and_its_sources_are_named() -> None:
    assert len(SCENARIOS) >= 150
    assert all(scenario.source and scenario.tells for scenario in SCENARIOS.values())
    assert all(scenario.name == name for name, scenario in SCENARIOS.items())


def test_subjects_exist() -> None:
    spoken_of = {
        subject for expectation in expectations() for subject in expectation.of
    }
    answering = {EVERYONE, OPTIMUM, AS_IT_STANDS, *ASSIGNORS}
    policies = {subject for subject in spoken_of if subject.startswith(PREFIX)}
    for policy in policies:
        parse_policy(
            policy.removeprefix(PREFIX)
        )  # tests/conformance/corpus/test_policies.py asks it
    answering |= policies
    assert spoken_of <= answering
    assert set(ASSIGNORS) <= spoken_of


@pytest.mark.parametrize("name", SCENARIOS)
def test_names_are_unique(name: str) -> None:
    steps = SCENARIOS[name].steps
    assert len({step.name for step in steps}) == len(steps)
    for step in steps:
        assert len({expectation.name for expectation in step.expect}) == len(
            step.expect
        )


@pytest.mark.parametrize(("scenario", "step"), STEPS)
def test_expectations_refer_to_existing_members_and_topics(
    scenario: Scenario, step: Step
) -> None:
    topics, members = step.rebalance["topics"], step.rebalance["members"]
    spoken = [expectation.assignment or {} for expectation in step.expect]
    spoken += [expectation.holds or {} for expectation in step.expect]
    spoken += [step.owners.get(rule.value, {}) for rule in ClaimRule]
    for held in spoken:
        for member_id, mine in held.items():
            for topic, numbers in mine.items():
                assert topic in members[member_id]["subscription"]
                assert all(n < topics[topic]["partitions"] for n in numbers)
    for expectation in step.expect:
        named = {
            *(expectation.per_topic or {}),
            *(t for ts in expectation.together or [] for t in ts),
        }
        assert named <= topics.keys()


@pytest.mark.parametrize(("scenario", "step"), STEPS)
def test_claims_are_resolved_as_expected(scenario: Scenario, step: Step) -> None:
    for rule in ClaimRule:
        if rule.value in step.owners:
            assert owners(step, rule) == step.owners[rule.value]


@pytest.mark.parametrize("name", SCENARIOS)
def test_present_assignments_are_judged_as_expected(name: str) -> None:
    def stay(rebalance: Any, rule: ClaimRule) -> AssignmentDocument | None:
        instance = instance_of(rebalance, claim_rule=rule)
        held = members_of(instance, Assignment(assignee=instance.owner.copy()))
        stated = any(
            AS_IT_STANDS in expectation.of
            for s in SCENARIOS[name].steps
            for expectation in s.expect
        )
        return AssignmentDocument(members=held) if stated else None

    rule = ClaimRule.NEWEST_CLAIM
    assert complaints(SCENARIOS[name], AS_IT_STANDS, stay, rule) == []


BEYOND = {"franz-go-imbalance-hard", "kip-615", "librdkafka-4044"}
"""Too large to try everything: here, the certificate of the optimum is the proof
(``test_optimum.py``)."""


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - BEYOND))
def test_optima_are_the_best_of_all_assignments(name: str) -> None:
    """Brute force knows the best loads and the most kept of a first step."""
    first = SCENARIOS[name].steps[0]
    for expectation in first.expected_of(OPTIMUM):
        instance = read_rebalance(to_json(first.after(None, 0)))
        found = best(instance, claim_rule=expectation.claim_rule, lag=False)
        stated = (
            expectation.figures.model_dump(exclude_none=True)
            if expectation.figures
            else {}
        )
        for figure in stated.keys() & {"loads", "kept"}:
            assert stated[figure] == found[figure]


def exact_optima() -> Iterator[Any]:
    for scenario in SCENARIOS.values():
        for expectation in scenario.steps[0].expected_of(OPTIMUM):
            # Sixteen million ways, of which the nine claims leave one.
            if (
                expectation.assignment is not None
                and scenario.name != "kafka-14639-disjoint"
            ):
                yield pytest.param(
                    scenario.steps[0], expectation.assignment, id=scenario.name
                )


@pytest.mark.parametrize(("step", "assignment"), list(exact_optima()))
def test_an_exact_optimum_is_the_only_one(step: Step, assignment: Held) -> None:
    owned = owners(step, ClaimRule.NEWEST_CLAIM)

    def score(held: Held) -> tuple[list[int], int]:
        loads = [sum(map(len, mine.values())) for mine in held.values()]
        kept = sum(
            number in owned.get(member_id, {}).get(topic, [])
            for member_id, mine in held.items()
            for topic, numbers in mine.items()
            for number in numbers
        )
        return sorted(loads, reverse=True), -kept

    everything = every_assignment(read_rebalance(to_json(step.after(None, 0))))
    ranked = [(score(answer["members"]), answer["members"]) for answer in everything]
    least = min(score for score, _ in ranked)
    optima = [held for score, held in ranked if score == least]
    assert [{m: mine for m, mine in held.items() if mine} for held in optima] == [
        assignment
    ]
