"""The tables of fields are Kafka's own message files, version by version.

Reaches into `pipeline.records.field_tables` to compare them with the files in the jars.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import pytest

from conformance.clients import LINES, install
from pipeline.records import field_tables as ours
from pipeline.records.field_tables import Field, Kind, Message
from rebalance import ABSENT

pytestmark = pytest.mark.heavy

FieldRead: TypeAlias = tuple[str, Kind, bool, int | None, int | None]
"""Path, type, whether it can be null, tag, and the default if it is optional."""
Messages: TypeAlias = dict[str, dict[str, Any]]

KEYS: Final = (
    (ours.OFFSET_KEY, {"LegacyOffsetCommit": 0, "OffsetCommit": 1}),
    (
        ours.GROUP_KEY,
        {
            "GroupMetadata": 2,
            "ConsumerGroupMetadata": 3,
            "ConsumerGroupTargetAssignmentMetadata": 6,
        },
    ),
    (
        ours.SUBJECT_KEY,
        {
            "ConsumerGroupMemberMetadata": 5,
            "ConsumerGroupTargetAssignmentMember": 7,
            "ConsumerGroupCurrentMemberAssignment": 8,
            "ConsumerGroupRegularExpression": 16,
        },
    ),
)
VALUES: Final = (
    ours.OFFSET_VALUE,
    ours.GROUP_VALUE,
    ours.SUBSCRIPTION,
    ours.ASSIGNMENT,
    *ours.VALUES_BY_TYPE.values(),
)
NOT_IN_4_4: Final = {
    ("ConsumerGroupMetadataValue", "creationTime"),  # KIP-1282
    # Of what a member has; a target is read alike.
    ("ConsumerGroupTargetAssignmentMemberValue", "topicPartitions/assignmentEpochs"),
}
TYPES: Final = {
    "int8": Kind.INT8,
    "int16": Kind.INT16,
    "int32": Kind.INT32,
    "int64": Kind.INT64,
    "string": Kind.TEXT,
    "bytes": Kind.BYTES,
    "uuid": Kind.UUID,
}


@pytest.fixture(scope="module")
def kafkas() -> Messages:
    """Return Kafka's messages by name."""
    found = {}
    for jar in install(LINES["4.4.0"]).line_jars:
        with zipfile.ZipFile(jar) as packed:
            for name in packed.namelist():
                if re.fullmatch(r"common/message/\w+\.json", name):
                    text = packed.read(name).decode()
                    message = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
                    found[message["name"]] = message
    return found


@pytest.mark.parametrize("message", VALUES, ids=lambda message: message.name)
def test_values(kafkas: Messages, message: Message) -> None:
    theirs = kafkas[message.name]
    assert theirs["validVersions"] in {f"0-{message.newest}", str(message.newest)}
    first, *fields = message.fields
    assert first[:2] == ("version", Kind.INT16)  # before each message
    for version in range(message.newest + 1):
        is_flexible = _has(theirs["flexibleVersions"], version)
        assert is_flexible == (version >= message.flexible)
        found = [
            field
            for field in _of_table(fields, version, is_flexible=is_flexible)
            if (message.name, field[0]) not in NOT_IN_4_4
        ]
        assert found == [*_of_kafka(theirs["fields"], theirs, version)]


def test_commits_of_type_0(kafkas: Messages) -> None:
    """Kafka declares their first version only."""
    theirs = kafkas["LegacyOffsetCommitValue"]
    found = _of_table(ours.OFFSET_VALUE.fields[1:], 0, is_flexible=False)
    assert [*found] == [*_of_kafka(theirs["fields"], theirs, 0)]


def test_classic_members(kafkas: Messages) -> None:
    theirs = kafkas["ConsumerGroupMemberMetadataValue"]
    struct = theirs["fields"][-1]
    assert struct["type"] == ours.CLASSIC_MEMBER.name
    found = _of_table(ours.CLASSIC_MEMBER.fields, 0, is_flexible=True)
    assert [*found] == [*_of_kafka(struct["fields"], theirs, 0)]


