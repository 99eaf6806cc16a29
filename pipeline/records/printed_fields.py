"""Encoder of a message from its fields in JSON, as Kafka's tools print them.

The JSON is that of Kafka's generated converters (``JsonConverterGenerator`` of its
message generator): one name per field of the version, bytes in base64, ids in base64
for URLs without padding; a tagged field can be absent. kafka-python encodes the fields,
from a description in the format of Kafka's message files; it accepts values of any
type, so that types and ranges are checked here.
"""

from __future__ import annotations

import base64
import binascii
import struct
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from kafka.protocol.schemas import BaseField, StructField

_Convert: TypeAlias = Callable[[Any], Any]

_MOST: Final = {
    "int8": 2**7 - 1,
    "int16": 2**15 - 1,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
}
_MOST_UINT16: Final = 2**16 - 1
_ID_TEXT: Final = 22
"""Characters of 16 bytes in base64 without padding."""
_NO_ID: Final = uuid.UUID(int=0)


class PrintedError(ValueError):
    """JSON that is not the fields of a record; the message names the field."""


class PrintedMessage:
    """One kind of message in one version.

    Parameters
    ----------
    described : dict
        The message in the format of Kafka's message files, without common structs.
    version : int
        One of its versions.
    """

    def __init__(self, described: dict[str, Any], version: int) -> None:
        first, last = BaseField.parse_versions(described["flexibleVersions"])
        self._message = StructField(described)
        self._version = version
        self._is_flexible = first <= version <= last
        self._convert = _fields(self._message.fields.values(), version)

    def encode(self, printed: object) -> bytes:
        """Encode the fields, without the version.

        Raises
        ------
        PrintedError
            If a field is missing, or has another type or a value that does not fit.
            Fields with other names are ignored, as tags that are not known.
        """
        fields = self._convert(printed)
        is_flexible = self._is_flexible
        try:
            encoded = self._message.encode(
                fields, version=self._version, compact=is_flexible, tagged=is_flexible
            )
        except (struct.error, ValueError) as error:
            raise PrintedError(f"does not fit: {error}") from None
        return bytes(encoded)


def first_versions(described: dict[str, Any]) -> dict[str, int]:
    """Return the first version that has each field of a message, as it is printed."""
    fields = StructField(described).fields.values()
    return {_printed_name(field.name): field.min_version for field in fields}


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
        for name, shown, is_optional, one in plan:
            if shown in printed:
                try:
                    found[name] = one(printed[shown])
                except PrintedError as error:
                    raise PrintedError(f"{shown}: {error}") from None
            elif not is_optional:
                raise PrintedError(f"no {shown}")
        return found

    return convert


def _converter(field: Any, version: int) -> _Convert:
    if field.is_struct_array():
        one = _array(_fields(field.fields.values(), version))
    elif field.is_struct():
        one = _fields(field.fields.values(), version)
    elif field.is_array():
        one = _array(_simple(field.array_of.type_str))
    else:
        one = _simple(field.type_str)
    return _nullable(one) if field.nullable_for_version_q(version) else one


def _nullable(one: _Convert) -> _Convert:
    return lambda printed: None if printed is None else one(printed)


def _array(one: _Convert) -> _Convert:
    def convert(printed: Any) -> list[Any]:
        if not isinstance(printed, list):
            raise PrintedError("no JSON array")
        return [one(item) for item in printed]

    return convert


def _simple(kind: str) -> _Convert:
    if kind in _MOST:
        return _integer(-_MOST[kind] - 1, _MOST[kind])
    return {
        "uint16": _integer(0, _MOST_UINT16),
        "bool": _truth,
        "string": _text,
        "bytes": _blob,
        "uuid": _id,
    }[kind]


def _integer(least: int, most: int) -> _Convert:
    def convert(printed: Any) -> int:
        if type(printed) is not int or not least <= printed <= most:
            raise PrintedError(f"no number from {least} to {most}")
        return printed

    return convert


def _truth(printed: Any) -> bool:
    if not isinstance(printed, bool):
        raise PrintedError("neither true nor false")
    return printed


def _text(printed: Any) -> str:
    if not isinstance(printed, str):
        raise PrintedError("no text")
    return printed


def _blob(printed: Any) -> bytes:
    """Decode base64; bytes are a message that is encoded already."""
    if isinstance(printed, bytes):
        return printed
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


def _printed_name(name: str) -> str:
    """Return Kafka's name of a field: ``group_id`` is printed as ``groupId``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
