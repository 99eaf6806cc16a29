"""JSON that Kafka's tools print of a record is encoded to the record's bytes.

Reaches into `pipeline.records.printed_records` to compare ``messages.json`` with
Kafka's message files.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from conformance.broker import VERSION, kafka_jars
from pipeline.records import (
    ConsumerGroupRecord,
    ConsumerGroupTargetAssignmentMember,
    GroupMetadata,
    OffsetCommit,
    PrintedError,
    decode_record,
    encode_printed_key,
    encode_printed_value,
    printed_records,
)
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from tests.records.consumer_writers import consumer_key, consumer_value
from tests.records.printing import (
    printed_assignment,
    printed_commit,
    printed_group,
    printed_record,
    printed_subscription,
)
from tests.records.strategies import consumer_records, groups, offset_commits
from tests.records.writers import group_key, group_value, offset_key, offset_value
from tests.wire_strategies import assignments, subscriptions

NO_ID = bytes(16)


def encoded(printed: tuple[Any, Any]) -> tuple[bytes, bytes]:
    """Encode what is printed, after a way through text."""
    key, value = (json.loads(json.dumps(part)) for part in printed)
    record_type, key_bytes = encode_printed_key(key)
    return key_bytes, encode_printed_value(record_type, value)


@given(offset_commits())
def test_an_offset_commit(commit: OffsetCommit) -> None:
    if commit.topic_id == NO_ID:
        commit = replace(commit, topic_id=None)  # the default, which no broker writes
    written = offset_key(commit), offset_value(commit)
    assert encoded(printed_commit(commit)) == written
    if commit.version <= 3:  # Kafka 3.8 prints these also for type 0
        legacy = offset_key(commit, record_type=0), offset_value(commit)
        assert encoded(printed_commit(commit, 0)) == legacy


@pytest.mark.heavy
@given(groups())
def test_a_classic_group(group: GroupMetadata) -> None:
    written = group_key(group.group_id), group_value(group)
    assert encoded(printed_group(group)) == written


@pytest.mark.heavy
@given(consumer_records())
def test_a_record_of_the_new_protocol(record: ConsumerGroupRecord) -> None:
    if isinstance(record, ConsumerGroupTargetAssignmentMember):
        # Kafka has epochs in current assignments only.
        assigned = tuple(replace(one, epochs=None) for one in record.assigned)
        record = replace(record, assigned=assigned)
    written = consumer_key(record), consumer_value(record)
    key, value = encoded(printed_record(record))
    assert (key, value) == written


@pytest.mark.heavy
@given(groups(), subscriptions(), assignments())
def test_messages_of_members_that_are_printed_as_fields(
    group: GroupMetadata, subscription: Subscription, assignment: MemberAssignment
) -> None:
    """Of an assignment, the version is not printed; it changes no field."""
    key, value = printed_group(replace(group, protocol_type="consumer"))
    for member in value["data"]["members"]:
        member["subscription"] = printed_subscription(subscription)
        member["assignment"] = printed_assignment(assignment)
    found = decode_record(*encoded((key, value)))
    assert isinstance(found, GroupMetadata)
    for one in found.members:
        assert one.subscription == encode_subscription(subscription)
        version = int.from_bytes(one.assignment[:2])
        as_printed = replace(assignment, version=version)
        assert decode_assignment(one.assignment) == as_printed
        assert one.assignment[2:] == encode_assignment(assignment)[2:]


@pytest.mark.parametrize(("user_data", "version"), [(None, 3), (b"", 0), (b"\0\1", 0)])
def test_the_version_of_an_assignment_is_that_of_its_probable_writer(
    user_data: bytes | None, version: int
) -> None:
    subscription = Subscription(version=3, topics=("t",))
    assignment = MemberAssignment(version=3, partitions=(), user_data=user_data)
    member = {
        "memberId": "m",
        "groupInstanceId": None,
        "clientId": "",
        "clientHost": "",
        "rebalanceTimeout": 1,
        "sessionTimeout": 1,
        "subscription": printed_subscription(subscription),
        "assignment": printed_assignment(assignment),
    }
    data = {"protocolType": "consumer", "generation": 1, "protocol": "range"}
    data |= {"leader": "m", "currentStateTimestamp": 1, "members": [member]}
    value = encode_printed_value(2, {"version": "3", "data": data})
    found = decode_record(group_key("g"), value)
    assert isinstance(found, GroupMetadata)
    assert int.from_bytes(found.members[0].assignment[:2]) == version


GROUP = {"type": "2", "data": {"group": "g"}}
COMMIT = {"offset": 1, "leaderEpoch": 2, "metadata": "", "commitTimestamp": 3}


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ([], "no JSON object"),
        ({"data": {}}, "no type"),
        ({"type": 2, "data": {}}, "no type"),
        ({"type": "-1", "data": {}}, "no type"),
        ({"type": "99", "data": {}}, "unknown record type 99"),
        ({"type": "2"}, "no JSON object"),
        ({"type": "2", "data": {}}, "no group"),
        ({"type": "2", "data": {"group": 7}}, "group: no text"),
        ({"type": "2", "data": {"group": "x" * 32_768}}, "does not fit"),
    ],
)
def test_what_is_no_key(printed: object, reason: str) -> None:
    with pytest.raises(PrintedError, match=re.escape(reason)):
        encode_printed_key(printed)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"offset": True}, "offset: no number from"),
        ({"offset": 2**63}, "offset: no number from"),
        ({"leaderEpoch": None}, "leaderEpoch: no number from"),
        ({"metadata": None}, "metadata: no text"),
        ({"topicId": "AAAA"}, "topicId: no id of 16 bytes"),
        ({"topicId": "*" * 22}, "topicId: no id of 16 bytes"),
        ({"topicId": "AAAAAAAAAAAAAAAAAAAA=="}, "topicId: no id of 16 bytes"),
    ],
)
def test_a_field_that_is_not_of_its_type_is_named(
    changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(PrintedError, match=re.escape(reason)):
        encode_printed_value(1, {"version": "4", "data": COMMIT | changed})


def test_fields_of_other_versions() -> None:
    """A tag that we do not know is left out, as by readers of its bytes."""
    more = {"version": "4", "data": COMMIT | {"addedLater": 1}}
    assert encode_printed_value(1, more) == encode_printed_value(
        1, {"version": "4", "data": COMMIT}
    )
    with pytest.raises(PrintedError, match="version 5, not 0 to 4"):
        encode_printed_value(1, {"version": "5", "data": COMMIT})
    with pytest.raises(PrintedError, match="version 1, not 0"):
        encode_printed_value(3, {"version": "1", "data": {"epoch": 1}})


def test_members_that_are_no_list_are_named() -> None:
    group = {"protocolType": "", "generation": 0, "protocol": None, "leader": None}
    with pytest.raises(PrintedError, match="members: no JSON array"):
        encode_printed_value(2, {"version": "0", "data": group | {"members": 1}})
    with pytest.raises(PrintedError, match="members: no JSON object"):
        encode_printed_value(2, {"version": "0", "data": group | {"members": [1]}})


@pytest.mark.heavy
def test_the_messages_are_those_of_kafka() -> None:
    """Compare with the message files in the broker's jar."""
    name = f"kafka-group-coordinator-{VERSION}.jar"
    (jar,) = (path for path in kafka_jars() if path.name == name)
    ours = {one["name"]: one for one in printed_records._messages().values()}
    with zipfile.ZipFile(jar) as packed:
        found = [one for one in packed.namelist() if one.startswith("common/message/")]
        texts = [packed.read(one).decode() for one in found if one.endswith(".json")]
    assert len(texts) > 40
    for text in texts:
        message = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
        if message["name"] == "LegacyOffsetCommitValue":
            continue  # a commit of version 0
        described = ours[message["name"]]
        common = {
            one["name"]: one["fields"] for one in message.get("commonStructs", [])
        }
        assert message["apiKey"] == described["recordType"]
        assert message["validVersions"] == described["validVersions"]
        assert message["flexibleVersions"] == described["flexibleVersions"]
        _compare(message["fields"], described["fields"], common)


def _compare(theirs: Any, ours: Any, common: dict[str, Any]) -> None:
    by_name = {field["name"]: field for field in ours}
    assert [one["name"] for one in theirs] == list(by_name)[: len(theirs)]
    for field in theirs:
        own = by_name[field["name"]]
        for what in ("type", "nullableVersions", "taggedVersions", "tag"):
            assert field.get(what) == own.get(what)
        assert field.get("versions", "0+") == own["versions"]
        kind = field["type"].removeprefix("[]")
        inner = field.get("fields") or common.get(kind)
        assert (inner is None) == ("fields" not in own)
        if inner:
            _compare(inner, own["fields"], common)
