"""Spark stages of the audit: pure functions of Arrow batches.

Records are brought to the task of their group, sorted by offset, and cases are judged
in batches. The result of a stage does not depend on how Spark divides the work. The
work of a stage's tasks (`reconstruct_batches`, `match_batches`, `judge_batches`) does
not need Spark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import RDD

from pipeline.audit.case_choice import LEFT_OUT_BECAUSE, CaseChoice
from pipeline.audit.judged import PART, judged_batches
from pipeline.audit.sorting import in_order_once
from pipeline.case_table import case_at
from pipeline.describe.record_states import with_record_states
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.history.whole_groups import histories_of_groups
from pipeline.judging.evaluated import codes_of_process
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.settings import Settings
from pipeline.nights.continued import continued_batches
from pipeline.rows import (
    CARRIED,
    CASE,
    CASES,
    KEPT,
    LEFT_OUT,
    MATCHED,
    OPENED,
    READ,
    REPEATED,
    ROWS,
    ROWS_PER_BATCH,
    SPAN,
    TOPIC,
    TOPIC_ID,
    Row,
    batches_of,
    case_row,
    latest_time,
    read_row,
    sighting_of,
)
from pipeline.sightings import Sighting
from pipeline.sources.parcels import Parcel, delivered, parcels_of, unpacked
from pipeline.table_bytes import from_bytes
from pipeline.topic_names import names_of_ids

Batches = Iterator[pa.RecordBatch]

_ALL_CASES: Final = CaseChoice()
_CASE_BYTES: Final = 4 << 20
"""Bytes of cases that are written at once, about; several copies exist meanwhile."""

COUNTS: Final = (TOPIC, TOPIC_ID, READ, REPEATED, LEFT_OUT, MATCHED)
"""Kinds of rows that are not judged: the facts and counts of tasks."""
OF_NIGHTS: Final = (CARRIED, OPENED, KEPT, SPAN)
"""Kinds of rows for the next night, which are not judged, either."""


def reconstruct(
    parcels: RDD[Parcel],
    tasks: int,
    *,
    are_single: bool = False,
    choice: CaseChoice = _ALL_CASES,
) -> RDD[pa.RecordBatch]:
    """Gather the records of each group in order, and reconstruct its cases.

    ``parcels`` are packed for so many tasks (`pipeline.sources.parcels`). The number of
    rows that each task has read, and their last time, are part of the result, so a task
    that Spark repeats is not counted twice. ``are_single``: each case has a row of its
    own. Only the chosen cases are part of the result.
    """
    stage = partial(reconstruct_batches, are_single=are_single, choice=choice)
    return _by_group(parcels, tasks, stage)


def reconstruct_batches(
    batches: Batches, *, are_single: bool = False, choice: CaseChoice = _ALL_CASES
) -> Batches:
    """Reconstruct the cases of whole groups; a last row has counts and the last time.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `HISTORY_ORDER` over all batches.
    are_single
        Whether each case has a row of its own.
    choice
        The cases that are kept.
    """
    count = 0
    latest: int | None = None

    def counted() -> Batches:
        nonlocal count, latest
        for batch in batches:
            count += _rows_read(batch)
            latest = last_of([latest, latest_time(batch)])
            yield batch

    rows = histories_of_groups(counted())
    rows = _single(rows) if are_single else rows
    yield from batches_of(choice.chosen(rows), _CASE_BYTES)
    yield from batches_of([read_row(count, latest)])


def last_of(times: Iterable[int | None]) -> int | None:
    """Return the last of the times that are known; None: no time is."""
    return max((at for at in times if at is not None), default=None)


def continue_histories(parcels: RDD[Parcel], tasks: int) -> RDD[pa.RecordBatch]:
    """Continue the histories of groups from earlier nights (`continued_batches`)."""
    return _by_group(parcels, tasks, continued_batches)


def _single(rows: Iterable[Row]) -> Iterator[Row]:
    """Give each case a row of its own."""
    for row in rows:
        if row["what"] == CASES:
            table = from_bytes(row["value"])
            yield from (case_row(case_at(table, place)) for place in range(len(table)))
        else:
            yield row


def match_snapshots(
    rows: RDD[pa.RecordBatch],
    names: dict[str, str],
    tasks: int,
    choice: CaseChoice = _ALL_CASES,
) -> RDD[pa.RecordBatch]:
    """Match the snapshots of each group with its rebalances (`match_batches`).

    This takes a stage of its own: the names of topic ids come from all groups.
    """
    packed = rows.mapPartitions(partial(parcels_of, tasks=tasks))
    return _by_group(packed, tasks, partial(match_batches, names=names, choice=choice))


def match_batches(
    batches: Batches, names: Mapping[str, str], choice: CaseChoice = _ALL_CASES
) -> Batches:
    """Complete snapshots of whole groups, sorted; keep the chosen cases."""
    rows = with_record_states(_rows_of(batches), names)
    return batches_of(choice.chosen(rows))


class Seen(NamedTuple):
    """Facts and counts of the reconstruction, over all of its tasks."""

    topics: list[tuple[str, Sighting]]  # each topic and the facts of its count
    names: dict[str, str]  # of topic ids
    rows_read: int
    rows_repeated: int
    cases: int  # rebalances and snapshots that are judged
    history_end: int | None  # latest time of any record, in milliseconds
    left_out: dict[str, int]  # the others, per reason
    matched: frozenset[str]  # names of groups that were asked for, and occur


SEEN: Final = ("what", "key", "record", "records", "at", "until", "reason")
"""Columns of rows from which facts and counts are gathered."""


def seen_by_tasks(rows: Iterable[pa.Table]) -> Seen:
    """Gather the counts of the tasks of `reconstruct`; rows have the columns `SEEN`."""
    counted, found = pa.array([*COUNTS, CASES]), defaultdict[str, list[Row]](list)
    cases = 0
    for table in rows:
        is_counted = pc.is_in(table["what"], counted)
        for row in table.filter(is_counted).to_pylist():
            found[row["what"]].append(row)
        cases += pc.sum(pc.equal(table["what"], CASE)).as_py() or 0
    return Seen(
        topics=[*dict.fromkeys(map(sighting_of, found[TOPIC]))],
        names=names_of_ids((row["key"], row["record"]) for row in found[TOPIC_ID]),
        rows_read=sum(row["records"] for row in found[READ]),
        rows_repeated=sum(row["records"] for row in found[REPEATED]),
        cases=cases + sum(row["records"] for row in found[CASES]),
        history_end=last_of(row["at"] for row in found[READ]),
        left_out=left_out_of(found[LEFT_OUT]),
        matched=frozenset(row["record"] for row in found[MATCHED]),
    )


def left_out_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Add up the cases that are left out, per reason that occurs."""
    counts = Counter[str]()
    for row in rows:
        counts[row["reason"]] += row["records"]
    return {why: counts[why] for why in LEFT_OUT_BECAUSE if counts[why]}


