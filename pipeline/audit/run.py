"""Run an audit: from sources to a complete folder of tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from conformance.java import java_home
from pipeline.audit.interrupt import interrupts_kept
from pipeline.audit.manifest import count_quarantine, count_rows, manifest_of
from pipeline.audit.progress import Progress, watched
from pipeline.audit.stages import (
    judge,
    match_snapshots,
    reconstruct,
    table_of,
    topic_names,
    topics_seen,
)
from pipeline.evaluation import DisagreementError, selection
from pipeline.files import HadoopStore, LocalStore, Location, Stores, name_of, uri_of
from pipeline.judging.instances import World
from pipeline.judging.judge_rows import Settings
from pipeline.judging.repeats import SAMPLE
from pipeline.judging.topic_names import named_counts
from pipeline.session import spark_session
from pipeline.sources.find import Found, find_sources
from pipeline.sources.lag_metrics import read_lag_metrics
from pipeline.sources.record_format import record_format
from pipeline.sources.sidecars import Logs, read_offsets, read_topic_ids, read_topics
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.spark_rows import (
    SPARK_ERRORS,
    SourceReader,
    table_of_rows,
    unknown_rows,
)
from pipeline.tables import SCHEMAS
from pipeline.writing import Staging, staging
from rebalance import (
    MAX_PARTITIONS,
    ClaimRule,
    OffsetReset,
    OracleError,
    OutputError,
    OutsideError,
    SourceError,
)

TASKS_PER_CORE: Final = 4
LEAST_TASKS: Final = 4
BYTES_PER_TASK: Final = 8 << 20
"""Bytes of sources per task of the reconstruction; at least one task per core."""

SMALL: Final = 100_000
"""Up to this number of rows, one task sorts and writes all results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """Summary of an audit.

    ``rows`` are counted per table and ``quarantine`` per kind and reason, most frequent
    first; ``seconds`` are per phase.
    """

    out: Path
    tables: dict[str, Path]
    rows: dict[str, int]
    quarantine: dict[str, int]
    java: str
    started: datetime
    finished: datetime
    seconds: dict[str, float]


