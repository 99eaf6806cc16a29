"""Run an audit: from sources to a complete folder of tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pyspark import SparkContext

from pipeline.audit.audit_input import found_input
from pipeline.audit.case_choice import NO_TIME, CaseChoice
from pipeline.audit.fingerprint import fingerprint
from pipeline.audit.judged import JudgedRuns
from pipeline.audit.lazy_spark import Clock, LazySpark, in_background
from pipeline.audit.manifest import AuditCounts, manifest_of
from pipeline.audit.night import Night, NightRead, NightResult, opened_night
from pipeline.audit.request import AuditRequest
from pipeline.audit.run_row import run_table
from pipeline.audit.stage_progress import Progress, watched
from pipeline.audit.stages import Seen, last_of
from pipeline.audit.steps import (
    Division,
    Earlier,
    division_of,
    earlier_work,
    judge_cases,
    read_cases,
)
from pipeline.audit.stored_work import StoredCases
from pipeline.audit.table_rows import table_rows
from pipeline.audit_writing import Staging, Tell, WritePage, no_report, staging
from pipeline.evaluation import KIP54, selection
from pipeline.files import LocalStore, Stores, uri_of
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.nights.history_store import HistoryStore
from pipeline.nights.saved_rows import rows_of_night
from pipeline.sources.find import FoundSources
from pipeline.tables import RUN_TABLE, SCHEMAS, TABLES
from pipeline.unfinished import Unfinished
from rebalance import ClaimRule, SourceError, extra_needed

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import LiveSource

JUDGED_WHOLE: Final = 20_000
"""The judge checks all real answers and optima of up to so many rebalances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """Summary of an audit.

    ``rows`` are counted per table and ``quarantine`` per kind and reason, most frequent
    first; ``seconds`` are per phase. ``left_out`` are rebalances and snapshots that
    were not asked for, per reason.
    """

    out: str
    tables: dict[str, str]
    rows: dict[str, int]
    quarantine: dict[str, int]
    java: str
    started: datetime
    finished: datetime
    seconds: dict[str, float]
    left_out: dict[str, int] = field(default_factory=dict)


