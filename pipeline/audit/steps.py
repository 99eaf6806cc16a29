"""The steps of an audit before its tables: read and judge, or continue earlier work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark import RDD, SparkContext, StorageLevel

from pipeline.audit.case_choice import CaseChoice
from pipeline.audit.judged import JudgedRuns
from pipeline.audit.night import Night
from pipeline.audit.stages import (
    Seen,
    continue_histories,
    judge_batches,
    match_snapshots,
    reconstruct,
    topic_names,
)
from pipeline.audit.stored_work import StoredCases, save_cases, saved_cases
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.settings import Settings
from pipeline.side_files.lag_metrics import gap_rows
from pipeline.sources.find import FoundSources
from pipeline.sources.parcels import Parcel, together
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
BYTES_PER_TASK: Final = 2 << 20
"""Bytes of sources per task of the reconstruction; at least one task per core.

Compressed sources have six to eight times as many bytes in memory, where a task sorts
them without files if they are few (`pipeline.audit.sorting`).
"""

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

    cases: StoredCases
    seen: Seen
    files: list[str]
    judged: frozenset[int]
    parts: frozenset[int]

    def described(self, tables: int) -> str:
        """Describe the finished work."""
        text = f"{len(self.judged)} of {len(self.parts)} parts were finished"
        return f"{text}, and {tables} of {len(SCHEMAS)} tables" if tables else text


def division_of(
    spark: SparkContext, found: FoundSources, tasks: int | None
) -> Division:
    """Divide the work by the length of the sources; ``tasks``, if given, is exact."""
    length = sum(file.length for file in found.files)
    if found.live is not None:
        length += found.live.records * BYTES_PER_RECORD
    cores = spark.defaultParallelism
    most = tasks or max(LEAST_TASKS, TASKS_PER_CORE * cores)
    by_length = min(MOST_PARTS, length // BYTES_PER_PART)
    return Division(
        tasks=min(most, cores * max(1, length // (BYTES_PER_TASK * cores))),
        parts=tasks or max(most, by_length),
    )


def earlier_work(
    spark: SparkContext, work: Unfinished, tell: Callable[[str], None]
) -> Earlier | None:
    """Return the work of an earlier run; None without complete cases.

    Work that cannot be read, as after a loss of power, is deleted.
    """
    cases = saved_cases(spark, work)
    if cases is None:
        return None
    try:
        files = _file_per_part(work)
        seen, parts = cases.seen(), cases.parts()
    except (*SPARK_ERRORS, pa.ArrowException, OSError, ValueError):
        tell("the unfinished audit cannot be read: beginning anew")
        work.clear()
        return None
    return Earlier(
        cases=cases,
        seen=seen,
        files=sorted(files.values()),
        judged=frozenset(files),
        parts=parts,
    )


def read_cases(
    spark: SparkContext,
    work: Unfinished,
    found: FoundSources,
    facts: ClusterFacts,
    division: Division,
    choice: CaseChoice,
    night: Night | None = None,
) -> StoredCases:
    """Read the sources, reconstruct their cases, and save the chosen ones.

    The histories of earlier audits are continued in a ``night``.
    """
    tasks = division.tasks
    read = _read_sources(spark, found, night, tasks, facts.max_partitions)
    if night is not None:
        cases = continue_histories(read, tasks)
        return save_cases(spark, work, cases, division.parts)
    if not found.has_states:
        cases = reconstruct(read, tasks, choice=choice)
        return save_cases(spark, work, cases, division.parts)
    cases = reconstruct(read, tasks, are_single=True)
    kept = cases.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        names = {**topic_names(kept), **facts.names}
        matched = match_snapshots(kept, names, tasks, choice)
        return save_cases(spark, work, matched, division.parts)
    finally:
        kept.unpersist()


def _read_sources(
    spark: SparkContext,
    found: FoundSources,
    night: Night | None,
    tasks: int,
    max_partitions: int,
) -> RDD[Parcel]:
    """Return the rows of all sources, and notices of those that cannot be read."""
    parcels = []
    carried = [] if night is None else night.carried()
    if files := [*found.files, *carried]:
        of_files = source_parcels(
            spark,
            files,
            tasks=tasks,
            max_partitions=max_partitions,
            select=iter if night is None else night.select(),
        )
        parcels.append(of_files)
    if notices := [*unknown_rows(found.unknown), *gap_rows(found.lag_gaps)]:
        parcels.append(parcels_of_rows(spark, notices, tasks))
    if found.live is not None:
        from pipeline.audit.live_rows import live_parcels  # noqa: PLC0415

        parcels.append(live_parcels(spark, found.live, tasks))
    return together(parcels)


def judge_cases(
    cases: StoredCases, earlier: Earlier | None, settings: Settings
) -> list[str]:
    """Judge the parts that are not judged yet; return the files of all parts."""
    parts, files = cases.parts(), list[str]()
    if earlier is not None:
        files, parts = earlier.files, parts - earlier.judged
    if parts:
        files = files + cases.judge(partial(judge_batches, settings=settings), parts)
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
