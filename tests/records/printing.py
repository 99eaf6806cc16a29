"""Print records as Kafka's generated JSON converters do, for tests only.

Shares no code with the encoder: the names are those of Kafka's message files.
"""

from __future__ import annotations

import base64
from typing import Any

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    GroupMember,
    GroupMetadata,
    OffsetCommit,
    TopicIdPartitions,
    TopicMetadata,
)
from rebalance.protocol import MemberAssignment, Partitions, Subscription
from tests.records.consumer_writers import TYPES

Printed = dict[str, Any]


def printed_commit(commit: OffsetCommit, record_type: int = 1) -> tuple[Printed, Any]:
    key: Printed = {"group": commit.group_id, "topic": commit.topic}
    key |= {"partition": commit.partition}
    value: Printed = {"offset": commit.offset}
    if commit.version >= 3:
        value["leaderEpoch"] = commit.leader_epoch
    value |= {"metadata": commit.metadata, "commitTimestamp": commit.commit_timestamp}
    if commit.version == 1:
        value["expireTimestamp"] = commit.expire_timestamp
    if commit.topic_id is not None:
        value["topicId"] = identifier(commit.topic_id)
    return _key(record_type, key), _value(commit.version, value)


def printed_group(group: GroupMetadata) -> tuple[Printed, Any]:
    value: Printed = {
        "protocolType": group.protocol_type,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
    }
    if group.version >= 2:
        value["currentStateTimestamp"] = group.state_timestamp
    value["members"] = [_member(member, group.version) for member in group.members]
    return _key(2, {"group": group.group_id}), _value(group.version, value)


def printed_subscription(subscription: Subscription) -> Printed:
    printed: Printed = {"topics": list(subscription.topics)}
    printed["userData"] = _maybe(subscription.user_data)
    if subscription.version >= 1:
        printed["ownedPartitions"] = _partitions(subscription.owned)
    if subscription.version >= 2:
        printed["generationId"] = subscription.generation
    if subscription.version >= 3:
        printed["rackId"] = subscription.rack
    return printed


def printed_assignment(assignment: MemberAssignment) -> Printed:
    return {
        "assignedPartitions": _partitions(assignment.partitions),
        "userData": _maybe(assignment.user_data),
    }


def printed_record(record: ConsumerGroupRecord) -> tuple[Printed, Any]:
    """Print a record of the new protocol that is no tombstone."""
    key = {"groupId": record.group_id}
    if isinstance(record, ConsumerGroupRegularExpression):
        key["regularExpression"] = record.regex
    elif hasattr(record, "member_id"):
        key["memberId"] = record.member_id
    return _key(TYPES[type(record).__name__], key), _value(0, _fields(record))


def identifier(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _fields(record: ConsumerGroupRecord) -> Printed:
    printed: Printed
    match record:
        case ConsumerGroupMetadata():
            printed = {"epoch": record.epoch, "metadataHash": record.metadata_hash}
            printed["creationTimeMs"] = record.creation_time
        case ConsumerGroupPartitionMetadata():
            printed = {"topics": [_topic(topic) for topic in record.topics]}
        case ConsumerGroupMemberMetadata():
            printed = _metadata(record)
        case ConsumerGroupTargetAssignmentMetadata():
            printed = {"assignmentEpoch": record.epoch}
            printed["assignmentTimestamp"] = record.computed_at
        case ConsumerGroupTargetAssignmentMember():
            printed = {"topicPartitions": [_assigned(one) for one in record.assigned]}
        case ConsumerGroupCurrentMemberAssignment():
            printed = {"memberEpoch": record.epoch, "state": record.state}
            printed["previousMemberEpoch"] = record.previous_epoch
            parts = record.assigned, record.revoking
            names = "assignedPartitions", "partitionsPendingRevocation"
            for name, part in zip(names, parts, strict=True):
                printed[name] = [_assigned(one) for one in part]
        case ConsumerGroupRegularExpression():
            printed = {"topics": list(record.topics), "version": record.version}
            printed["timestamp"] = record.resolved_at
        case _:
            raise AssertionError(record)
    return printed


def _topic(topic: TopicMetadata) -> Printed:
    racks = [{"partition": number, "racks": list(of)} for number, of in topic.racks]
    return {
        "topicId": identifier(topic.topic_id),
        "topicName": topic.name,
        "numPartitions": topic.partitions,
        "partitionMetadata": racks,
    }


def _metadata(member: ConsumerGroupMemberMetadata) -> Printed:
    printed: Printed = {
        "instanceId": member.instance_id,
        "rackId": member.rack,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "subscribedTopicNames": list(member.topics),
        "subscribedTopicRegex": member.regex,
        "rebalanceTimeoutMs": member.rebalance_timeout,
        "serverAssignor": member.server_assignor,
    }
    if member.classic is not None:
        protocols = [
            {"name": name, "metadata": _blob(data)}
            for name, data in member.classic.protocols
        ]
        printed["classicMemberMetadata"] = {
            "sessionTimeoutMs": member.classic.session_timeout,
            "supportedProtocols": protocols,
        }
    return printed


def _assigned(one: TopicIdPartitions) -> Printed:
    printed: Printed = {
        "topicId": identifier(one.topic_id),
        "partitions": list(one.partitions),
    }
    if one.epochs is not None:
        printed["assignmentEpochs"] = list(one.epochs)
    return printed


def _member(member: GroupMember, version: int) -> Printed:
    printed: Printed = {"memberId": member.member_id}
    if version >= 3:
        printed["groupInstanceId"] = member.group_instance_id
    printed |= {"clientId": member.client_id, "clientHost": member.client_host}
    if version >= 1:
        printed["rebalanceTimeout"] = member.rebalance_timeout
    return printed | {
        "sessionTimeout": member.session_timeout,
        "subscription": _blob(member.subscription),
        "assignment": _blob(member.assignment),
    }


def _partitions(partitions: Partitions) -> list[Printed]:
    return [{"topic": topic, "partitions": list(ns)} for topic, ns in partitions]


def _key(record_type: int, data: Printed) -> Printed:
    return {"type": str(record_type), "data": data}


def _value(version: int, data: Printed) -> Printed:
    return {"version": str(version), "data": data}


def _blob(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _maybe(data: bytes | None) -> str | None:
    return None if data is None else _blob(data)
