"""An assignment in any common form, as an assignment/1 document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

Held: TypeAlias = Mapping[str, Iterable[int]] | Iterable[tuple[str, int]]
"""Partitions of a member: numbers per topic, or (topic, number) pairs."""

Assignment: TypeAlias = Mapping[str, Held] | Mapping[str, Any]
"""An assignment/1 document, or the partitions of each member (`Held`).

A ``TopicPartition`` of kafka-python or aiokafka is such a pair.
"""

Document = dict[str, Any]


def assignment_document(assignment: object) -> Document:
    """Return an `Assignment` in any form as an assignment/1 document.

    Raises
    ------
    TypeError
        If it has no such form; the message names the member.
    """
    if not isinstance(assignment, Mapping):
        kind = type(assignment).__name__
        raise TypeError(f"an assignment maps members to partitions; this is a {kind}")
    if assignment.get("format") == "assignment/1":
        return cast("Document", json.loads(json.dumps(assignment)))
    members = {str(name): _held(name, held) for name, held in assignment.items()}
    return {"format": "assignment/1", "members": members}


def _held(member: object, held: object) -> dict[str, list[int]]:
    try:
        if isinstance(held, Mapping):
            return {str(t): [int(n) for n in numbers] for t, numbers in held.items()}
        found: dict[str, list[int]] = {}
        for topic, number in cast("Iterable[tuple[str, int]]", held or ()):
            found.setdefault(str(topic), []).append(int(number))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the assignment of member {member!r} is neither a mapping from topics to "
            f"partition numbers nor pairs of topic and number: {held!r}"
        ) from error
    return found
