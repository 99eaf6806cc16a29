"""Spark stages of the audit: pure functions from tables to tables.

Records are brought to the task of their group, sorted by offset, and cases are judged
in batches. The result of a stage does not depend on how Spark divides the work. The
work of a stage's tasks is a function of Arrow batches (`reconstruct_batches`,
`match_batches`, `judge_batches`), which does not need Spark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.audit.case_choice import LEFT_OUT_BECAUSE, CaseChoice
from pipeline.audit.judged import JUDGED, PART, judged_batches
from pipeline.audit.sorting import in_order_once
from pipeline.case_table import case_at
from pipeline.describe.record_states import with_record_states
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.history.whole_groups import histories_of_groups
from pipeline.judging.evaluated import codes_of_process
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.settings import Settings
from pipeline.judging.topic_names import names_of_ids
from pipeline.nights.continued import continued_batches
from pipeline.sightings import Sighting
from pipeline.sources.parcels import ADDRESS, parcels_table, unpacked
from pipeline.sources.rows import (
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
from pipeline.table_bytes import from_bytes

Batches = Iterator[pa.RecordBatch]

_ALL_CASES: Final = CaseChoice()

COUNTS: Final = (TOPIC, TOPIC_ID, READ, REPEATED, LEFT_OUT, MATCHED)
"""Kinds of rows that are not judged: the facts and counts of tasks."""
OF_NIGHTS: Final = (CARRIED, OPENED, KEPT, SPAN)
"""Kinds of rows for the next night, which are not judged, either."""


def reconstruct(
    parcels: DataFrame,
    tasks: int,
    *,
    are_single: bool = False,
    choice: CaseChoice = _ALL_CASES,
) -> DataFrame:
    """Gather the records of each group in order, and reconstruct its cases.

    ``parcels`` are packed for so many tasks (`pipeline.sources.parcels`). The number of
    rows that each task has read, and their last time, are part of the result, so a task
    that Spark repeats is not counted twice. ``are_single``: each case has a row of its
    own. Only the chosen cases are part of the result.
    """

    def stage(batches: Batches) -> Batches:
        return reconstruct_batches(batches, are_single=are_single, choice=choice)

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
    yield from batches_of(choice.chosen(rows))
    yield from batches_of([read_row(count, latest)])


def last_of(times: Iterable[int | None]) -> int | None:
    """Return the last of the times that are known; None: no time is."""
    return max((at for at in times if at is not None), default=None)


def continue_histories(parcels: DataFrame, tasks: int) -> DataFrame:
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
    rows: DataFrame,
    names: dict[str, str],
    tasks: int,
    choice: CaseChoice = _ALL_CASES,
) -> DataFrame:
    """Match the snapshots of each group with its rebalances (`match_batches`).

    This takes a stage of its own: the names of topic ids come from all groups.
    """

    def match(batches: Batches) -> Batches:
        return match_batches(batches, names, choice)

    return _by_group(parcels_table(rows, tasks), tasks, match)


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


def seen_by_tasks(rows: DataFrame) -> Seen:
    """Collect the counts of the tasks of `reconstruct`, in one job."""
    is_counted = f.col("what").isin(*COUNTS, CASES)
    columns = ("key", "record", "records", "at", "until", "reason")
    kept = [f.when(is_counted, f.col(name)).alias(name) for name in columns]
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows.groupBy("what", *kept).count().collect():
        found[row["what"]].append(row.asDict())
    return Seen(
        topics=[sighting_of(row) for row in found[TOPIC]],
        names=names_of_ids((bytes(r["key"]), r["record"]) for r in found[TOPIC_ID]),
        rows_read=sum(row["records"] * row["count"] for row in found[READ]),
        rows_repeated=sum(row["records"] * row["count"] for row in found[REPEATED]),
        cases=sum(row["count"] for row in found[CASE])
        + sum(row["records"] * row["count"] for row in found[CASES]),
        history_end=last_of(row["at"] for row in found[READ]),
        left_out=left_out_of(found[LEFT_OUT]),
        matched=frozenset(row["record"] for row in found[MATCHED]),
    )


def left_out_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Add up the cases that are left out, per reason that occurs."""
    counts = Counter[str]()
    for row in rows:
        counts[row["reason"]] += row["records"] * row.get("count", 1)
    return {why: counts[why] for why in LEFT_OUT_BECAUSE if counts[why]}


def topic_names(rows: DataFrame) -> dict[str, str]:
    """Collect the names of topic ids, over all tasks."""
    stated = rows.where(f.col("what") == TOPIC_ID).select("key", "record").distinct()
    return names_of_ids((bytes(row["key"]), row["record"]) for row in stated.collect())


def judge(cases: DataFrame, settings: Settings) -> DataFrame:
    """Judge all cases, each in the part that it is in; rows as in `JUDGED`."""

    def results(batches: Batches) -> Batches:
        return judge_batches(batches, settings)

    return cases.mapInArrow(results, _spark(JUDGED))


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


def to_judge(rows: DataFrame) -> DataFrame:
    """Select the rows that are judged: not topics, their ids, and counts of rows."""
    return rows.where(~f.col("what").isin(*COUNTS, *OF_NIGHTS))


def _by_group(
    parcels: DataFrame, tasks: int, stage: Callable[[Batches], Batches]
) -> DataFrame:
    """Bring the rows of each group to one task, where a stage gets them sorted."""

    def staged(batches: Batches) -> Batches:
        return stage(_sorted_rows(batches))

    return parcels.repartition(tasks, ADDRESS).mapInArrow(staged, _spark(ROWS))


def _sorted_rows(parcels: Batches) -> Batches:
    for table in in_order_once(unpacked(parcels), ROWS, HISTORY_ORDER):
        yield from table.to_batches(ROWS_PER_BATCH)


def _rows_of(batches: Batches) -> Iterator[Row]:
    return (row for batch in batches for row in batch.to_pylist())


def _rows_read(batch: pa.RecordBatch) -> int:
    """Count records, cases, and quarantined records; topics are not counted."""
    table = pa.table({name: batch.column(name) for name in ("what", "records")})
    read = table.filter(pc.field("what") != TOPIC)
    return int(pc.sum(pc.fill_null(read["records"], 1)).as_py() or 0)


def _spark(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)
