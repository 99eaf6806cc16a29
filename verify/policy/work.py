"""The limit of work that one document may cost the judge, counted in steps."""

from __future__ import annotations

from typing import Any

from verify.case import Case

WORK_MAX = 100_000_000
"""Steps per document, of 50 to 300 ns each: seconds, at most about half a minute."""

STEPS_PER_ITEM = 4
"""Steps charged per partition, claim and subscription for one pass over a case."""

STEPS_PER_BEST = 16
"""Steps charged per subscription of a narrowed case, which is built, then checked."""


class Work:
    """Steps that are left to check the statements of a document.

    They are counted beforehand and never timed, so the verdict on a document is the
    same on every machine.
    """

    def __init__(self, steps: int = WORK_MAX) -> None:
        self.left = steps
        self._passes: dict[bool, int] = {}

    def refuse(self, steps: int) -> dict[str, Any] | None:
        """Return why so many steps are too much work to check, or spend them."""
        if steps > self.left:
            return {"fails": "work", "steps": steps, "left": self.left}
        self.left -= steps
        return None

    def refuse_passes(
        self, case: Case, passes: int, *, by_rack: bool
    ) -> dict[str, Any] | None:
        """Return why passes are too much work, or spend them; all are of one case."""
        if by_rack not in self._passes:
            racks = steps_of_racks(case) if by_rack else 0
            self._passes[by_rack] = steps_of_pass(case) + racks
        return self.refuse(passes * self._passes[by_rack])


def steps_of_pass(case: Case) -> int:
    """Return the steps of one pass over partitions, claims and subscriptions."""
    subscriptions = sum(map(len, case.subscribers.values()))
    items = sum(case.partitions.values()) + case.owned_count + subscriptions
    return STEPS_PER_ITEM * items


def steps_of_racks(case: Case) -> int:
    """Return the steps that a pass takes longer if it compares racks.

    It reads the racks of all replicas. Each further set of racks of a topic is compared
    with each subscriber of the topic, which is quicker than a subscription.
    """
    steps = 0
    for topic, listed in case.replica_racks.items():
        others = len(set(map(frozenset, listed))) - 1
        subscribers = len(case.subscribers.get(topic, ()))
        steps += sum(map(len, listed)) + max(0, others) * subscribers
    return steps
