"""Ranges of batches that folders of kept records have, and which to merge.

Adjacent folders are merged as in a log-structured merge tree with tiers (O'Neil et al.,
Acta Informatica 33, 1996): `FAN_IN` folders of a tier become one of the next, so a
range of tier t starts at a multiple of ``FAN_IN ** t`` and has that many batches. After
N small batches there are at most ``FAN_IN - 1`` folders per tier, about
``15 * log16(N)``, and each record has been written again once per tier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

FAN_IN: Final = 16
MOST_BYTES: Final = 128 << 20
"""Bytes of a merged folder at most: one task writes it as one file. Folders that have
more together stay divided."""

_NAME: Final = re.compile(r"batch=(\d+)|batches=(\d+)-(\d+)")


class BatchRange(NamedTuple):
    """The batches ``first`` to ``last``, both included."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """Name of the folder with the records of these batches."""
        if self.first == self.last:
            return f"batch={self.first}"
        return f"batches={self.first}-{self.last}"

    @property
    def size(self) -> int:
        """Number of batches."""
        return self.last - self.first + 1

    def covers(self, other: BatchRange) -> bool:
        """Return whether all batches of the other are in this one."""
        return self.first <= other.first and other.last <= self.last


def range_of(name: str) -> BatchRange | None:
    """Return the range in the name of a folder; None if it is not such a name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    single, first, last = found.groups()
    if single is not None:
        return BatchRange(int(single), int(single))
    return BatchRange(int(first), int(last)) if int(first) < int(last) else None


def outermost(ranges: Iterable[BatchRange]) -> list[BatchRange]:
    """Return the ranges that no other one covers, in order."""
    found: list[BatchRange] = []
    for range_ in sorted(
        set(ranges), key=lambda batches: (batches.first, -batches.last)
    ):
        if not (found and found[-1].covers(range_)):
            found.append(range_)
    return found


def is_complete(ranges: Iterable[BatchRange], count: int) -> bool:
    """Return whether ranges, in order, have each of the first ``count`` batches once.

    The batch after them can exist.
    """
    following = 0
    for range_ in ranges:
        if range_.first != following:
            return False
        following = range_.last + 1
    return count <= following <= count + 1


def merges(
    lengths: Mapping[BatchRange, int], most: int = MOST_BYTES
) -> Iterator[tuple[BatchRange, tuple[BatchRange, ...]]]:
    """Yield a range and the adjacent ones that become it, the highest tier first.

    ``lengths`` are the bytes of each range, which do not overlap; a merged one has
    ``most`` at most.
    """
    left = sorted(lengths)
    width = FAN_IN
    while left and width <= left[-1].last:
        width *= FAN_IN
    while width >= FAN_IN:
        taken: set[BatchRange] = set()
        for number, group in groupby(left, key=partial(_number, width)):
            parts = tuple(group)
            whole = BatchRange(number * width, (number + 1) * width - 1)
            is_whole = sum(part.size for part in parts) == width
            is_whole = is_whole and parts[-1].last == whole.last
            length = sum(lengths[part] for part in parts)
            if len(parts) > 1 and is_whole and length <= most:
                yield whole, parts
                taken.update(parts)
        left = [range_ for range_ in left if range_ not in taken]
        width //= FAN_IN


def _number(width: int, range_: BatchRange) -> int:
    """Return the number of the range of this width in which a range begins."""
    return range_.first // width
