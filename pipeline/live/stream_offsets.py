"""Offsets of a stream over the log of groups: the next offset of each partition.

Spark stores them as JSON in its checkpoint, with the partition numbers as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from pipeline.live.live_source import OFFSETS_PER_TASK, pieces
from pipeline.live.offsets_log import LogRange
from pipeline.records import OFFSETS_TOPIC
from rebalance import OracleError

NextOffsets: TypeAlias = dict[str, int]

BEGIN_ANEW: Final = "follow into another --out to begin anew"


class ReplacedLogError(OracleError, ValueError):
    """The log is not the one that was read before, or has lost its end."""


def first_offsets(bounds: Iterable[LogRange]) -> NextOffsets:
    """Return the beginning of every partition."""
    return {str(bound.partition): bound.start for bound in bounds}


def latest_offsets(
    read: Mapping[str, int] | None, bounds: Iterable[LogRange]
) -> NextOffsets:
    """Return the end of every partition.

    Raises
    ------
    ReplacedLogError
        If a partition ends before the offset up to which it was read.
    """
    ends = {str(bound.partition): bound.end for bound in bounds}
    _check_growth(read or {}, ends)
    return ends


def ranges_between(
    start: Mapping[str, int], end: Mapping[str, int], bounds: Iterable[LogRange]
) -> Iterator[LogRange]:
    """Yield the offsets to read of each partition; none is empty.

    Records that the broker has deleted in the meantime are left out: the range then
    starts at the beginning of the partition, as does that of a new partition.

    Raises
    ------
    ReplacedLogError
        As `latest_offsets`.
    """
    _check_growth(start, end)
    begins = {str(bound.partition): bound.start for bound in bounds}
    for partition in sorted(end, key=int):
        begin = begins.get(partition, 0)
        begin = max(begin, start.get(partition, begin))
        if begin < end[partition]:
            yield LogRange(partition=int(partition), start=begin, end=end[partition])


def packed(
    ranges: Iterable[LogRange], most: int = OFFSETS_PER_TASK
) -> list[tuple[LogRange, ...]]:
    """Divide ranges among tasks, in order, with at most ``most`` offsets per task.

    An update with few records has one task, which writes one file.
    """
    tasks: list[list[LogRange]] = []
    room = 0
    for range_ in (piece for whole in ranges for piece in pieces(whole, most)):
        length = range_.end - range_.start
        if length > room:
            tasks.append([])
            room = most
        tasks[-1].append(range_)
        room -= length
    return [tuple(task) for task in tasks]


def _check_growth(before: Mapping[str, int], after: Mapping[str, int]) -> None:
    for partition, offset in before.items():
        end = after.get(partition)
        if end is None or end < offset:
            now = "does not exist any more" if end is None else f"ends at offset {end}"
            raise ReplacedLogError(
                f"partition {partition} of {OFFSETS_TOPIC} {now}, but was read up to"
                f" offset {offset}: the topic was recreated or lost records;"
                f" {BEGIN_ANEW}"
            )
