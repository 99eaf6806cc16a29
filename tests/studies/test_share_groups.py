"""Share groups: the judge against a naive one, and Kafka's assignor under the judge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from studies.share_groups import (
    STEPS,
    ShareCheck,
    ShareGroup,
    judged_share_group,
    play_share_group,
    share_figures,
    share_group_of,
    share_violations,
)
from tests.conformance.jars import NEWEST, running
from tests.conformance.subjects import Scripted, answered
from tests.support import amount
from tests.support.shapes import Document

STORED = Path(__file__).parents[1] / "data" / "share_groups.jsonl"
SIMPLE = "share-simple"
PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
GROUPS_OF_PAGE = 400
KEPT_OF_LEFT_TOPICS = {"unsubscribed"}
"""The rule that Kafka 4.4.0's assignor violates most; see docs/clients.md."""
FULL = 36_997_450_186
"""Seed of a group of which it leaves a member unserved: no partition has room."""


@cache
def stored() -> tuple[Document, ...]:
    return tuple(json.loads(line) for line in STORED.read_text().splitlines())


def group(
    topics: dict[str, int],
    wanted: dict[str, str],
    before: dict[str, dict[str, list[int]]] | None = None,
) -> ShareGroup:
    """Return a group; a subscription is a word whose letters are topics."""
    return ShareGroup(
        topics=topics,
        subscriptions={name: frozenset(word) for name, word in wanted.items()},
        before=before or {},
    )


def rules(group: ShareGroup, held: Document) -> list[str]:
    return [violation.rule for violation in share_violations(group, held)]


# The judge.

PAIR = group({"t": 2}, {"a": "t", "b": "t", "c": "t"})


def test_a_partition_can_be_that_of_several_members() -> None:
    held = {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"t": [0]}}
    assert rules(PAIR, held) == []
    figures = share_figures(PAIR, held)
    assert (figures.member_spread, figures.partition_spread) == (0, 1)
    assert figures.is_balanced
    assert (figures.pairs, figures.aimed) == (3, 4)


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"a": {"t": [0]}, "b": {"t": [1]}}, ["unserved"]),
        ({"a": {"t": [0]}, "b": {"t": [0]}, "c": {"t": [0]}}, ["uncovered"]),
        ({"a": {"t": [0, 0]}, "b": {"t": [1]}, "c": {"t": [1]}}, ["repeated"]),
        (
            {"a": {"t": [0, 2]}, "b": {"t": [1]}, "c": {"t": [1]}},
            ["unknown-partition"],
        ),
        (
            {"a": {"t": [0], "u": [0]}, "b": {"t": [1]}, "c": {"t": [1]}},
            ["unknown-partition"],
        ),
        (
            {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"t": [1]}, "d": {"t": [1]}},
            ["unknown-member"],
        ),
        ({}, ["uncovered", "uncovered", "unserved", "unserved", "unserved"]),
    ],
)
def test_each_rule_is_violated_on_its_own(held: Document, expected: list[str]) -> None:
    assert rules(PAIR, held) == expected


def test_only_partitions_that_a_member_subscribes_to_count() -> None:
    one = group({"t": 1, "u": 1}, {"a": "t", "b": "tu", "c": "x", "d": ""})
    assert rules(one, {"a": {"t": [0], "u": [0]}, "b": {"u": [0]}}) == ["unsubscribed"]
    assert rules(one, {"a": {"u": [0]}, "b": {"t": [0]}}) == [
        "uncovered",
        "unserved",
        "unsubscribed",
    ]
    assert rules(one, {"a": {"t": [0]}, "b": {"u": [0]}}) == []


def test_equal_subscriptions_are_balanced_together_and_others_by_topic() -> None:
    held = {"a": {"t": [0, 1]}, "b": {"u": [0, 1]}}
    equal = group({"t": 2, "u": 2}, {"a": "tu", "b": "tu"})
    assert share_figures(equal, held).is_balanced
    mixed = group({"t": 2, "u": 2}, {"a": "tu", "b": "tu", "c": "x"})
    figures = share_figures(mixed, held)
    assert (figures.member_spread, figures.partition_spread) == (2, 0)


def test_what_stays_is_counted_by_pairs() -> None:
    before = {"a": {"t": [0], "u": [0]}, "gone": {"t": [1]}}
    one = group({"t": 2, "u": 1}, {"a": "t", "b": "t"}, before)
    figures = share_figures(one, {"a": {"t": [1]}, "b": {"t": [0]}})
    assert (figures.kept, figures.revoked, figures.added) == (0, 2, 2)


