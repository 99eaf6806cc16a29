"""Whether an assignor uses claims: one that does not needs less time for its tests."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

import orjson

from conformance.runs import FAMILIES, Startable, Subject

Document = dict[str, Any]

DRAWS: Final = 20
"""Rebalances that are sent with and without claims."""
FAMILY: Final = "claims"


def uses_claims(source: Startable) -> bool:
    """Return whether an answer differs if the members claim nothing.

    An assignor whose answers are not repeatable counts as one that does, and so does
    one without an answer to compare. A failure, such as a slow start, is not compared.

    Raises
    ------
    OSError or OutsideError
        If it cannot be started or reached.
    """
    compared = 0
    with closing(source.start()) as subject:
        for index in range(DRAWS):
            rebalance = FAMILIES[FAMILY].first(0, index)
            claimed = _members(subject, rebalance)
            unclaimed = _members(subject, _unclaimed(rebalance))
            if claimed is None or unclaimed is None:
                continue
            if claimed != unclaimed:
                return True
            compared += 1
    return compared == 0


def _members(subject: Subject, rebalance: Document) -> Document | None:
    """Return the answer, None if it is not one."""
    assignment = subject.answer(orjson.dumps(rebalance)).assignment
    if assignment is None:
        return None
    return {
        name: {topic: sorted(numbers) for topic, numbers in held.items() if numbers}
        for name, held in assignment.members.items()
    }


def _unclaimed(rebalance: Document) -> Document:
    members = {
        name: {"subscription": member["subscription"]}
        for name, member in rebalance["members"].items()
    }
    return rebalance | {"members": members}
