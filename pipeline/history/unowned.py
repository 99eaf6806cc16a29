"""Time in which partitions had no owner while a group moved to its target (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.cases import Held

Pair = tuple[str, int]


class Unowned:
    """Time from the record without a partition to the record of its next owner.

    A partition that had no owner before, or that the target assigns to nobody, does not
    count. ``milliseconds`` is the sum over partitions, None if a record has no time.
    """

    def __init__(self) -> None:
        self._held: dict[str, set[Pair]] = {}
        self._free: dict[Pair, int] = {}
        self.milliseconds: int | None = 0

    def expect(self, targets: Iterable[Held]) -> None:
        """Forget free partitions that no member is to receive."""
        wanted = {pair for target in targets for pair in _pairs(target)}
        self._free = {pair: at for pair, at in self._free.items() if pair in wanted}

    def moved(self, member_id: str, held: Held, at: int | None) -> None:
        """Apply what a member has from now on."""
        before, now = self._held.pop(member_id, set()), _pairs(held)
        if now:
            self._held[member_id] = now
        if at is None:
            self.milliseconds = None
            return
        for pair in before - now:
            self._free[pair] = at
        for pair in now - before:
            since = self._free.pop(pair, at)
            if self.milliseconds is not None:
                self.milliseconds += max(0, at - since)

    def reset(self) -> None:
        """Begin the next episode."""
        self._free.clear()
        self.milliseconds = 0


def _pairs(held: Held) -> set[Pair]:
    return {(topic, number) for topic, numbers in held.items() for number in numbers}