def naive_rules(group: ShareGroup, held: Document) -> list[str]:
    """Enumerate every member, topic, and number that occurs anywhere."""
    pairs = [(m, t, n) for m, ts in held.items() for t, ns in ts.items() for n in ns]
    there = [(t, n) for t, count in group.topics.items() for n in range(count)]
    found = []
    for m, t, n in set(pairs):
        if m in group.subscriptions:
            if (t, n) not in there:
                found.append("unknown-partition")
            elif t not in group.subscriptions[m]:
                found.append("unsubscribed")
            if pairs.count((m, t, n)) > 1:
                found.append("repeated")
    found += ["unknown-member" for m in held if m not in group.subscriptions]
    for t, n in there:
        wanting = [m for m, wanted in group.subscriptions.items() if t in wanted]
        if wanting and not any((m, t, n) in pairs for m in wanting):
            found.append("uncovered")
    for m, wanted in group.subscriptions.items():
        mine = [(t, n) for t, n in there if t in wanted]
        if mine and not any((m, t, n) in pairs for t, n in mine):
            found.append("unserved")
    return sorted(found)


def naive_spreads(group: ShareGroup, held: Document) -> tuple[int, int]:
    is_equal = len(set(group.subscriptions.values())) == 1
    wanted = {t for s in group.subscriptions.values() for t in s if group.topics.get(t)}
    members, partitions = [0], [0]
    for topics in [wanted] if is_equal else [{t} for t in wanted]:
        loads = [
            sum(len(held.get(m, {}).get(t, [])) for t in topics)
            for m, s in group.subscriptions.items()
            if s & topics
        ]
        times = [
            sum(n in held.get(m, {}).get(t, []) for m in group.subscriptions)
            for t in topics
            for n in range(group.topics[t])
        ]
        if times:
            members.append(max(loads) - min(loads))
            partitions.append(max(times) - min(times))
    return max(members), max(partitions)


def spoiled(rng: Random, group: ShareGroup, held: Document) -> Document:
    """Return an answer with one to three changes, most of them faults."""
    after: Document = {m: {t: [*ns] for t, ns in ts.items()} for m, ts in held.items()}
    for _ in range(rng.randint(1, 3)):
        member = rng.choice([*after, "nobody"])
        topic = rng.choice([*group.topics, "nothing"])
        number = rng.randrange(9)
        mine = after.setdefault(member, {}).setdefault(topic, [])
        match rng.randrange(3):
            case 0:
                mine.append(number)
            case 1:
                mine.clear()
            case 2:
                for topics in after.values():
                    topics.pop(topic, None)
    return after


def test_the_judge_agrees_with_a_naive_one() -> None:
    seen: Counter[str] = Counter()
    for record in stored():
        one = share_group_of(record["rebalance"])
        for seed in amount.seeds(20):
            rng = Random(f"{record['name']}/{seed}")  # noqa: S311 - not for secrets
            held = spoiled(rng, one, record["members"])
            expected = naive_rules(one, held)
            assert rules(one, held) == expected
            seen.update(expected)
            if not expected:
                figures = share_figures(one, held)
                spreads = (figures.member_spread, figures.partition_spread)
                assert spreads == naive_spreads(one, held)
                seen["none"] += 1
    assert {*seen} == {
        *("none", "repeated", "uncovered", "unknown-member", "unknown-partition"),
        *("unserved", "unsubscribed"),
    }


# Kafka's assignor, as stored and as it runs.


def test_stored_answers_of_kafka_are_judged_as_they_were() -> None:
    for record in stored():
        one = share_group_of(record["rebalance"])
        found = rules(one, record["members"])
        assert sorted({*found}) == record["rules"], record["name"]
        assert naive_rules(one, record["members"]) == found
        if not found:
            figures = share_figures(one, record["members"])
            assert figures.is_balanced == record["balanced"], record["name"]
    assert [entry["name"] for entry in stored() if entry["balanced"] is False] == [
        "95/3"
    ]


def test_an_assignor_of_consumer_groups_leaves_members_unserved() -> None:
    """What suits a consumer group breaks the promise of a share group."""

    def exclusive(document: Document) -> Any:
        first = min(document["members"])
        held: Document = {m: {} for m in document["members"]}
        for topic in document["members"][first]["subscription"]:
            numbers = range(
                document["topics"].get(topic, {"partitions": 0})["partitions"]
            )
            held[first][topic] = [*numbers]
        return answered(held)

    check = judged_share_group(Scripted(exclusive), PAIR, "0/0")
    assert [violation.rule for violation in check.violations] == [
        "unserved",
        "unserved",
    ]
    assert [violation.member for violation in check.violations] == ["b", "c"]
    assert check.figures is None


def unexpected(check: ShareCheck) -> Iterator[str]:
    """Yield what is neither right nor a known fault."""
    if check.held is None:
        yield f"{check.name}: {check.reason}"
    wanted = {
        t for subscription in check.group.subscriptions.values() for t in subscription
    }
    for violation in check.violations:
        is_left = violation.rule in KEPT_OF_LEFT_TOPICS
        is_full = violation.rule == "unserved" and has_no_room(check)
        if not is_full and (not is_left or violation.topic in wanted):
            yield f"{check.name}: {violation}"


