"""Missing generations of classic groups, and the reports on them.

A group numbers its generations from 1 without a gap. A number is not in the source if
compaction has removed its record, or if it was never written: a rebalance that begins
before the last one has ended takes a number, too. The source does not show which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pipeline.records.place import Place

COMPACTED: Final = "generations not in the source: compacted, or never completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Epochs or generations that are not judged, the reason, and the record after."""

    first: int
    last: int
    reason: str
    place: Place
    record: str = "epoch"


class GenerationNumbers:
    """The next number of a group; after a record that cannot be read, it is unknown."""

    def __init__(self) -> None:
        self._next: int | None = 1

    def take(self, generation: int, place: Place) -> Iterator[Missing]:
        """Take the number of the next record; yield those that are missing before.

        A lower number than before is that of a new group under the same name.
        """
        expected = self._next
        if expected is not None and generation < expected - 1:
            expected = 1
        self._next = generation + 1
        if expected is not None and generation > expected:
            yield Missing(
                first=expected,
                last=generation - 1,
                reason=COMPACTED,
                place=place,
                record="generation",
            )

    def restart(self) -> None:
        """Expect a new group, which begins at 1."""
        self._next = 1

    def lost(self) -> None:
        """Accept any next number."""
        self._next = None