@dataclass(slots=True, kw_only=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began


def audit(  # noqa: PLR0913  # one parameter per option of the command
    sources: Sequence[Location],
    out: Path,
    *,
    cluster: str = "local",
    topics: Location | None = None,
    offsets: Location | None = None,
    lag: Sequence[Location] = (),
    offset_reset: OffsetReset = OffsetReset.EARLIEST,
    source_format: str | None = None,
    columns: str | None = None,
    encoding: str | None = None,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
    max_partitions: int = MAX_PARTITIONS,
    assignors: Sequence[str] | None = None,
    master: str = "local[*]",
    progress: Progress | None = None,
    tasks: int | None = None,
) -> AuditSummary:
    """Judge a history and write its tables to a folder.

    An existing audit is replaced as a whole, once the new one is complete. The tables
    depend neither on ``master`` nor on ``tasks``.

    Parameters
    ----------
    sources
        Files and folders in any format of `pipeline.sources.source_kind.SourceKind`:
        paths, or URIs of any file system that Hadoop supports.
    out
        Folder for the tables and ``audit.json``; created if absent. On a cluster, all
        workers must have access to it and to the sources.
    cluster
        Name of the audited cluster.
    topics, offsets
        Side files (`pipeline.sources.sidecars`): partition counts, log ends. If not
        given, ``topics.json`` and ``offsets.json`` in a folder of sources are taken.
    lag
        Files with lag that a monitoring system reported
        (`pipeline.sources.lag_metrics`).
    offset_reset
        Where lag starts if nothing was committed.
    source_format
        Format of all files, which is then not detected.
    columns, encoding
        Names of the columns of records, such as ``value=payload``, and how key and
        value are written (`pipeline.sources.record_format`).
    max_partitions
        Reject larger instances, and larger counts in ``topics``.
    assignors
        Names of `pipeline.evaluation.KNOWN`, or ``all``; None: all but kip54-sticky.
    master
        Spark's master, such as ``local[2]``.
    progress
        Called repeatedly with a phase (read, judge, write) and its state.
    tasks
        Number of parts of the work; None: determined by the number of cores.

    Raises
    ------
    SourceError, DocumentError
        If there is no source, an assignor is unknown, or a side file is invalid.
    OutputError
        If the folder cannot be written to, or the disk is full.
    OutsideError
        If there is no Java, or Spark fails.
    """
    if not cluster:
        raise SourceError("the cluster needs a name", source="cluster")
    selected = selection(assignors)
    clock, started = _Clock(), datetime.now(UTC)
    written = record_format(columns, encoding)
    with ExitStack() as stack:
        session = _LazySpark(stack, master, out, clock)
        stores = Stores(LocalStore(), session.hadoop)
        with clock.phase("find"):
            found = find_sources(
                sources, stores, source_format=source_format, written=written
            )
            topics = topics or found.side_files.get("topics.json")
            offsets = offsets or found.side_files.get("offsets.json")
            given, names, logs = _side_files(stores, topics, offsets, max_partitions)
            monitored = read_lag_metrics(lag, stores)
        place = stack.enter_context(staging(out))
        spark, java = session.start()
        settings = _Audit(
            cluster=cluster,
            claim_rule=claim_rule,
            assignors=selected,
            world=World(
                given=given,
                names=names,
                logs=logs,
                monitored=monitored,
                offset_reset=offset_reset,
                max_partitions=max_partitions,
            ),
            tasks=tasks or _tasks(spark),
            progress=progress,
            clock=clock,
        )
        _run(spark, found, place, settings)
        rows, quarantine = count_rows(place.folder), count_quarantine(place.folder)
        finished = datetime.now(UTC)
        manifest = manifest_of(
            found,
            parameters={
                "cluster": cluster,
                "claim_rule": claim_rule.value,
                "max_partitions": max_partitions,
                "assignors": list(selected),
                "judged_sample": f"1 of {SAMPLE}",
                "source_format": source_format,
                "columns": dict(written.names),
                "encoding": encoding,
                "topics": None if topics is None else name_of(str(topics)),
                "offsets": None if offsets is None else name_of(str(offsets)),
                "lag": [name_of(str(one)) for one in lag],
                "auto_offset_reset": offset_reset.value,
                "master": master,
            },
            rows=rows,
            quarantine=quarantine,
            java=java,
            started=started,
            finished=finished,
            seconds=clock.seconds,
        )
        tables = place.commit(manifest)
    return AuditSummary(
        out=out,
        tables=tables,
        rows=rows,
        quarantine=quarantine,
        java=java,
        started=started,
        finished=finished,
        seconds=clock.seconds,
    )


class _LazySpark:
    """Starts Spark when it is first needed: before the search, if it is remote."""

    def __init__(self, stack: ExitStack, master: str, out: Path, clock: _Clock) -> None:
        self._stack = stack
        self._master = master
        self._out = out
        self._clock = clock
        self._started: tuple[SparkSession, str] | None = None

    def start(self) -> tuple[SparkSession, str]:
        """Return the session and the description of its Java."""
        if self._started is None:
            running = _spark(self._master, self._out, self._clock)
            self._started = self._stack.enter_context(running)
        return self._started

    def hadoop(self) -> HadoopStore:
        """Return Hadoop's file systems."""
        return HadoopStore(self.start()[0])


def _side_files(
    stores: Stores, topics: Location | None, offsets: Location | None, most: int
) -> tuple[dict[str, int], dict[str, str], Logs | None]:
    """Return partition counts, names of topic ids, and log ends, as far as given."""
    given: dict[str, int] = {}
    names: dict[str, str] = {}
    if topics is not None:
        store = stores.of(uri_of(topics))
        given = read_topics(topics, most, store)
        names = read_topic_ids(topics, store)
    if offsets is None:
        return given, names, None
    return given, names, read_offsets(offsets, stores.of(uri_of(offsets)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Audit:
    cluster: str
    claim_rule: ClaimRule
    assignors: tuple[str, ...]
    world: World
    tasks: int
    progress: Progress | None
    clock: _Clock


def _run(spark: SparkSession, found: Found, place: Staging, audit: _Audit) -> None:
    """Read, judge, and write; each intermediate table is computed once."""
    tracker = spark.sparkContext.statusTracker()
    with audit.clock.phase("read"), watched(tracker, audit.progress, "read"):
        cases, stated = _read(spark, found, audit)
        names = {**stated, **audit.world.names}
        inferred = named_counts(topics_seen(cases), names)
    judged = cases
    if any(file.kind is SourceKind.DESCRIBE for file in found.files):
        judged = match_snapshots(cases, names, _tasks_for(spark, found, audit.tasks))
    settings = Settings(
        cluster=audit.cluster,
        claim_rule=audit.claim_rule,
        assignors=audit.assignors,
        world=replace(audit.world, inferred=inferred, names=names),
    )
    with audit.clock.phase("judge"), watched(tracker, audit.progress, "judge"):
        results = _kept(judge(judged, settings, audit.tasks))
        is_small = results.count() <= SMALL
    with audit.clock.phase("write"), watched(tracker, audit.progress, "write"):
        for name in SCHEMAS:
            place.write(table_of(results, name, is_small=is_small), name)
    results.unpersist()
    cases.unpersist()


def _read(
    spark: SparkSession, found: Found, audit: _Audit
) -> tuple[DataFrame, dict[str, str]]:
    """Read the sources; return their cases and the names of topic ids."""
    most = audit.world.max_partitions
    reader = SourceReader(spark, found.files, tasks=audit.tasks, max_partitions=most)
    tasks = _tasks_for(spark, found, audit.tasks)
    while True:
        cases: DataFrame | None = None
        try:
            rows = reader.rows()
            if found.unknown:
                unknown = table_of_rows(spark, unknown_rows(found.unknown))
                rows = rows.unionByName(unknown)
            cases = _kept(reconstruct(rows, tasks))
            return cases, topic_names(cases)
        except SPARK_ERRORS as error:
            if cases is not None:
                cases.unpersist()
            if not reader.finds_damage(error):
                raise


def _kept(table: DataFrame) -> DataFrame:
    return table.persist(StorageLevel.MEMORY_AND_DISK)


def _tasks(spark: SparkSession) -> int:
    return max(LEAST_TASKS, TASKS_PER_CORE * spark.sparkContext.defaultParallelism)


def _tasks_for(spark: SparkSession, found: Found, most: int) -> int:
    """Return the number of tasks for the length of the sources."""
    by_length = sum(file.length for file in found.files) // BYTES_PER_TASK
    cores = spark.sparkContext.defaultParallelism
    return min(most, max(cores, by_length))


@contextmanager
def _spark(master: str, out: Path, clock: _Clock) -> Iterator[tuple[SparkSession, str]]:
    """Start Spark, or use a running session; convert its failures into our errors."""
    running = SparkSession.getActiveSession()
    with clock.phase("start"):
        session = spark_session(master)
        java = str(java_home())
    if running is None:
        # Errors are raised; Spark's stack traces on the terminal are suppressed.
        session.sparkContext.setLogLevel("OFF")
    spark = session.newSession()
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    # Each stage sets its number of tasks; adaptive planning only costs time.
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    with interrupts_kept():
        try:
            yield spark, java
        except SPARK_ERRORS as error:
            raise _failure(error, out) from error
        finally:
            if running is None:
                session.stop()


_FULL: Final = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "Permission denied",
    "Input/output error",
)


def _failure(error: Exception, out: Path) -> OracleError:
    """Distinguish a failing disk from other failures."""
    text = str(error)
    for reason in _FULL:
        if reason in text:
            return OutputError(reason.lower(), target=str(out))
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    # The error is the last line of a Python worker's traceback, and the first of
    # Java's.
    told = lines[-1] if "Traceback (most recent call last)" in text else lines[0]
    _, name, reason = told.partition(f"{DisagreementError.__name__}: ")
    if name:
        return DisagreementError(reason)
    return OutsideError(f"Spark failed: {told[:300]}")
