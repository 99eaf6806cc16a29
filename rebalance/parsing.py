"""Strict reading of documents: text or JSON values to models.

An unknown or repeated key, a float, a number out of range, or a list of the wrong
length is a `DocumentError` with the JSON path of each offending value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from rebalance.collection import without_collection
from rebalance.compiled import kernels_are_interpreted
from rebalance.culprits import contradictions, error_of, schema_error
from rebalance.documents import MAX_PARTITIONS, AssignmentDocument, Rebalance
from rebalance.errors import DocumentError
from rebalance.jsontext import parse_json, shown

if TYPE_CHECKING:  # documents are read without numpy
    from rebalance.claims import ClaimRule
    from rebalance.instance import Instance

COLUMNS_BYTES: Final = 100_000
"""Documents of fewer bytes are read faster than the kernels are loaded."""

_Document = TypeVar("_Document", Rebalance, AssignmentDocument)
_Record = TypeVar("_Record", bound=BaseModel)


def parse_rebalance(
    text: bytes | str,
    *,
    source: str | None = None,
    line: int | None = None,
    max_partitions: int = MAX_PARTITIONS,
) -> Rebalance:
    """Read one rebalance/1 document.

    Raises
    ------
    DocumentError
        If the text is not such a document, or has more partitions than the limit;
        carries path, source and line.
    """
    try:
        with without_collection():
            return rebalance_of(parse_json(text), max_partitions=max_partitions)
    except DocumentError as error:
        raise error.at(source=source, line=line) from None


def parse_rebalance_or_columns(
    text: bytes,
    *,
    source: str | None = None,
    line: int | None = None,
    claim_rule: ClaimRule,
    max_partitions: int = MAX_PARTITIONS,
) -> Instance | Rebalance:
    """Read one rebalance/1 document, a large one without faults straight into columns.

    Raises
    ------
    DocumentError
        As `parse_rebalance`.
    """
    if len(text) >= COLUMNS_BYTES and not kernels_are_interpreted():
        # Imported here: it compiles kernels.
        from rebalance.tape import instance_of_text  # noqa: PLC0415

        found = instance_of_text(
            text, claim_rule=claim_rule, max_partitions=max_partitions
        )
        if found is not None:
            return found
    return parse_rebalance(
        text, source=source, line=line, max_partitions=max_partitions
    )


def parse_assignment(
    text: bytes | str, *, source: str | None = None, line: int | None = None
) -> AssignmentDocument:
    """Read one assignment/1 document, without its instance.

    Raises
    ------
    DocumentError
        If the text is not such a document; carries path, source and line.
    """
    try:
        with without_collection():
            return _validated(AssignmentDocument, "assignment/1", parse_json(text))
    except DocumentError as error:
        raise error.at(source=source, line=line) from None


def rebalance_of(value: Any, *, max_partitions: int = MAX_PARTITIONS) -> Rebalance:
    """Validate a parsed JSON value as rebalance/1.

    Raises
    ------
    DocumentError
        With the JSON path of every offending value (`DocumentError.more`).
    """
    document = _validated(Rebalance, "rebalance/1", value)
    error = error_of(contradictions(document, max_partitions))
    if error is not None:
        raise error
    return document


def parse_record(kind: type[_Record], text: bytes | str) -> _Record:
    """Read a document of a format of this project's own, such as ``finding/1``.

    The default of the field ``format`` is the name of the format.

    Raises
    ------
    DocumentError
        If the text is not such a document; carries the path of every wrong value.
    """
    value = parse_json(text)
    expected = kind.model_fields["format"].default
    if not isinstance(value, dict) or value.get("format") != expected:
        raise DocumentError(f"no {expected} document")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise schema_error(error, value) from None


def _validated(kind: type[_Document], name: str, value: Any) -> _Document:
    if not isinstance(value, dict):
        raise DocumentError(f"{shown(value)} is not an object; expected {name}")
    if value.get("format") != name:
        found = shown(value.get("format", "no format"))
        raise DocumentError(f"{found}; expected {name!r}", path="$.format")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise schema_error(error, value) from None
