"""Print records as Kafka's generated JSON converters do, for tests only.

Shares no code with the encoder: the names are those of Kafka's message files.
"""

from __future__ import annotations

import base64
from typing import Any

from pipeline.records import GroupMember, GroupMetadata, OffsetCommit

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


def identifier(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


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


def _key(record_type: int, data: Printed) -> Printed:
    return {"type": record_type, "data": data}


def _value(version: int, data: Printed) -> Printed:
    return {"version": version, "data": data}


def _blob(data: bytes) -> str:
    return base64.b64encode(data).decode()
