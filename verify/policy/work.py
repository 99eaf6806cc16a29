"""The limit of work that one document may cost the judge, counted in steps."""

from __future__ import annotations

from typing import Any

from verify.case import Case, count_owned

WORK_MAX = 100_000_000
"""Steps per document, of 50 to 100 ns each: at most about ten seconds."""

STEPS_PER_ITEM = 4
"""Steps charged per partition, claim and subscription for one pass over a case."""


class Work:
    """Steps that are left to check what a document states.

    They are counted beforehand and never timed, so the verdict on a document is the
    same on every machine.
    """

    def __init__(self, steps: int = WORK_MAX) -> None:
        self.left = steps

    def refuse(self, steps: int) -> dict[str, Any] | None:
        """Return why so many steps are too much work to check, or spend them."""
        if steps > self.left:
            return {"fails": "work", "steps": steps, "left": self.left}
        self.left -= steps
        return None


def steps_of_pass(case: Case) -> int:
    """Return the steps of one pass over partitions, claims and subscriptions."""
    subscriptions = sum(map(len, case.subscribers.values()))
    items = sum(case.partitions.values()) + count_owned(case) + subscriptions
    return STEPS_PER_ITEM * items
