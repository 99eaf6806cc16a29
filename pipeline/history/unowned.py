"""Time in which partitions had no owner while a group moved to its target (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.cases import Held
from pipeline.records.place import NO_DURATION, Place, duration

Pair = tuple[str, int]


class Unowned:
    """Time from the record without a partition to the record of its next owner.

    A partition that had no owner before, or that the target assigns to nobody, does not
    count. ``total`` is the sum over partitions.
    """

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._free: dict[Pair, Place] = {}
        self.total = NO_DURATION

    def expect(self, targets: Iterable[Held]) -> None:
        """Forget free partitions that no member is to receive."""
        wanted = {pair for target in targets for pair in _pairs(target)}
        free = self._free.items()
        self._free = {pair: place for pair, place in free if pair in wanted}

    def moved(self, member_id: str, held: Held, place: Place) -> None:
        """Apply the partitions that a member has from now on."""
        former = self._held.get(member_id, {})
        if held == former:
            return
        self._held[member_id] = held
        before, now = _pairs(former), _pairs(held)
        for pair in before - now:
            self._free[pair] = place
        for pair in sorted(now - before):  # the first reason counts
            released = self._free.pop(pair, None)
            if released is not None:
                self.total += duration(released, place)

    def reset(self) -> None:
        """Begin the next episode."""
        self._free.clear()
        self.total = NO_DURATION


def _pairs(held: Held) -> set[Pair]:
    return {(topic, number) for topic, numbers in held.items() for number in numbers}