def audit(
    request: AuditRequest,
    *,
    live: LiveSource | None = None,
    progress: Progress | None = None,
    tell: Tell = no_report,
    page: WritePage | None = None,
    meanwhile: Callable[[], object] | None = None,
    store: HistoryStore | None = None,
) -> AuditSummary:
    """Judge a history and write its tables to a folder.

    An existing audit is replaced as a whole, once the new one is complete. The tables
    depend neither on ``master`` nor on ``tasks``. An audit that was interrupted is
    continued by the next one with an equal request.

    Parameters
    ----------
    live
        A running cluster, read in addition to the other sources, if any. It also states
        partition counts, topic ids, and log ends, unless files do.
    progress
        Called repeatedly with a phase (read, judge, write) and its state.
    tell
        Called with one line about work that is continued, or kept for the next run.
    page
        Writes ``index.html`` into a folder of tables; it is replaced with them.
    meanwhile
        Called in a thread of its own while Spark starts; it may fail.
    store
        The store of the request, if the caller has opened and locked it.

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
    selected = _checked_assignors(request)
    clock, started = Clock(), datetime.now(UTC)
    with ExitStack() as stack:
        session = LazySpark(stack, request.master, request.out, clock)
        stores = Stores(LocalStore(), session.hadoop)
        with clock.phase("find"):
            given = found_input(request, live, stores, tell)
            parameters = given.parameters(selected, JUDGED_WHOLE)
            night = stack.enter_context(
                opened_night(request, given.found, parameters, stores, store)
            )
        found = given.found
        asked = parameters if night is None else parameters | {"night": night.name}
        request_name = fingerprint(found, given.facts, asked)
        files = stores.of(uri_of(request.out))
        place = stack.enter_context(staging(request.out, files, request_name, tell))
        if meanwhile is not None:
            in_background(meanwhile)
        spark, java = session.start()
        settings = _Audit(
            cluster=request.cluster,
            claim_rule=request.claim_rule,
            assignors=selected,
            facts=given.facts,
            choice=request.choice,
            division=division_of(spark, found, request.tasks),
            progress=progress,
            tell=tell,
            clock=clock,
            night=night,
            started=started,
        )
        counts = _run(spark, found, place, settings)
        finished = datetime.now(UTC)
        manifest = manifest_of(
            found,
            parameters=parameters | {"master": spark.master},
            counts=counts,
            spark={
                "tasks": settings.division.parts,
                "cores": spark.defaultParallelism,
            },
            java=java,
            started=started,
            finished=finished,
            seconds=clock.seconds,
        )
        if night is not None:
            manifest["history"] = night.described()
        place.write(RUN_TABLE, [run_table(manifest)])
        if progress is not None and page is not None:
            progress("page", 0, 1)
        place.commit(manifest, page)
    return AuditSummary(
        out=str(request.out),
        tables={name: f"{request.out}/{name}" for name in TABLES},
        rows=counts.rows,
        quarantine=counts.quarantine if night is None else night.quarantined,
        java=java,
        started=started,
        finished=finished,
        seconds=clock.seconds,
        left_out=counts.left_out,
    )


def _checked_assignors(request: AuditRequest) -> tuple[str, ...]:
    """Return the assignors of a request, whose cluster has a name."""
    if not request.cluster:
        raise SourceError("the cluster needs a name", source="cluster")
    selected = selection(request.assignors)
    if KIP54 in selected:
        with extra_needed(KIP54):
            import_module("ortools")
    return selected


@dataclass(frozen=True, slots=True, kw_only=True)
class _Audit:
    cluster: str
    claim_rule: ClaimRule
    assignors: tuple[str, ...]
    facts: ClusterFacts
    choice: CaseChoice
    division: Division
    progress: Progress | None
    tell: Tell
    clock: Clock
    night: Night | None
    started: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadHistory:
    """Complete cases, the earlier work on them, and the settings to judge them."""

    cases: StoredCases
    earlier: Earlier | None
    seen: Seen
    settings: Settings
    of_night: NightRead | None


def _run(
    spark: SparkContext, found: FoundSources, place: Staging, audit: _Audit
) -> AuditCounts:
    """Read, judge, and write, as far as an earlier run has not done so."""
    tracker = spark.statusTracker()
    with audit.clock.phase("read"), watched(tracker, audit.progress, "read"):
        history = _read(spark, found, place.work, audit)
    with audit.clock.phase("judge"), watched(tracker, audit.progress, "judge"):
        files = judge_cases(history.cases, history.earlier, history.settings)
    with (
        audit.clock.phase("write"),
        watched(tracker, audit.progress, "write"),
        place.work.here(files) as paths,
    ):
        return _written(place, JudgedRuns(paths), history, audit)


def _read(
    spark: SparkContext, found: FoundSources, work: Unfinished, audit: _Audit
) -> _ReadHistory:
    """Read the cases, or return those of an earlier run."""
    earlier = earlier_work(spark, work, audit.tell)
    if earlier is not None:
        audit.tell(f"continuing: {earlier.described(len(work.tables()))}")
        cases, seen = earlier.cases, earlier.seen
    else:
        cases = read_cases(
            spark, work, found, audit.facts, audit.division, audit.choice, audit.night
        )
        seen = cases.seen()
    _tell_left_out(seen, audit)
    of_night = earlier_end = None
    if audit.night is not None:
        with work.here(work.saved_cases()) as saved:
            of_night = audit.night.read(rows_of_night(saved), audit.tell)
        earlier_end = audit.night.latest
    return _ReadHistory(
        cases=cases,
        earlier=earlier,
        seen=seen,
        settings=_settings(seen, audit, earlier_end),
        of_night=of_night,
    )


def _settings(seen: Seen, audit: _Audit, earlier_end: int | None) -> Settings:
    """Return how to judge, with the facts that the history shows."""
    names = {**seen.names, **audit.facts.names}
    counts = replace(audit.facts.counts, shown=known_counts(seen.topics, names))
    return Settings(
        cluster=audit.cluster,
        claim_rule=audit.claim_rule,
        assignors=audit.assignors,
        facts=replace(
            audit.facts,
            counts=counts,
            names=names,
            history_end=last_of([seen.history_end, earlier_end]),
        ),
        are_optima_judged=seen.cases <= JUDGED_WHOLE,
    )


def _written(
    place: Staging, judged: JudgedRuns, history: _ReadHistory, audit: _Audit
) -> AuditCounts:
    """Write the tables, of a night those of all nights."""
    seen, facts = history.seen, history.settings.facts
    if audit.night is not None and history.of_night is not None:
        with place.work.here(place.work.saved_cases()) as saved:
            result = NightResult(
                saved=saved,
                judged=judged,
                read=history.of_night,
                counts=facts.counts.shown,
                names=seen.names,
                history_end=facts.history_end,
                started=audit.started,
                rows_read=seen.rows_read,
                rows_repeated=seen.rows_repeated,
            )
            return _of_all_nights(audit.night, place, result)
    _write_tables(place, judged)
    return AuditCounts(
        rows_read=seen.rows_read,
        rows_repeated=seen.rows_repeated,
        rows=judged.count_rows(),
        quarantine=judged.count_quarantine(),
        durations_unknown=judged.count_unknown_durations(),
        left_out=seen.left_out,
        history_end=seen.history_end,
    )


def _tell_left_out(seen: Seen, audit: _Audit) -> None:
    """Report groups that do not occur, and cases without a time."""
    for name in audit.choice.groups:
        if name not in seen.matched:
            audit.tell(f"--group {name}: no rebalance or snapshot of such a group")
    if without := seen.left_out.get(NO_TIME):
        audit.tell(
            f"left out, because their times are not known: {without:,} rebalances and "
            "snapshots"
        )


def _of_all_nights(night: Night, place: Staging, result: NightResult) -> AuditCounts:
    """Write a night into its store, and the tables of all nights to the output."""
    night.write(result)
    stored = night.stored()
    for name in SCHEMAS:
        place.fill(name, partial(stored.fill, name))
    counts, state = stored.counts(), night.state
    return AuditCounts(
        rows_read=state.rows_read,
        rows_repeated=state.rows_repeated,
        rows=counts.rows,
        quarantine=counts.quarantine,
        durations_unknown=counts.durations_unknown,
        left_out={},
        history_end=night.latest,
    )


def _write_tables(place: Staging, judged: JudgedRuns) -> None:
    """Sort and write the tables that are not complete, as many at once as cores."""

    def write(name: str) -> None:
        place.write(name, table_rows(judged, name))
        place.work.finish(name)

    left = [name for name in SCHEMAS if name not in place.work.tables()]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _ in threads.map(write, left):
            pass
