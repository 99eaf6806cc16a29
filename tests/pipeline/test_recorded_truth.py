"""Reconstruction compared with what the consumers observed.

The recording has both sides of the same five minutes: ``_callbacks.jsonl.gz`` contains
every assignment and revocation as reported by the clients.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from pipeline.cases import CLAIMS, Case, Held
from pipeline.describe.group_case import case_of
from pipeline.describe.refusal import NotJudged
from pipeline.history.place import Place
from pipeline.history.reconstruct import GroupHistory
from pipeline.records import (
    GroupMetadata,
    OffsetCommit,
    decode_record,
)
from pipeline.sources.describe_files import read_snapshots
from pipeline.sources.lines import read_lines
from tests.support.wire import RECORDINGS, TESTS

Pairs = frozenset[tuple[str, int]]
CHURN = RECORDINGS / "churn"
EAGER = (
    "ads-java-sticky",
    "billing-roundrobin",
    "nightly-batch",
    "orders-range",
    "search-sticky",
)
COOPERATIVE = ("ads-java-coop", "feed-coop", "mix-coop")
LATE_MS = 3_000  # a callback runs this much after its record at most
EARLY_MS = 50


class Rewritten(NamedTuple):
    """A generation written again: a static member came back under a new id."""

    at: int
    members: dict[str, Pairs]


@cache
def history() -> tuple[dict[str, list[Case]], dict[str, list[Rewritten]]]:
    groups: dict[str, GroupHistory] = {}
    cases: dict[str, list[Case]] = defaultdict(list)
    again: dict[str, list[Rewritten]] = defaultdict(list)
    numbers: dict[str, int] = {}
    for row in pq.read_table(CHURN / "consumer_offsets.parquet").to_pylist():
        record = decode_record(row["key"], row["value"])
        group = groups.setdefault(record.group_id, GroupHistory(record.group_id))
        if isinstance(record, OffsetCommit):
            group.commit(record)
        if not isinstance(record, GroupMetadata):
            continue
        place = Place(
            source="churn",
            partition=row["partition"],
            offset=row["offset"],
            at=row["timestamp"],
        )
        cases[record.group_id].extend(group.metadata(record, place))
        if numbers.get(record.group_id) == record.generation:
            again[record.group_id].append(_rewritten(record, row["timestamp"]))
        numbers[record.group_id] = record.generation
    for group_id, group in groups.items():
        cases[group_id].extend(group.finish())
    return cases, again


def _rewritten(record: GroupMetadata, at: int) -> Rewritten:
    alone = GroupHistory(record.group_id)
    place = Place(source="", partition=0, offset=0, at=at)
    (case,) = [*alone.metadata(record, place), *alone.finish()]
    assert case.members is not None
    held = {name: pairs(member.assigned) for name, member in case.members.items()}
    return Rewritten(at, held)


@cache
def callbacks() -> tuple[dict[str, Any], ...]:
    with gzip.open(CHURN / "_callbacks.jsonl.gz") as lines:
        found = [json.loads(line) for line in lines]
    return tuple(sorted(found, key=lambda event: event["ms"]))


def pairs(held: Held | None) -> Pairs:
    held = held or {}
    return frozenset((topic, n) for topic, numbers in held.items() for n in numbers)


def saw(group: str, *events: str) -> list[dict[str, Any]]:
    return [e for e in callbacks() if e["group"] == group and e["event"] in events]


@pytest.mark.parametrize("group", EAGER)
def test_every_assignment_seen_by_a_consumer_was_reconstructed(group: str) -> None:
    cases, again = history()
    seen = [event for event in saw(group, "assign") if event["member"]]
    assert len(seen) > 80
    for event in seen:
        member, got = event["member"], pairs(event["partitions"])
        found = [
            case
            for case in cases[group]
            if case.members is not None
            and case.at is not None
            and member in case.members
            and -EARLY_MS <= event["ms"] - case.at <= LATE_MS
            and event.get("generation", case.generation) == case.generation
            and pairs(case.members[member].assigned) == got
        ]
        returned = [
            rewritten
            for rewritten in again[group]
            if rewritten.members.get(member) == got
            and abs(event["ms"] - rewritten.at) <= EARLY_MS
        ]
        assert found or returned, event


def test_members_in_cooperative_groups_held_the_reconstructed_partitions() -> None:
    """All but two of 1,281, which were leaving while the group rebalanced."""
    cases, _ = history()
    wrong, compared = [], 0
    for group in COOPERATIVE:
        events = saw(group, "assign", "revoke", "lost")
        for case in cases[group]:
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
    cases, _ = history()
    member = "ads-sticky-20-e0903f31-e8e2-4435-8cd6-281d6fdd77eb"
    assigned = [e for e in saw("ads-java-sticky", "assign") if e["member"] == member]
    assert [e["generation"] for e in assigned if e["generation"] > 40] == [41, 47, 48]
    by_claims = [c for c in cases["ads-java-sticky"] if c.owned_from == CLAIMS]
    assert [case.generation for case in by_claims] == [28, 44, 45, 46, 47]
    for case in by_claims[1:]:
        assert case.members is not None
        assert case.members[member].generation == 41
        assert case.claims_disagree == 1


@pytest.mark.heavy
def test_described_states_equal_the_reconstruction() -> None:
    """Groups at rest hold what some generation gave them; three were in between.

    Of one of these, two texts agree: a change can take longer than two commands.
    """
    cases, again = history()
    folder = TESTS / "data/churn-describe"
    files = [
        (path.name, read_lines(path.open("rb")))
        for path in sorted(folder.glob("*.txt"))
    ]
    compared, between = 0, {}
    for snapshot in read_snapshots(files)[0]:
        try:
            case = case_of(snapshot)
        except NotJudged:
            continue
        if case.protocol != "classic":
            continue
        now = {name: pairs(m.assigned) for name, m in (case.members or {}).items()}
        stood = [
            {
                name: pairs(m.assigned)
                for name, m in (reconstructed.members or {}).items()
            }
            for reconstructed in cases[case.group_id]
        ]
        stood += [rewritten.members for rewritten in again[case.group_id]]
        if now in stood:
            compared += 1
        else:
            between[snapshot.name, case.group_id] = case.at_rest
    assert compared == 20
    assert between == {
        ("describe-1.txt", "nightly-batch"): "texts",
        ("members-2.txt", "feed-coop"): None,
        ("members-2.txt", "search-sticky"): None,
    }


def test_every_rebalance_of_the_recording() -> None:
    cases, _ = history()
    assert {group: len(found) for group, found in cases.items() if found} == {
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
    episodes = [c.episode for found in cases.values() for c in found if c.episode]
    assert len(episodes) == 423
    assert sum(episode.rounds for episode in episodes) == 529
