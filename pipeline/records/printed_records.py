"""Encoder of a record of ``__consumer_offsets`` from the JSON that Kafka's tools print.

The JSON is that of Kafka's generated converters (``JsonConverterGenerator`` of its
message generator): one name per field of the version, bytes in base64, ids in base64
for URLs without padding; a tagged field can be absent. ``messages.json`` describes the
records of classic groups and offset commits, which the formatters of the console
consumer print, as Kafka's message files do (``GroupMetadataValue.json`` and its
siblings, Apache Kafka 4.4.0), with the fields that encoding needs. kafka-python encodes
the fields; it accepts values of any type, so that types and ranges are checked here.
"""

from __future__ import annotations

import base64
import binascii
import struct
import uuid
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

import orjson

_Convert: TypeAlias = Callable[[Any], Any]

_VERSION: Final = struct.Struct(">h")
_DIGITS: Final = 5
"""Characters of the largest type or version, 16 bits."""
_LEGACY_COMMIT: Final = 0
_COMMIT: Final = 1
_ID_TEXT: Final = 22
"""Characters of 16 bytes in base64 without padding."""
_NO_ID: Final = uuid.UUID(int=0)


class PrintedError(ValueError):
    """JSON that is not the fields of a record; the message names the field."""


def encode_printed_key(record_type: object, fields: object) -> tuple[int, bytes]:
    """Encode a key; return the type of the record, and the bytes.

    Raises
    ------
    PrintedError
        If it is not the key of a known type of record.
    """
    number = _number(record_type, "type")
    if (number, "key") not in _messages():
        raise PrintedError(f"unknown record type {number}")
    return number, _VERSION.pack(number) + _encoded(number, "key", 0, fields)


def encode_printed_value(record_type: int, version: object, fields: object) -> bytes:
    """Encode the value of a record of a known type.

    Raises
    ------
    PrintedError
        If it is not such a value, or of a version that is not known.
    """
    number = _number(version, "version")
    # Kafka prints all versions of a commit for both types.
    value_type = _COMMIT if record_type == _LEGACY_COMMIT else record_type
    versions = _messages()[value_type, "value"]["validVersions"]
    first, last = _kafka_struct().parse_versions(versions)
    if not first <= number <= last:
        raise PrintedError(f"version {number}, not {first} to {last}")
    return _VERSION.pack(number) + _encoded(value_type, "value", number, fields)


def _number(printed: object, name: str) -> int:
    """Return a type or a version, which Kafka 3.9 prints as text."""
    text = str(printed) if type(printed) is int else printed
    if not (isinstance(text, str) and text.isdecimal() and len(text) <= _DIGITS):
        raise PrintedError(f"no {name}")
    return int(text)


def _encoded(record_type: int, part: str, version: int, printed: object) -> bytes:
    """Encode the fields of a key or a value, without the version.

    Fields with other names are ignored, as tags that are not known.
    """
    described = _messages()[record_type, part]
    first, last = _kafka_struct().parse_versions(described["flexibleVersions"])
    is_flexible = first <= version <= last
    message, convert = _message(record_type, part, version)
    fields = convert(printed)
    try:
        encoded = message.encode(
            fields, version=version, compact=is_flexible, tagged=is_flexible
        )
    except (struct.error, ValueError) as error:
        raise PrintedError(f"does not fit: {error}") from None
    return bytes(encoded)


def _kafka_struct() -> Any:
    """Return the class from kafka-python, which takes long to load and few need."""
    from kafka.protocol.schemas import StructField  # noqa: PLC0415

    return StructField


@cache
def _messages() -> dict[tuple[int, str], dict[str, Any]]:
    """Return the descriptions, by type of record and part, ``key`` or ``value``."""
    data = files(__package__).joinpath("messages.json").read_bytes()
    return {(load["recordType"], load["type"]): load for load in orjson.loads(data)}


@cache
def _message(record_type: int, part: str, version: int) -> tuple[Any, _Convert]:
    message = _kafka_struct()(_messages()[record_type, part])
    return message, _fields(message.fields.values(), version)


def _fields(fields: Iterable[Any], version: int) -> _Convert:
    """Return a function from an object to fields by kafka-python's names, in order."""
    plan = [
        (
            field.name,
            _printed_name(field.name),
            field.tagged_field_q(version),
            _converter(field, version),
        )
        for field in fields
        if field.for_version_q(version)
    ]

    def convert(printed: Any) -> dict[str, Any]:
        if not isinstance(printed, dict):
            raise PrintedError("no JSON object")
        found = {}
        for name, shown, is_optional, convert_field in plan:
            if shown in printed:
                try:
                    found[name] = convert_field(printed[shown])
                except PrintedError as error:
                    raise PrintedError(f"{shown}: {error}") from None
            elif not is_optional:
                raise PrintedError(f"no {shown}")
        return found

    return convert


def _converter(field: Any, version: int) -> _Convert:
    if field.is_struct_array():
        return _array(_fields(field.fields.values(), version))
    one = _SIMPLE[field.type_str]
    if not field.nullable_for_version_q(version):
        return one
    return lambda printed: None if printed is None else one(printed)


def _array(convert_item: _Convert) -> _Convert:
    def convert(printed: Any) -> list[Any]:
        if not isinstance(printed, list):
            raise PrintedError("no JSON array")
        return [convert_item(item) for item in printed]

    return convert


def _integer(bits: int) -> _Convert:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def convert(printed: Any) -> int:
        if type(printed) is not int or not least <= printed <= most:
            raise PrintedError(f"no number from {least} to {most}")
        return printed

    return convert


def _text(printed: Any) -> str:
    if not isinstance(printed, str):
        raise PrintedError("no text")
    return printed


def _blob(printed: Any) -> bytes:
    try:
        return base64.b64decode(_text(printed), validate=True)
    except (binascii.Error, ValueError):
        raise PrintedError("no base64") from None


def _id(printed: Any) -> uuid.UUID | None:
    """Decode an id; None is kafka-python's form of zeros, the default of a tag."""
    text = _text(printed)
    if len(text) != _ID_TEXT:
        raise PrintedError("no id of 16 bytes")
    try:
        found = uuid.UUID(bytes=base64.b64decode(text + "==", "-_", validate=True))
    except (binascii.Error, ValueError):
        raise PrintedError("no id of 16 bytes") from None
    return None if found == _NO_ID else found


_SIMPLE: Final[dict[str, _Convert]] = {
    "int32": _integer(32),
    "int64": _integer(64),
    "string": _text,
    "bytes": _blob,
    "uuid": _id,
}


def _printed_name(name: str) -> str:
    """Return Kafka's name of a field: ``group_id`` is printed as ``groupId``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
