"""Reconstruction compared with what the consumers observed.

The recording has both sides of the same five minutes: ``_callbacks.jsonl.gz`` contains
every assignment and revocation as reported by the clients.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import pytest

from pipeline.cases import CLAIMS, Case
from tests.pipeline.local_reading import cases_of
from tests.pipeline.recorded import (
    LATE_MS,
    assigned_pairs,
    churn_callbacks,
    churn_rows,
    described_states,
    pairs,
)

EAGER = (
    "ads-java-sticky",
    "billing-roundrobin",
    "nightly-batch",
    "orders-range",
    "search-sticky",
)
COOPERATIVE = ("ads-java-coop", "feed-coop", "mix-coop")
EARLY_MS = 50


@cache
def cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases_of(churn_rows()):
        if case.protocol == "classic":
            found[case.group_id].append(case)
    return found


def saw(group: str, *events: str) -> list[dict[str, Any]]:
    return [
        e for e in churn_callbacks() if e["group"] == group and e["event"] in events
    ]


@pytest.mark.parametrize("group", EAGER)
def test_every_assignment_seen_by_a_consumer_was_reconstructed(group: str) -> None:
    """Static members that come back have what they had, without a rebalance."""
    seen = [event for event in saw(group, "assign") if event["member"]]
    assert len(seen) > 80
    returned = 0
    for event in seen:
        member, got = event["member"], pairs(event["partitions"])
        before = [case for case in cases()[group] if event["ms"] - case.at >= -EARLY_MS]
        found = [
            case
            for case in before
            if event["ms"] - case.at <= LATE_MS
            and event.get("generation", case.generation) == case.generation
            and assigned_pairs(case).get(member) == got
        ]
        if not found:
            returned += 1
            static = (m for m in (before[-1].members or {}).values() if m.instance_id)
            assert got in [pairs(member.assigned) for member in static], event
    assert returned == (7 if group == "orders-range" else 0)


def test_members_in_cooperative_groups_held_the_reconstructed_partitions() -> None:
    """All but two of 1,281, which were leaving while the group rebalanced."""
    wrong, compared = [], 0
    for group in COOPERATIVE:
        events = saw(group, "assign", "revoke", "lost")
        for case in cases()[group]:
            assert case.members is not None
            for name, member in case.members.items():
                wanted = set(member.subscription)
                held = {tp for tp in _held(events, name, case.at) if tp[0] in wanted}
                believed = {tp for tp in pairs(member.owned) if tp[0] in wanted}
                compared += 1
                if held != believed:
                    wrong.append((group, case.generation, name.split("-")[2]))
    assert compared == 1281
    assert wrong == [("ads-java-coop", 82, "28"), ("mix-coop", 68, "24")]


def _held(events: list[dict[str, Any]], member: str, until: int | None) -> set[Any]:
    """Add and take away what a consumer was told, up to a moment."""
    held: set[tuple[str, int]] = set()
    for event in events:
        client = event["client"] + "-"
        # Callbacks before the first answer name the client alone.
        alone = event["member"] is None and member.startswith(client)
        is_its = event["member"] == member or (
            alone and member[len(client) :].count("-") == 4
        )
        if until is not None and event["ms"] >= until:
            break
        if is_its and event["event"] == "assign":
            held |= pairs(event["partitions"])
        elif is_its:
            held -= pairs(event["partitions"])
    return held


def test_a_member_that_ignores_its_assignments_is_found_out() -> None:
    """Its subscription changed at generation 42; 43 to 46 it never took up."""
    member = "ads-sticky-20-e0903f31-e8e2-4435-8cd6-281d6fdd77eb"
    assigned = [e for e in saw("ads-java-sticky", "assign") if e["member"] == member]
    assert [e["generation"] for e in assigned if e["generation"] > 40] == [41, 47, 48]
    by_claims = [c for c in cases()["ads-java-sticky"] if c.owned_from == CLAIMS]
    assert [case.generation for case in by_claims] == [28, 44, 45, 46, 47]
    for case in by_claims[1:]:
        assert case.members is not None
        assert case.members[member].generation == 41
        assert case.claims_disagree == 1


@pytest.mark.heavy
def test_described_states_equal_the_reconstruction() -> None:
    """Groups at rest hold what some generation gave them; three were in between.

    Of one of these, two texts agree: a change can take longer than two commands. In
    one more, a static member had come back under another id.
    """
    compared, between = 0, {}
    for name, case in described_states():
        if case.protocol != "classic":
            continue
        if assigned_pairs(case) in map(assigned_pairs, cases()[case.group_id]):
            compared += 1
        else:
            between[name, case.group_id] = case.at_rest
    assert compared == 19
    assert between == {
        ("describe-1.txt", "nightly-batch"): "texts",
        ("describe-3.txt", "orders-range"): "texts",
        ("members-2.txt", "feed-coop"): None,
        ("members-2.txt", "search-sticky"): None,
    }


def test_every_rebalance_of_the_recording() -> None:
    assert {group: len(found) for group, found in cases().items() if found} == {
        "ads-java-coop": 91,
        "ads-java-sticky": 47,
        "billing-roundrobin": 48,
        "feed-coop": 56,
        "mix-coop": 70,
        "nightly-batch": 32,
        "orders-range": 42,
        "search-sticky": 63,
        "upgrade-726": 80,
    }
    episodes = [c.episode for found in cases().values() for c in found if c.episode]
    assert len(episodes) == 423
    assert sum(episode.rounds for episode in episodes) == 529
