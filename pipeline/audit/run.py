"""Run an audit: from sources to a complete folder of tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import SparkSession

from pipeline.audit.judged import JudgedRuns
from pipeline.audit.lazy_spark import Clock, LazySpark, in_background
from pipeline.audit.manifest import Counts, manifest_of
from pipeline.audit.progress import Progress, watched
from pipeline.audit.request import fingerprint
from pipeline.audit.run_row import run_table
from pipeline.audit.sorting import in_order
from pipeline.audit.stages import seen_by_tasks
from pipeline.audit.steps import (
    Division,
    division_of,
    earlier_work,
    judge_cases,
    read_cases,
)
from pipeline.evaluation import KIP54, selection
from pipeline.files import LocalStore, Location, Stores, name_of, shown, uri_of
from pipeline.judging.evaluated import SAMPLE
from pipeline.judging.instances import World
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.sources.find import Found, find_sources
from pipeline.sources.given_subscriptions import read_subscriptions
from pipeline.sources.lag_metrics import LagGap, read_lag_metrics
from pipeline.sources.record_format import record_format
from pipeline.sources.sidecars import LogsFile, read_offsets, read_topics
from pipeline.tables import ORDER, PARTITION_COLUMNS, RUN_TABLE, SCHEMAS, TABLES
from pipeline.writing import (
    Staging,
    Tell,
    WritePage,
    refuse_replaced,
    staging,
    untold,
)
from rebalance import (
    MAX_PARTITIONS,
    ClaimRule,
    OffsetReset,
    SourceError,
    extra_needed,
)

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import LiveSource

JUDGED_WHOLE: Final = 20_000
"""The judge checks all real answers and optima of up to so many rebalances."""
_GAPS_TOLD: Final = 10
"""Lines about what lag lacks; the table quarantine has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """Summary of an audit.

    ``rows`` are counted per table and ``quarantine`` per kind and reason, most frequent
    first; ``seconds`` are per phase.
    """

    out: str
    tables: dict[str, str]
    rows: dict[str, int]
    quarantine: dict[str, int]
    java: str
    started: datetime
    finished: datetime
    seconds: dict[str, float]


