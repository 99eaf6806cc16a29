"""Every offending value of a document, with its JSON path and a reason.

A schema finds values of a wrong type or range; contradictions between valid values are
looked for afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from rebalance.documents import Rebalance
from rebalance.errors import DocumentError
from rebalance.jsontext import json_path, shown

Culprit = tuple[str, str]  # JSON path, reason
Steps = tuple[int | str, ...]

LISTED_MAX: Final = 100
"""Culprits per document; a list of a million wrong numbers has no use for them all."""


def error_of(culprits: Iterable[Culprit]) -> DocumentError | None:
    """Return one error with all culprits, None if there are none."""
    listed = list(islice(culprits, LISTED_MAX + 1))
    if not listed:
        return None
    if len(listed) > LISTED_MAX:
        listed[LISTED_MAX] = ("$", f"more than {LISTED_MAX:,} wrong values")
    (path, reason), *more = listed
    return DocumentError(reason, path=path, more=tuple(more))


def schema_error(
    error: ValidationError, value: Any, *, within: Steps = ()
) -> DocumentError:
    """Return one error with every value that pydantic rejects.

    Parameters
    ----------
    value
        The validated value: JSON, or parts of it at the steps ``within``.
    """
    found = error_of(_schema_culprits(error, value, within))
    return found or DocumentError(str(error))


def _schema_culprits(
    error: ValidationError, value: Any, within: Steps
) -> Iterator[Culprit]:
    """Convert pydantic's errors, in their order."""
    for found in error.errors(include_url=False, include_context=False):
        is_missing = found["type"] == "missing"
        steps = _steps_in(value, found["loc"], is_missing=is_missing)
        path = json_path((*within, *steps))
        reason = found["msg"].removeprefix("Value error, ")
        reason = reason[0].lower() + reason[1:]
        if found["type"] not in {"missing", "value_error", "extra_forbidden"}:
            reason = f"{reason}: {shown(found['input'])}"
        yield path, reason


def contradictions(document: Rebalance, max_partitions: int) -> Iterator[Culprit]:
    """Check rules beyond a schema: the limit, equal lengths, repeated numbers.

    After a topic beyond the limit, the partitions of later ones do not matter.
    """
    total = 0
    for name, topic in document.topics.items():
        within, total = total <= max_partitions, total + topic.partitions
        if within and total > max_partitions:
            reason = f"{total} partitions up to here, above the limit {max_partitions}"
            yield json_path(("topics", name, "partitions")), reason
        for field, listed in (("lag", topic.lag), ("racks", topic.racks)):
            if listed is not None and len(listed) != topic.partitions:
                reason = f"{len(listed)} entries for {topic.partitions} partitions"
                yield json_path(("topics", name, field)), reason
    for member_id, member in document.members.items():
        steps = ("members", member_id)
        yield from _repeated(member.subscription, (*steps, "subscription"))
        for topic_name, numbers in (member.owned or {}).items():
            if len(numbers) > 1:
                yield from _repeated(numbers, (*steps, "owned", topic_name))


def _repeated(listed: Sequence[str | int], steps: Steps) -> Iterator[Culprit]:
    if len(set(listed)) == len(listed):
        return
    seen: set[str | int] = set()
    for position, item in enumerate(listed):
        if item in seen:
            yield json_path((*steps, position)), f"{shown(item)} listed twice"
        seen.add(item)


def _steps_in(
    value: Any, steps: Sequence[int | str], *, is_missing: bool
) -> Iterator[int | str]:
    """Yield the steps of a JSON path, without the steps that pydantic adds.

    These are "[key]" for a key itself, and the discriminators of unions.
    """
    for step in steps[:-1] if is_missing else steps:
        is_key = isinstance(value, dict) and step in value
        if is_key or (isinstance(value, list) and isinstance(step, int)):
            value = value[step]
            yield step
    if is_missing:
        yield steps[-1]
