"""Instances from results of the Admin clients of kafka-python and confluent-kafka.

Their classes are not imported: the attributes are read, so neither client is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rebalance.building.group_parts import GroupParts, Subscriptions
from rebalance.errors import InstanceError
from rebalance.instance import Instance

Lag = Mapping[tuple[str, int], int]


def instance_from_kafka_python(
    described: Mapping[str, Any],
    topics: Iterable[Mapping[str, Any]],
    *,
    lag: Lag | None = None,
) -> Instance:
    """Build an instance from a group of kafka-python's `KafkaAdminClient`.

    Parameters
    ----------
    described : mapping
        One value of ``describe_groups``. It has the subscriptions.
    topics : iterable of mapping
        Of ``describe_topics``; only those that the group mentions are used.
    lag : mapping, optional
        Records by topic and partition number.

    Raises
    ------
    InstanceError
        If the group is not stable, or the brokers do not report its subscriptions.
    """
    group = described["group_id"]
    if described["group_state"] != "Stable":
        reason = f"the group is in state {described['group_state']}, not Stable"
        raise InstanceError(reason, subject=group)
    members: dict[str, dict[str, Any]] = {}
    held: list[tuple[str, str, int]] = []
    for member in described["members"]:
        name, metadata = member["member_id"], member["member_metadata"]
        held += _held_by_kafka_python(member)
        members[name] = _member(member["group_instance_id"])
        members[name]["subscription"] = sorted(set(metadata["topics"]))
    sizes = {topic["name"]: len(topic["partitions"]) for topic in topics}
    parts = GroupParts(group=group, sizes=sizes, members=members, lag=lag)
    return _instance(parts, held)


def instance_from_confluent(
    described: Any,
    topics: Any,
    subscriptions: Subscriptions,
    *,
    lag: Lag | None = None,
) -> Instance:
    """Build an instance from a group of confluent-kafka's `AdminClient`.

    Parameters
    ----------
    described : ConsumerGroupDescription
        A result of ``describe_consumer_groups``.
    topics : ClusterMetadata, or iterable of TopicDescription
        Of ``list_topics`` or ``describe_topics``; only those that the group mentions
        are used.
    subscriptions : mapping, or iterable of str
        Topics by member id, or the topics to which all members subscribe: librdkafka
        does not report subscriptions.
    lag : mapping, optional
        Records by topic and partition number.

    Raises
    ------
    InstanceError
        If a member has no subscription, or the topic of an assignment is not described.
    """
    members: dict[str, dict[str, Any]] = {}
    held: list[tuple[str, str, int]] = []
    for member in described.members:
        members[member.member_id] = _member(member.group_instance_id)
        held += [
            (member.member_id, partition.topic, partition.partition)
            for partition in member.assignment.topic_partitions
        ]
    sizes = _sizes_of_confluent(topics)
    parts = GroupParts(group=described.group_id, sizes=sizes, members=members, lag=lag)
    parts.subscribe(subscriptions)
    return _instance(parts, held)


def _held_by_kafka_python(member: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    name, given = member["member_id"], member["member_assignment"]
    if not all(isinstance(m, Mapping) for m in (member["member_metadata"], given)):
        raise InstanceError("the member is not reported", subject=name)
    return [
        (name, part["topic"], number)
        for part in given["assigned_partitions"]
        for number in part["partitions"]
    ]


def _sizes_of_confluent(topics: Any) -> dict[str, int]:
    found = getattr(topics, "topics", None)
    if found is None:
        return {topic.name: len(topic.partitions) for topic in topics}
    return {name: len(topic.partitions) for name, topic in found.items()}


def _member(instance_id: str | None) -> dict[str, Any]:
    return {"instance_id": instance_id} if instance_id else {}


def _instance(parts: GroupParts, held: list[tuple[str, str, int]]) -> Instance:
    """Return the instance, without the topics that the group does not mention."""
    used = {
        topic for member in parts.members.values() for topic in member["subscription"]
    }
    used.update(topic for _, topic, _ in held)
    parts.sizes = {name: size for name, size in parts.sizes.items() if name in used}
    if parts.lag is not None:
        parts.lag = {key: lag for key, lag in parts.lag.items() if key[0] in used}
    for member, topic, number in held:
        parts.add_claim(member, topic, number)
    return parts.instance()