def audit(  # noqa: PLR0913  # one parameter per option of the command
    sources: Sequence[Location],
    out: Location,
    *,
    cluster: str = "local",
    topics: Location | None = None,
    offsets: Location | None = None,
    subscriptions: Location | None = None,
    live: LiveSource | None = None,
    lag: Sequence[Location] = (),
    offset_reset: OffsetReset = OffsetReset.EARLIEST,
    source_format: str | None = None,
    columns: str | None = None,
    encoding: str | None = None,
    group_name: str | None = None,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
    max_partitions: int = MAX_PARTITIONS,
    assignors: Sequence[str] | None = None,
    master: str | None = None,
    progress: Progress | None = None,
    tell: Tell = untold,
    tasks: int | None = None,
    page: WritePage | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> AuditSummary:
    """Judge a history and write its tables to a folder.

    An existing audit is replaced as a whole, once the new one is complete. The tables
    depend neither on ``master`` nor on ``tasks``. An audit that was interrupted is
    continued by the next one with the same sources and options.

    Parameters
    ----------
    sources
        Files and folders in any format of `pipeline.sources.source_kind.SourceKind`:
        paths, or URIs of any file system that Hadoop supports.
    out
        Folder for the tables, the page, and ``audit.json``: a path or a URI; created
        if absent. On a cluster, all workers must have access to it and to the sources.
    cluster
        Name of the audited cluster.
    topics, offsets, subscriptions
        Side files (`pipeline.sources.sidecars`, `given_subscriptions`): partition
        counts, log ends, and subscriptions that no source reports. If not given,
        ``topics.json``, ``offsets.json``, and ``subscriptions.json`` in a folder of
        sources are taken.
    live
        A running cluster, read besides the other sources, if any. It also states
        partition counts, topic ids, and log ends, unless files do.
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
    group_name
        Group of describe tables without a column GROUP.
    max_partitions
        Reject larger instances, and larger counts in ``topics``.
    assignors
        Names of `pipeline.evaluation.KNOWN`, or ``all``; None: all but kip54-sticky.
    master
        Spark's master, such as ``local[2]``; None: that of ``spark-submit``, or else
        all cores of this machine.
    progress
        Called repeatedly with a phase (read, judge, write) and its state.
    tell
        Called with one line about work that is continued, or kept for the next run.
    tasks
        Number of parts of the work; None: determined by the number of cores.
    page
        Writes ``index.html`` into a folder of tables; it is replaced with them.
    meanwhile
        Called in a thread of its own while Spark starts; it may fail.

    Raises
    ------
    SourceError, DocumentError
        If there is no source, an assignor is unknown, or a side file is invalid.
    OutputError
        If the folder cannot be written to, or the disk is full; if a file that is read
        has the place of one that is written.
    OutsideError
        If there is no Java, or Spark fails; if an assignor needs an integer program,
        and the extra ``programs`` is missing (`rebalance.MissingExtraError`).
    """
    if not cluster:
        raise SourceError("the cluster needs a name", source="cluster")
    selected = selection(assignors)
    if KIP54 in selected:
        with extra_needed(KIP54):
            import_module("ortools")
    clock, started = Clock(), datetime.now(UTC)
    written = record_format(columns, encoding)
    with ExitStack() as stack:
        session = LazySpark(stack, master, out, clock)
        stores = Stores(LocalStore(), session.hadoop)
        with clock.phase("find"):
            found = Found(live=live)
            if sources or live is None:
                found = find_sources(
                    sources,
                    stores,
                    source_format=source_format,
                    written=written,
                    group_name=group_name,
                )
                found.live = live
            beside = {name: shown(uri) for name, uri in found.side_files.items()}
            topics = topics or beside.get("topics.json")
            offsets = offsets or beside.get("offsets.json")
            subscriptions = subscriptions or beside.get("subscriptions.json")
            given = read_topics(topics, max_partitions, stores)
            at_end, names = given.at_end, given.names
            logs = read_offsets(offsets, stores)
            if live is not None:
                at_end, names = live.counts | at_end, live.names | names
                logs = LogsFile(ends=live.ends) if offsets is None else logs
            stated = [topics, offsets, subscriptions, *lag]
            files = [one for one in stated if one is not None]
            refuse_replaced(out, [*files, *(file.uri for file in found.files)])
            reported = read_lag_metrics(lag, stores)
            found.lag_gaps = reported.gaps
            _tell_gaps(reported.gaps, tell)
        world = World(
            counts=CountSources(at_end=at_end, dated=given.dated),
            names=names,
            logs=logs,
            monitored=reported.lags,
            subscriptions=read_subscriptions(subscriptions, stores),
            offset_reset=offset_reset,
            max_partitions=max_partitions,
        )
        options: dict[str, Any] = {
            "cluster": cluster,
            "claim_rule": claim_rule.value,
            "max_partitions": max_partitions,
            "assignors": list(selected),
            "judged_whole": JUDGED_WHOLE,
            "judged_sample": f"1 of {SAMPLE}",
            "source_format": source_format,
            "columns": dict(written.names),
            "encoding": encoding,
            "group_name": group_name,
            "topics": None if topics is None else name_of(str(topics)),
            "offsets": None if offsets is None else name_of(str(offsets)),
            "subscriptions": None
            if subscriptions is None
            else name_of(str(subscriptions)),
            "lag": [name_of(str(one)) for one in lag],
            "auto_offset_reset": offset_reset.value,
        }
        asked = fingerprint(found, world, options)
        store = stores.of(uri_of(out))
        place = stack.enter_context(staging(out, store, asked, tell))
        if meanwhile is not None:
            in_background(meanwhile)
        spark, java = session.start()
        settings = _Audit(
            cluster=cluster,
            claim_rule=claim_rule,
            assignors=selected,
            world=world,
            division=division_of(spark, found, tasks),
            progress=progress,
            tell=tell,
            clock=clock,
        )
        counts = _run(spark, found, place, settings)
        finished = datetime.now(UTC)
        manifest = manifest_of(
            found,
            parameters=options | {"master": spark.sparkContext.master},
            counts=counts,
            spark={
                "tasks": settings.division.parts,
                "cores": spark.sparkContext.defaultParallelism,
            },
            java=java,
            started=started,
            finished=finished,
            seconds=clock.seconds,
        )
        place.write(RUN_TABLE, [run_table(manifest)])
        if progress is not None and page is not None:
            progress("page", 0, 1)
        place.commit(manifest, page)
    return AuditSummary(
        out=str(out),
        tables={name: f"{out}/{name}" for name in TABLES},
        rows=counts.rows,
        quarantine=counts.quarantine,
        java=java,
        started=started,
        finished=finished,
        seconds=clock.seconds,
    )


def _tell_gaps(gaps: Sequence[LagGap], tell: Tell) -> None:
    for gap in gaps[:_GAPS_TOLD]:
        tell(str(gap))
    if (rest := len(gaps) - _GAPS_TOLD) > 0:
        tell(f"and {rest} more gaps in lag: see the table quarantine")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Audit:
    cluster: str
    claim_rule: ClaimRule
    assignors: tuple[str, ...]
    world: World
    division: Division
    progress: Progress | None
    tell: Tell
    clock: Clock


def _run(spark: SparkSession, found: Found, place: Staging, audit: _Audit) -> Counts:
    """Read, judge, and write, as far as an earlier run has not done so."""
    tracker, work = spark.sparkContext.statusTracker(), place.work
    with audit.clock.phase("read"), watched(tracker, audit.progress, "read"):
        earlier = earlier_work(spark, work, audit.tell)
        if earlier is not None:
            audit.tell(f"continuing: {earlier.described(len(work.tables()))}")
            cases = earlier.cases
        else:
            cases = read_cases(spark, work, found, audit.world, audit.division)
        seen = seen_by_tasks(cases)
        names = {**seen.names, **audit.world.names}
        counts = replace(audit.world.counts, shown=known_counts(seen.topics, names))
        is_small = seen.cases <= JUDGED_WHOLE
    settings = Settings(
        cluster=audit.cluster,
        claim_rule=audit.claim_rule,
        assignors=audit.assignors,
        world=replace(audit.world, counts=counts, names=names),
        are_optima_judged=is_small,
    )
    with audit.clock.phase("judge"), watched(tracker, audit.progress, "judge"):
        files = judge_cases(work, cases, earlier, settings)
    with (
        audit.clock.phase("write"),
        watched(tracker, audit.progress, "write"),
        work.here(files) as paths,
    ):
        judged = JudgedRuns(paths)
        _write_tables(place, judged)
        return Counts(
            rows_read=seen.rows_read,
            rows_repeated=seen.rows_repeated,
            rows=judged.count_rows(),
            quarantine=judged.count_quarantine(),
            durations_unknown=judged.count_unknown_durations(),
        )


def _write_tables(place: Staging, judged: JudgedRuns) -> None:
    """Sort and write the tables that are not complete, as many at once as cores."""

    def write(name: str) -> None:
        keys, size = (*PARTITION_COLUMNS, *ORDER[name]), judged.bytes_of(name)
        rows = in_order(partial(judged.of, name), SCHEMAS[name], keys, size)
        place.write(name, rows)
        place.work.finish(name)

    left = [name for name in SCHEMAS if name not in place.work.tables()]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _ in threads.map(write, left):
            pass
