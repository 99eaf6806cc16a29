"""Answers of real clients in the recording, compared partition by partition.

Reaches into `pipeline.history` to compare our answers with recorded generations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pipeline.history.generations import Generation, decode_generation_of
from pipeline.records import GroupMetadata, decode_record
from tests.heuristics.routes import assigned
from tests.references.heuristics import Held
from tests.support.shapes import Document, member, rebalance
from tests.support.wire import RECORDINGS, churn

PARTITIONS: dict[str, int] = json.loads(
    (RECORDINGS / "churn" / "topics.json").read_bytes()
)


def generations(group: str, assignor: str) -> Iterator[Generation]:
    """Yield a group's generations in which this assignor was the one chosen."""
    for key, value in churn():
        record = decode_record(key, value)
        if isinstance(record, GroupMetadata) and record.group_id == group:
            generation = decode_generation_of(record)
            if generation.assignor == assignor and generation.participants:
                yield generation


def document(generation: Generation, *, static: bool = True) -> Document:
    members = {}
    for participant in generation.participants:
        members[participant.member_id] = member(participant.subscription)
        if static and participant.instance_id is not None:
            members[participant.member_id]["instance_id"] = participant.instance_id
    topics = {
        t for participant in generation.participants for t in participant.subscription
    }
    return rebalance({topic: PARTITIONS[topic] for topic in topics}, members)


def answered(generation: Generation) -> Held:
    return {
        participant.member_id: participant.assigned
        for participant in generation.participants
    }


@pytest.mark.parametrize(
    ("group", "protocol", "name", "count"),
    [
        pytest.param("upgrade-726", "range", "range", 35, id="java-range"),
        pytest.param(
            "billing-roundrobin", "roundrobin", "round-robin", 48, id="python-equal"
        ),
        pytest.param(
            "nightly-batch", "roundrobin", "round-robin", 32, id="python-batch"
        ),
    ],
)
def test_real_clients_answered_the_same(
    group: str, protocol: str, name: str, count: int
) -> None:
    recorded = list(generations(group, protocol))
    assert len(recorded) == count
    for generation in recorded:
        assert assigned(name, document(generation)) == answered(generation), (
            generation.generation
        )


def test_librdkafka_does_not_put_static_members_first() -> None:
    """Its order is by member id unless both are static; ours is Java's."""
    recorded = list(generations("orders-range", "range"))
    assert len(recorded) == 49
    for generation in recorded:
        unnamed = document(generation, static=False)
        assert assigned("range", unnamed) == answered(generation), generation.generation
    differing = sum(assigned("range", document(r)) != answered(r) for r in recorded)
    assert differing == 47
