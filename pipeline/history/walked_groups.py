"""Whole groups of both protocols: from records that were read to rows of cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from pipeline.history.case_lists import sorted_names
from pipeline.history.classic_cases import ClassicCases
from pipeline.history.consumer_cases import ConsumerCases
from pipeline.history.consumer_history import NO_MEMBERS, NO_PREVIOUS, NOT_IN_SOURCE
from pipeline.history.consumer_parts import Parts, numbered
from pipeline.history.generation_walk import walk_generations
from pipeline.history.missing import COMPACTED
from pipeline.history.participants import Participants, assigned_topics, topics_of
from pipeline.history.reached_walk import walk_reached
from pipeline.history.read_groups import ReadGroups, sightings
from pipeline.history.shown_walk import walk_shown
from pipeline.history.stream import RecordStream
from pipeline.history.target_topics import (
    all_of_targets,
    assigned_by_targets,
    subscriptions,
    wanted_of_targets,
)
from pipeline.history.target_walk import walk_targets
from pipeline.history.targets import ASSIGNED, Targets
from pipeline.rows import Row, cases_row
from rebalance import Int64

_REASONS: Final = (NOT_IN_SOURCE, NO_MEMBERS, NO_PREVIOUS)
_LEAST_TOGETHER, _MOST_TOGETHER = 8, 256
"""Cases of one row. Each row costs time; but cases are divided among tasks by rows."""


def classic_rows(
    read: ReadGroups, people: Participants, stream: RecordStream
) -> Iterator[Row]:
    """Reconstruct classic groups, all of whose records are sound."""
    groups = read.groups
    walked = walk_generations(groups, people, read.rank)
    slots, topics = read.slots(), topics_of(people, walked.row)
    shown, undated = walk_shown(
        groups, slots, assigned_topics(people), len(read.rank), walked.row, topics
    )
    stream.note_shown(sightings(shown, read.ranked.to_pylist()))
    stream.note_ids(read.topic_ids())
    reasons = [COMPACTED] * len(walked.missing)
    yield from read.missing(walked.missing, reasons, "generation")
    cases = ClassicCases(read, people, walked, slots, undated)
    first, last = people.first[walked.row], people.first[walked.row + 1]
    sizes = last - first + people.held.at[last] - people.held.at[first]
    for committed in read.commits(slots, walked.row, topics, sizes):
        yield from cases_rows(cases.table(*committed), len(walked.row))


def consumer_rows(
    read: ReadGroups, parts: Parts, ids: pa.StringArray, stream: RecordStream
) -> Iterator[Row | int]:
    """Reconstruct groups of the new protocol, all of whose records are sound.

    Yields
    ------
    Row or int
        A number is that of a group that is left to `pipeline.history.consumer_history`.
    """
    targets = walk_targets(read.groups, parts, read.rank)
    if not targets.is_sound.all():
        yield from np.flatnonzero(~targets.is_sound).tolist()
        read = read.only(np.flatnonzero(targets.is_sound))
        targets = walk_targets(read.groups, parts, read.rank)
    yield from _rows_of_targets(read, parts, ids, targets, stream)


def _rows_of_targets(
    read: ReadGroups,
    parts: Parts,
    ids: pa.StringArray,
    targets: Targets,
    stream: RecordStream,
) -> Iterator[Row]:
    """Yield the cases of groups, all of whose targets are sound."""
    groups, records, names = read.groups, read.records, len(read.rank)
    parts = numbered(parts, read.number)
    reached = walk_reached(groups, parts, targets, names)
    wanted = subscriptions(records, targets, read.rank)
    slots, number = read.slots(), np.flatnonzero(targets.is_case)
    row, topics = targets.row[number], wanted_of_targets(targets, number, wanted)
    shown, undated = walk_shown(
        groups,
        slots,
        assigned_by_targets(targets, parts, names, len(records.kind)),
        names + len(ids),
        row,
        all_of_targets(targets, number, wanted, parts, names),
    )
    by_rank = sorted_names(ids)
    listed = [*read.ranked.to_pylist(), *by_rank.to_pylist()]
    stream.note_shown(sightings(shown, listed))
    stream.note_ids(read.topic_ids())
    yield from _missing(read, targets)
    cases = ConsumerCases(
        read,
        by_rank,
        targets,
        reached,
        parts,
        wanted,
        slots,
        undated,
    )
    sizes = _sizes(targets, parts)[number]
    for committed in read.commits(slots, row, topics, sizes):
        yield from cases_rows(cases.table(*committed), len(row))


def _missing(read: ReadGroups, targets: Targets) -> Iterator[Row]:
    """Yield rows of quarantine for epochs that are not judged."""
    reasons = [_REASONS[why] for why in targets.missing[:, 3].tolist()]
    yield from read.missing(targets.missing, reasons, "epoch")


def _sizes(targets: Targets, parts: Parts) -> Int64:
    """Return the numbers of members and assigned partitions of each target."""
    part = targets.people[:, ASSIGNED]
    ends = np.concatenate(([0], np.cumsum(1 + parts.at[part + 1] - parts.at[part])))
    return np.diff(ends[targets.first])


def cases_rows(cases: pa.Table, count: int) -> Iterator[Row]:
    """Yield rows of cases, of ``count`` in all."""
    most = min(max(_LEAST_TOGETHER, count // 4), _MOST_TOGETHER)
    for begin in range(0, len(cases), most):
        yield cases_row(cases.slice(begin, most))