def has_no_room(check: ShareCheck) -> bool:
    """Return whether each partition has as many members as the assignor aims at.

    Members with several partitions then keep the places of those without. All members
    subscribe to the same topics.
    """
    if check.held is None or len({*check.group.subscriptions.values()}) > 1:
        return False
    figures = share_figures(check.group, check.held)
    return figures.partition_spread == 0 and figures.pairs == figures.aimed


@pytest.mark.heavy
def test_kafka_leaves_a_member_unserved_where_no_partition_has_room() -> None:
    with running(NEWEST, SIMPLE) as kafka:
        checks = list(play_share_group(kafka, FULL))
    (check,) = (check for check in checks if check.violations)
    assert [(v.rule, v.member) for v in check.violations] == [("unserved", "m25")]
    assert has_no_room(check)
    assert check.held is not None
    twice = [m for m, held in check.held.items() if sum(map(len, held.values())) > 1]
    assert twice == ["m00", "n856511"]


@pytest.mark.heavy
def test_kafka_keeps_the_promises_but_for_known_faults() -> None:
    seen: Counter[str] = Counter()
    with running(NEWEST, SIMPLE) as kafka:
        for seed in amount.seeds(amount.share(10, 20)):
            for check in play_share_group(kafka, seed):
                assert list(unexpected(check)) == []
                seen["checks"] += 1
                seen["left"] += bool(check.violations)
                if check.figures is not None:
                    seen["balanced"] += check.figures.is_balanced
                    seen["short"] += check.figures.pairs < check.figures.aimed
                    assert check.figures.pairs <= check.figures.aimed
    assert seen["checks"] == STEPS * amount.share(10, 20)
    assert seen["left"] > 0
    assert seen["balanced"] > 0.95 * seen["checks"]


@pytest.mark.heavy
def test_the_numbers_of_the_page() -> None:
    page = " ".join(PAGE.read_text().split())
    seen: Counter[str] = Counter()
    with running(NEWEST, SIMPLE) as kafka:
        for seed in range(GROUPS_OF_PAGE):
            for check in play_share_group(kafka, seed):
                seen["all"] += 1
                seen["left"] += bool(check.violations)
                if check.figures is not None:
                    seen["valid"] += 1
                    seen["balanced"] += check.figures.is_balanced
                    short = check.figures.aimed - check.figures.pairs
                    assert short in {0, 1, 2}
                    seen["short"] += short > 0
    assert f"Of {seen['all']:,} drawn rebalances in {GROUPS_OF_PAGE} groups" in page
    valid = f"Of the {seen['valid']:,} answers without a violation"
    balanced = f"{seen['balanced']:,} are balanced by the principle"
    assert f"{valid}, {balanced}, and {seen['short']} have one or two pairs" in page
    assert f"In {seen['left']} answers, a member keeps partitions" in page


@pytest.mark.heavy
def test_stored_answers_are_those_of_the_jar() -> None:
    with running(NEWEST, SIMPLE) as kafka:
        for record in stored():
            one = share_group_of(record["rebalance"])
            check = judged_share_group(kafka, one, record["name"])
            assert check.held == record["members"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("share_group", "expected"),
    [
        (  # each topic has two members a partition, and each member its share
            group({"t": 2}, {"a": "t", "b": "t", "c": "t", "d": "t"}),
            {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"t": [0]}, "d": {"t": [1]}},
        ),
        (  # the one member of all topics has half of the partitions of each
            group({"t": 2, "u": 2}, {"a": "t", "b": "u", "c": "tu"}),
            None,
        ),
        (group({"t": 1}, {"a": "x", "b": ""}), {"a": {}, "b": {}}),
    ],
)
def test_small_groups_by_hand(
    share_group: ShareGroup, expected: Document | None
) -> None:
    with running(NEWEST, SIMPLE) as kafka:
        check = judged_share_group(kafka, share_group, "0/0")
    assert check.violations == ()
    assert check.figures is not None
    assert check.figures.is_balanced
    if expected is not None:
        loads = {m: sum(map(len, topics.values())) for m, topics in expected.items()}
        assert check.held is not None
        found = {m: sum(map(len, topics.values())) for m, topics in check.held.items()}
        assert found == loads


@pytest.mark.heavy
@pytest.mark.parametrize(("wanted", "is_kept"), [("u", True), ("t", False)])
def test_known_fault_a_topic_that_all_have_left_keeps_its_members(
    wanted: str, *, is_kept: bool
) -> None:
    """``b`` leaves ``x``, which nobody else subscribes to, and keeps its partition.

    If all subscriptions are equal afterwards, it does not.
    """
    topics = {"t": 1, "u": 1, "x": 1}
    before = {"a": {"t": [0]}, "b": {"x": [0]}}
    one = group(topics, {"a": "t", "b": wanted}, before)
    with running(NEWEST, SIMPLE) as kafka:
        check = judged_share_group(kafka, one, "0/0")
    assert check.held is not None
    assert (check.held["b"].get("x") == [0]) == is_kept
    assert [violation.rule for violation in check.violations] == [
        "unsubscribed"
    ] * is_kept
