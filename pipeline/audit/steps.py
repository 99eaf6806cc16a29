"""The steps of an audit before its tables: read and judge, or continue earlier work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.audit.case_choice import CaseChoice
from pipeline.audit.judged import PART, JudgedRuns
from pipeline.audit.night import Night
from pipeline.audit.stages import (
    continue_histories,
    judge,
    match_snapshots,
    reconstruct,
    to_judge,
    topic_names,
)
from pipeline.audit.stored_work import save_cases, save_judged, saved_cases
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.settings import Settings
from pipeline.sources.find import FoundSources
from pipeline.sources.lag_metrics import gap_rows
from pipeline.sources.spark_rows import (
    SPARK_ERRORS,
    parcels_of_rows,
    source_parcels,
    unknown_rows,
)
from pipeline.tables import SCHEMAS
from pipeline.unfinished import Unfinished

TASKS_PER_CORE: Final = 4
LEAST_TASKS: Final = 4
BYTES_PER_TASK: Final = 8 << 20
"""Bytes of sources per task of the reconstruction; at least one task per core."""

BYTES_PER_PART: Final = 1 << 20
MOST_PARTS: Final = 1_000
"""Parts of judging: about one per MiB of sources, but not more than `MOST_PARTS`, and
not fewer than tasks. An interrupted audit loses at most one part per core."""

BYTES_PER_RECORD: Final = 200
"""Of a record of ``__consumer_offsets``, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Number of tasks that read, and of parts that are judged."""

    tasks: int
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Work of an earlier run: complete cases, and files of judged parts."""

    cases: DataFrame
    files: list[str]
    judged: frozenset[int]
    parts: frozenset[int]

    def described(self, tables: int) -> str:
        """Describe the finished work."""
        text = f"{len(self.judged)} of {len(self.parts)} parts were finished"
        return f"{text}, and {tables} of {len(SCHEMAS)} tables" if tables else text


def division_of(
    spark: SparkSession, found: FoundSources, tasks: int | None
) -> Division:
    """Divide the work by the length of the sources; ``tasks``, if given, is exact."""
    length = sum(file.length for file in found.files)
    if found.live is not None:
        length += found.live.records * BYTES_PER_RECORD
    cores = spark.sparkContext.defaultParallelism
    most = tasks or max(LEAST_TASKS, TASKS_PER_CORE * cores)
    by_length = min(MOST_PARTS, length // BYTES_PER_PART)
    return Division(
        tasks=min(most, max(cores, length // BYTES_PER_TASK)),
        parts=tasks or max(most, by_length),
    )


def earlier_work(
    spark: SparkSession, work: Unfinished, tell: Callable[[str], None]
) -> Earlier | None:
    """Return the work of an earlier run; None without complete cases.

    Work that cannot be read, as after a loss of power, is deleted.
    """
    cases = saved_cases(spark, work)
    if cases is None:
        return None
    try:
        files = _file_per_part(work)
        parts = frozenset(_parts_of(to_judge(cases)))
    except (*SPARK_ERRORS, pa.ArrowException):
        tell("the unfinished audit cannot be read: beginning anew")
        work.clear()
        return None
    return Earlier(
        cases=cases,
        files=sorted(files.values()),
        judged=frozenset(files),
        parts=parts,
    )


def read_cases(
    spark: SparkSession,
    work: Unfinished,
    found: FoundSources,
    facts: ClusterFacts,
    division: Division,
    choice: CaseChoice,
    night: Night | None = None,
) -> DataFrame:
    """Read the sources, reconstruct their cases, and save the chosen ones.

    The histories of earlier audits are continued in a ``night``.
    """
    tasks, most = division.tasks, facts.max_partitions
    tables: list[DataFrame] = []
    carried = [] if night is None else night.carried()
    if files := [*found.files, *carried]:
        parcels = source_parcels(
            spark,
            files,
            tasks=tasks,
            max_partitions=most,
            select=iter if night is None else night.select(),
        )
        tables.append(parcels)
    if notices := [*unknown_rows(found.unknown), *gap_rows(found.lag_gaps)]:
        tables.append(parcels_of_rows(spark, notices, tasks))
    if found.live is not None:
        from pipeline.audit.live_rows import live_parcels  # noqa: PLC0415

        tables.append(live_parcels(spark, found.live, tasks))
    if night is not None:
        cases = continue_histories(reduce(DataFrame.unionByName, tables), tasks)
        return save_cases(spark, work, cases, division.parts)
    table = reduce(DataFrame.unionByName, tables)
    if not found.has_states:
        cases = reconstruct(table, tasks, choice=choice)
        return save_cases(spark, work, cases, division.parts)
    cases = reconstruct(table, tasks, are_single=True)
    kept = cases.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        names = {**topic_names(kept), **facts.names}
        matched = match_snapshots(kept, names, tasks, choice)
        return save_cases(spark, work, matched, division.parts)
    finally:
        kept.unpersist()


def judge_cases(
    work: Unfinished, cases: DataFrame, earlier: Earlier | None, settings: Settings
) -> list[str]:
    """Judge the parts that are not judged yet; return the files of all parts."""
    left, files = to_judge(cases), list[str]()
    if earlier is not None:
        files += earlier.files
        left = left.where(~f.col(PART).isin(*earlier.judged))
    if earlier is None or earlier.judged < earlier.parts:
        files += save_judged(work, judge(left, settings))
    return files


def _file_per_part(work: Unfinished) -> dict[int, str]:
    """Return a file for each judged part.

    A part can be in two files, if a killed run completed it after the next had begun.
    """
    files = work.judged_files()
    with work.here(files) as paths:
        return {
            part: file
            for file, path in zip(files, paths, strict=True)
            for part in JudgedRuns([path]).parts()
        }


def _parts_of(rows: DataFrame) -> set[int]:
    return {row[PART] for row in rows.select(PART).distinct().collect()}
