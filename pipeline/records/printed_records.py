"""Encoder of a record of ``__consumer_offsets`` from the JSON of ``kafka-dump-log``.

With ``--offsets-decoder``, ``DumpLogSegments`` of Kafka 3.8 and newer (KAFKA-16470)
prints key and value as ``{"type": "2", "data": {…}}`` and ``{"version": "4", "data":
{…}}``. In a group of the protocol type ``consumer``, it replaces the bytes of each
subscription and assignment by their fields, if they can be decoded. These have no
version: that of a subscription follows from its fields, and an assignment has the same
fields in all versions. Java clients write both in one version, and no user data of an
assignment as null; librdkafka and kafka-python write assignments in version 0, and no
user data as empty.

``messages.json`` describes the records as Kafka's message files do (``GroupMetadata
Value.json`` and its siblings, Apache Kafka 4.4.0), with what encoding needs. Types 9
(of 4.0), 18, and 24, and the creation time (KIP-1282) are from its repository.
"""

from __future__ import annotations

import struct
from functools import cache
from importlib.resources import files
from typing import Any, Final

import orjson
from kafka.protocol.schemas import BaseField, load_json

from pipeline.records.printed_fields import (
    PrintedError,
    PrintedMessage,
    first_versions,
)

_VERSION: Final = struct.Struct(">h")
_DIGITS: Final = 5
"""Characters of the largest type or version, 16 bits."""
_LEGACY_COMMIT: Final = 0
_COMMIT: Final = 1
_CLASSIC_GROUP: Final = 2
_MEMBER: Final = 5
_CLASSIC_MEMBER: Final = "classicMemberMetadata"
_NULL_TAG: Final = bytes([1, 0, 1, 0])
"""One tag, number 0, of one byte: null. Kafka writes it; kafka-python omits it."""
_SUBSCRIPTION: Final = "ConsumerProtocolSubscription"
_ASSIGNMENT: Final = "ConsumerProtocolAssignment"


def encode_printed_key(printed: object) -> tuple[int, bytes]:
    """Encode a key; return the type of the record, and the bytes.

    Raises
    ------
    PrintedError
        If it is not the key of a known type of record.
    """
    record_type, fields = _parts(printed, "type")
    if (record_type, "key") not in _messages():
        raise PrintedError(f"unknown record type {record_type}")
    encoded = _message(record_type, "key", 0).encode(fields)
    return record_type, _VERSION.pack(record_type) + encoded


def encode_printed_value(record_type: int, printed: object) -> bytes:
    """Encode the value of a record of a known type.

    Raises
    ------
    PrintedError
        If it is not such a value, or of a version that is not known.
    """
    version, fields = _parts(printed, "version")
    # Kafka 3.8 and 3.9 print all versions of a commit for both types.
    value_type = _COMMIT if record_type == _LEGACY_COMMIT else record_type
    newest = _newest(value_type)
    if not 0 <= version <= newest:
        allowed = f"0 to {newest}" if newest else "0"
        raise PrintedError(f"version {version}, not {allowed}")
    if value_type == _CLASSIC_GROUP:
        fields = _with_member_messages(fields)
    encoded = _message(value_type, "value", version).encode(fields)
    if value_type == _MEMBER and fields.get(_CLASSIC_MEMBER, fields) is None:
        encoded = encoded[:-1] + _NULL_TAG
    return _VERSION.pack(version) + encoded


def _parts(printed: object, number: str) -> tuple[int, Any]:
    """Return the type or the version, and the fields."""
    if not isinstance(printed, dict):
        raise PrintedError("no JSON object")
    text = printed.get(number)
    if not (isinstance(text, str) and text.isdecimal() and len(text) <= _DIGITS):
        raise PrintedError(f"no {number}")
    return int(text), printed.get("data")


@cache
def _messages() -> dict[tuple[int, str], dict[str, Any]]:
    """Return the descriptions, by type of record and part, ``key`` or ``value``."""
    data = files(__package__).joinpath("messages.json").read_bytes()
    return {(one["recordType"], one["type"]): one for one in orjson.loads(data)}


@cache
def _message(record_type: int, part: str, version: int) -> PrintedMessage:
    return PrintedMessage(_messages()[record_type, part], version)


@cache
def _newest(record_type: int) -> int:
    described = _messages()[record_type, "value"]
    return int(BaseField.parse_versions(described["validVersions"])[1])


def _with_member_messages(group: Any) -> Any:
    """Replace subscriptions and assignments that are printed as fields by bytes."""
    members = group.get("members") if isinstance(group, dict) else None
    if not isinstance(members, list):
        return group
    return group | {"members": [_with_messages(member) for member in members]}


def _with_messages(member: Any) -> Any:
    if not isinstance(member, dict):
        return member
    replaced, version = {}, 0
    if isinstance(printed := member.get("subscription"), dict):
        since = _since()
        version = max((since.get(name, 0) for name in printed), default=0)
        replaced["subscription"] = _encoded(_SUBSCRIPTION, version, printed)
    if isinstance(printed := member.get("assignment"), dict):
        if printed.get("userData") is not None:
            version = 0
        replaced["assignment"] = _encoded(_ASSIGNMENT, version, printed)
    return member | replaced


def _encoded(name: str, version: int, printed: dict[str, Any]) -> bytes:
    encoded = _protocol_message(name, version).encode(printed)
    return _VERSION.pack(version) + encoded


@cache
def _protocol(name: str) -> dict[str, Any]:
    return dict(load_json(name))


@cache
def _since() -> dict[str, int]:
    return first_versions(_protocol(_SUBSCRIPTION))


@cache
def _protocol_message(name: str, version: int) -> PrintedMessage:
    return PrintedMessage(_protocol(name), version)
