"""JSON that Kafka's tools print of a record is encoded to the record's bytes.

Reaches into `pipeline.records.printed_records` to compare ``messages.json`` with
Kafka's message files.
"""

from __future__ import annotations

import json
import re
import zipfile
from typing import Any

import pytest
from hypothesis import given

from conformance.broker import VERSION, kafka_jars
from pipeline.records import (
    GroupMetadata,
    OffsetCommit,
    PrintedError,
    encode_printed_key,
    encode_printed_value,
    printed_records,
)
from tests.pipeline.records.printing import printed_commit, printed_group
from tests.pipeline.records.strategies import groups, offset_commits
from tests.pipeline.records.writers import (
    group_key,
    group_value,
    offset_key,
    offset_value,
)

NO_ID = bytes(16)


def encoded(printed: tuple[Any, Any]) -> tuple[bytes, bytes]:
    """Encode what is printed, after a way through text."""
    key, value = (json.loads(json.dumps(part)) for part in printed)
    record_type, key_bytes = encode_printed_key(key["type"], key["data"])
    value_bytes = encode_printed_value(record_type, value["version"], value["data"])
    return key_bytes, value_bytes


@given(offset_commits())
def test_an_offset_commit(commit: OffsetCommit) -> None:
    if commit.topic_id == NO_ID:
        commit = commit._replace(topic_id=None)  # the default, which no broker writes
    written = offset_key(commit), offset_value(commit)
    assert encoded(printed_commit(commit)) == written
    if commit.version <= 3:  # Kafka prints these also for type 0
        legacy = offset_key(commit, record_type=0), offset_value(commit)
        assert encoded(printed_commit(commit, 0)) == legacy


@pytest.mark.heavy
@given(groups())
def test_a_classic_group(group: GroupMetadata) -> None:
    written = group_key(group.group_id), group_value(group)
    assert encoded(printed_group(group)) == written


COMMIT = {"offset": 1, "leaderEpoch": 2, "metadata": "", "commitTimestamp": 3}


@pytest.mark.parametrize(
    ("record_type", "fields", "reason"),
    [
        (None, {}, "no type"),
        (True, {}, "no type"),
        (-1, {}, "no type"),
        ("99", {}, "unknown record type 99"),
        (3, {"groupId": "g"}, "unknown record type 3"),
        (2, None, "no JSON object"),
        ("2", {}, "no group"),
        (2, {"group": 7}, "group: no text"),
        (2, {"group": "x" * 32_768}, "does not fit"),
    ],
)
def test_what_is_no_key(record_type: object, fields: object, reason: str) -> None:
    with pytest.raises(PrintedError, match=re.escape(reason)):
        encode_printed_key(record_type, fields)


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
        encode_printed_value(1, 4, COMMIT | changed)


def test_fields_of_other_versions() -> None:
    """A tag that we do not know is left out, as by readers of its bytes."""
    more = COMMIT | {"addedLater": 1}
    assert encode_printed_value(1, "4", more) == encode_printed_value(1, 4, COMMIT)
    with pytest.raises(PrintedError, match="version 5, not 0 to 4"):
        encode_printed_value(1, 5, COMMIT)
    with pytest.raises(PrintedError, match="no version"):
        encode_printed_value(1, None, COMMIT)


def test_members_that_are_no_list_are_named() -> None:
    group = {"protocolType": "", "generation": 0, "protocol": None, "leader": None}
    with pytest.raises(PrintedError, match="members: no JSON array"):
        encode_printed_value(2, 0, group | {"members": 1})
    with pytest.raises(PrintedError, match="members: no JSON object"):
        encode_printed_value(2, 0, group | {"members": [1]})


@pytest.mark.heavy
def test_the_messages_are_those_of_kafka() -> None:
    """Compare with the message files in the broker's jar."""
    name = f"kafka-group-coordinator-{VERSION}.jar"
    (jar,) = (path for path in kafka_jars() if path.name == name)
    ours = {
        message["name"]: message for message in printed_records._messages().values()
    }
    with zipfile.ZipFile(jar) as packed:
        found = [
            path for path in packed.namelist() if path.startswith("common/message/")
        ]
        texts = [packed.read(path).decode() for path in found if path.endswith(".json")]
    theirs = [json.loads(re.sub(r"(?m)^\s*//.*$", "", text)) for text in texts]
    theirs = [message for message in theirs if message["name"] in ours]
    assert len(theirs) == len(ours) == 5
    for message in theirs:
        described = ours[message["name"]]
        assert message["apiKey"] == described["recordType"]
        assert message["validVersions"] == described["validVersions"]
        assert message["flexibleVersions"] == described["flexibleVersions"]
        common = {
            struct["name"]: struct["fields"]
            for struct in message.get("commonStructs", [])
        }
        _compare(message["fields"], described["fields"], common)


def _compare(theirs: Any, ours: Any, common: dict[str, Any]) -> None:
    by_name = {field["name"]: field for field in ours}
    assert [field["name"] for field in theirs] == list(by_name)
    for field in theirs:
        own = by_name[field["name"]]
        for what in ("type", "nullableVersions", "taggedVersions", "tag"):
            assert field.get(what) == own.get(what)
        assert field.get("versions", "0+") == own["versions"]
        inner = common.get(field["type"].removeprefix("[]"), [])
        _compare(inner, own.get("fields", []), common)