@pytest.mark.parametrize(("message", "types"), KEYS)
def test_keys(kafkas: Messages, message: Message, types: dict[str, int]) -> None:
    """They begin with the type; names of their fields vary."""
    for name, number in types.items():
        theirs = kafkas[f"{name}Key"]
        assert (theirs["apiKey"], theirs["flexibleVersions"]) == (number, "none")
        kinds = [TYPES[field["type"]] for field in theirs["fields"]]
        assert [field.kind for field in message.fields] == [Kind.INT16, *kinds]


def test_no_type_is_missing(kafkas: Messages) -> None:
    """But the subscribed topics of Kafka 4.0 (type 4)."""
    numbers = {
        name.removesuffix("Value"): message["apiKey"]
        for name, message in kafkas.items()
        if message["type"] == "coordinator-value"
        and not name.startswith(("Share", "Streams"))
    }
    assert numbers.pop("ConsumerGroupPartitionMetadata") == 4
    assert numbers == {name: kind for _, types in KEYS for name, kind in types.items()}
    for number, message in ours.VALUES_BY_TYPE.items():
        assert numbers[message.name.removesuffix("Value")] == number


def _of_table(
    fields: Sequence[Field], version: int, *, is_flexible: bool, path: str = ""
) -> Iterator[FieldRead]:
    for field in fields:
        is_there = field.since <= version <= field.until
        if is_there and (field.tag is None or is_flexible):
            name = path + field.name
            is_optional = field.tag is not None or field.since > 0
            default = field.default if is_optional else None
            yield name, field.kind, field.nullable, field.tag, default
            inner = _of_table(
                field.fields, version, is_flexible=is_flexible, path=f"{name}/"
            )
            yield from inner


def _of_kafka(
    fields: list[dict[str, Any]],
    message: dict[str, Any],
    version: int,
    path: str = "",
    since: int = 0,
) -> Iterator[FieldRead]:
    """Yield the fields of a version, of a struct that exists ``since`` one."""
    structs = {
        struct["name"]: struct["fields"] for struct in message.get("commonStructs", [])
    }
    for field in fields:
        if not _has(field["versions"], version):
            continue
        name = path + field["name"][0].lower() + field["name"][1:]
        kind, tag, item = _kind(field), field.get("tag"), field["type"][2:]
        is_nullable = _has(field.get("nullableVersions", "none"), version)
        first = _range(field["versions"])[0]
        is_optional = tag is not None or first > since
        default = _default(field) if is_optional else None
        yield name, kind, is_nullable and tag is None, tag, default
        if kind is Kind.ARRAY and item in TYPES:
            yield f"{name}/", TYPES[item], False, None, None
        elif kind is Kind.ARRAY:
            inner = field.get("fields") or structs[item]
            yield from _of_kafka(inner, message, version, f"{name}/", first)


def _kind(field: dict[str, Any]) -> Kind:
    """Return the type of a field; a struct is in a tag alone, and read on its own."""
    if field["type"].startswith("[]"):
        return Kind.ARRAY if "tag" not in field else Kind.INT32S
    return TYPES.get(field["type"], Kind.BYTES)


def _default(field: dict[str, Any]) -> int:
    """Return the default on a tape, where no topic has the id of zeros."""
    given = field.get("default", 0)
    is_null = given in {None, "null"} or field["type"] == "uuid"
    return ABSENT if is_null else int(given)


def _has(versions: str, version: int) -> bool:
    return version in _range(versions)


def _range(versions: str) -> range:
    """Return the versions in Kafka's notation: ``3+``, ``0-4``, ``1``, or ``none``."""
    if versions == "none":
        return range(0)
    first, _, last = versions.replace("+", "-32767").partition("-")
    return range(int(first), int(last or first) + 1)