def topic_names(rows: RDD[pa.RecordBatch]) -> dict[str, str]:
    """Collect the names of topic ids, over all tasks."""
    return names_of_ids(rows.flatMap(_stated_ids).collect())


def _stated_ids(batch: pa.RecordBatch) -> list[tuple[bytes, str]]:
    rows = batch.select(["what", "key", "record"]).to_pylist()
    return [(row["key"], row["record"]) for row in rows if row["what"] == TOPIC_ID]


def judge_batches(batches: Batches, settings: Settings) -> Batches:
    """Judge cases, part by part; batches as in `JUDGED`.

    Parameters
    ----------
    batches
        Rows as in `pipeline.audit.stored_work.CASES`; those of a part follow one
        another.
    """
    known = codes_of_process(settings.claim_rule)
    for part, group in groupby(_rows_of(batches), key=itemgetter(PART)):
        yield from judged_batches(part, judge_rows(group, settings, known))


def _by_group(
    parcels: RDD[Parcel], tasks: int, stage: Callable[[Batches], Batches]
) -> RDD[pa.RecordBatch]:
    """Bring the rows of each group to one task, where a stage gets them sorted."""

    def staged(received: Iterable[Parcel]) -> Batches:
        return stage(_sorted_rows(received))

    return delivered(parcels, tasks).mapPartitions(staged)


def _sorted_rows(parcels: Iterable[Parcel]) -> Batches:
    for table in in_order_once(unpacked(parcels), ROWS, HISTORY_ORDER):
        yield from table.to_batches(ROWS_PER_BATCH)


def _rows_of(batches: Batches) -> Iterator[Row]:
    return (row for batch in batches for row in batch.to_pylist())


def _rows_read(batch: pa.RecordBatch) -> int:
    """Count records, cases, and quarantined records; topics are not counted."""
    records = pc.fill_null(batch.column("records"), 1)
    is_read = pc.not_equal(batch.column("what"), TOPIC)
    return int(pc.sum(records.filter(is_read)).as_py() or 0)
