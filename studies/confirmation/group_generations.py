"""What each generation of a group saw and decided, as its coordinator has stored it.

The coordinator writes every generation that a leader has assigned to the topic
``__consumer_offsets``: what each member sent, and what it received.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition

import verify
from rebalance import OutsideError
from rebalance.protocol import (
    Cursor,
    decode_assignment,
    decode_subscription,
    member_claim,
)
from studies.confirmation.observation import Observation

TOPIC: Final = "__consumer_offsets"
SECONDS: Final = 20.0
UNREVOKED: Final = "unrevoked"
_KEY_OF_GROUP: Final = 2
_NEWEST: Final = 3
"""Of the versions without tagged fields, which brokers write by default."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGeneration:
    """One generation of a group.

    Attributes
    ----------
    number : int
    protocol : str
        Name of the assignor.
    members : dict
        By client id: ``subscription``, ``owned``, and ``generation`` as in rebalance/1.
    held : dict
        By client id, what the leader assigned: topic -> partitions.
    """

    number: int
    protocol: str
    members: dict[str, Document]
    held: dict[str, dict[str, list[int]]]

    def rebalance(self, sizes: dict[str, int]) -> Document:
        """Return what the leader saw, as rebalance/1."""
        return {
            "format": "rebalance/1",
            "group": "g",
            "topics": {name: {"partitions": n} for name, n in sizes.items()},
            "members": self.members,
        }


def stored_generations(address: str, group: str) -> list[StoredGeneration]:
    """Return the generations of a group that have members, in their order.

    Raises
    ------
    OutsideError
        If the topic cannot be read to its end, or a record has a new version.
    WireError
        If a record cannot be decoded.
    """
    found = []
    for key, value in _records(address):
        cursor = Cursor(key)
        if cursor.int16("version") != _KEY_OF_GROUP or cursor.string("group") != group:
            continue
        generation = None if value is None else decode_generation_record(value)
        if generation is not None:
            found.append(generation)
    return found


def decode_generation_record(value: bytes) -> StoredGeneration | None:
    """Decode a group's record; None if it has no members.

    `pipeline.records` reads it as well; this package does not know the pipeline.

    Raises
    ------
    OutsideError
        If it has a version that is not known here.
    WireError
        If it cannot be decoded.
    """
    cursor = Cursor(value)
    version = cursor.int16("version")
    if not 0 <= version <= _NEWEST:
        raise OutsideError(f"a group's record of version {version}")
    cursor.string("protocol type")
    number = cursor.int32("generation")
    protocol = cursor.nullable_string("protocol") or ""
    cursor.nullable_string("leader")
    if version >= 2:
        cursor.int64("time of the state")
    members: dict[str, Document] = {}
    held: dict[str, dict[str, list[int]]] = {}
    for _ in range(cursor.count("members", least=1)):
        cursor.string("member id")
        if version >= 3:
            cursor.nullable_string("instance id")
        name = cursor.string("client id")
        cursor.string("client host")
        if version >= 1:
            cursor.int32("rebalance timeout")
        cursor.int32("session timeout")
        metadata = cursor.blob("subscription")
        given = decode_assignment(cursor.blob("assignment"))
        members[name] = _member(metadata, protocol)
        held[name] = {topic: sorted(numbers) for topic, numbers in given.partitions}
    if not members:
        return None
    return StoredGeneration(
        number=number, protocol=protocol, members=members, held=held
    )


def unrevoked_in(
    generations: list[StoredGeneration], sizes: dict[str, int]
) -> Observation:
    """Judge each generation as a cooperative round; return the first violation."""
    for generation in generations:
        document = generation.rebalance(sizes)
        answer = {"format": "assignment/1", "members": generation.held}
        verdict = verify.judge(document, answer, cooperative=True)
        for violation in verdict["violations"]:
            if violation["rule"] == UNREVOKED:
                outcome = _in_words(generation, violation)
                return Observation(category=UNREVOKED, outcome=outcome)
    last = "; ".join(_claims(generation) for generation in generations[-2:])
    outcome = f"No generation assigns what another member still holds. {last}"
    return Observation(category="no fault", outcome=outcome.strip())


def _member(metadata: bytes, protocol: str) -> Document:
    subscription = decode_subscription(metadata)
    claim = member_claim(subscription, protocol)
    owned = {topic: list(numbers) for topic, numbers in claim.partitions}
    dated = {"generation": claim.generation} if claim.generation >= 0 else {}
    wanted = sorted(set(subscription.topics))
    return {"subscription": wanted, **({"owned": owned} if owned else {}), **dated}


def _in_words(generation: StoredGeneration, violation: Document) -> str:
    place = f"{violation['topic']}:{violation['partition']}"
    receiver, holder = violation["member"], violation["claimant"]
    return (
        f"In generation {generation.number}, {receiver} receives {place}, while "
        f"{holder} holds it and has not revoked it. {_claims(generation)}"
    )


def _claims(generation: StoredGeneration) -> str:
    """Return what the members of a generation claim, in a sentence."""
    parts = [
        f"{name} claims {_owned(m)}" for name, m in sorted(generation.members.items())
    ]
    return f"Claims of generation {generation.number}: {', '.join(parts)}."


def _owned(member: Document) -> str:
    owned = member.get("owned") or {}
    if not owned:
        return "nothing"
    places = [f"{topic}:{n}" for topic, numbers in owned.items() for n in numbers]
    dated = member.get("generation", -1)
    when = f"of generation {dated}" if dated >= 0 else "without a generation"
    return f"{' and '.join(places)} {when}"


def _records(address: str) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield the keys and values of the topic, from its beginning to its present end."""
    settings = {
        "bootstrap.servers": address,
        "group.id": "unused",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    consumer = Consumer(settings)
    try:
        about = consumer.list_topics(TOPIC, timeout=SECONDS).topics[TOPIC]
        for number in sorted(about.partitions):
            first, end = consumer.get_watermark_offsets(
                TopicPartition(TOPIC, number), timeout=SECONDS
            )
            if first >= end:
                continue
            consumer.assign([TopicPartition(TOPIC, number, first)])
            yield from _until(consumer, end)
    finally:
        consumer.close()


def _until(consumer: Consumer, end: int) -> Iterator[tuple[bytes, bytes | None]]:
    while True:
        message = consumer.poll(SECONDS)
        if message is None or message.error() is not None:
            raise OutsideError(f"cannot read {TOPIC} to its end")
        key, value, offset = message.key(), message.value(), message.offset()
        if isinstance(key, bytes):
            yield key, value if isinstance(value, bytes) else None
        if offset is None or offset >= end - 1:
            return
