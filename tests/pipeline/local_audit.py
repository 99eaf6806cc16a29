"""Audits without Spark: what its tasks compute, as one task, in this process.

Sources are read, sorted, reconstructed, matched, and judged, and tables written, by the
functions that an audit calls in Spark's tasks and around them (`pipeline.audit`).
`tests.pipeline.test_spark_audit` compares the tables with those of Spark.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.audit import AuditRequest, AuditSummary
from pipeline.audit.audit_input import found_input
from pipeline.audit.case_choice import CaseChoice
from pipeline.audit.judged import JUDGED, PART, JudgedRuns
from pipeline.audit.manifest import AuditCounts, manifest_of
from pipeline.audit.run import JUDGED_WHOLE
from pipeline.audit.run_row import run_table
from pipeline.audit.sorting import in_order_once
from pipeline.audit.stages import (
    COUNTS,
    OF_NIGHTS,
    judge_batches,
    last_of,
    left_out_of,
    match_batches,
    reconstruct_batches,
)
from pipeline.audit.table_rows import table_rows
from pipeline.audit_writing import manifest_bytes, no_report
from pipeline.evaluation import selection
from pipeline.files import LOCAL_STORES
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.rows import (
    LEFT_OUT,
    READ,
    REPEATED,
    ROWS,
    TOPIC,
    TOPIC_ID,
    batches_of,
    sighting_of,
)
from pipeline.sources.find import FoundSources
from pipeline.sources.spark_rows import unknown_rows
from pipeline.table_files import write_files
from pipeline.tables import RUN_TABLE, SCHEMAS, TABLES
from pipeline.topic_names import names_of_ids
from tests.pipeline.local_reading import read_found

ROWS_PER_BATCH = 256
"""As Spark passes them to its workers (`pipeline.session`)."""


def local_audit(
    sources: Iterable[Path], out: Path, *, cluster: str = "local", **options: Any
) -> AuditSummary:
    """Write the tables of an audit and ``audit.json``; options as of `AuditRequest`."""
    started = datetime.now(UTC)
    request = AuditRequest(sources=[*sources], out=out, cluster=cluster, **options)
    given = found_input(request, None, LOCAL_STORES, no_report)
    cases, facts = _reconstructed(given.found, given.facts, request.choice)
    settings = Settings(
        cluster=cluster,
        facts=facts,
        claim_rule=request.claim_rule,
        assignors=selection(request.assignors),
        are_optima_judged=True,
    )
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        judged = judged_as_one(cases, settings, Path(folder) / "judged.parquet")
        for name in SCHEMAS:
            write_files(out / name, table_rows(judged, name))
        counts = _counts(cases, judged, facts)
    parameters = given.parameters(settings.assignors, JUDGED_WHOLE)
    manifest = manifest_of(
        given.found,
        parameters=parameters | {"master": "none"},
        counts=counts,
        spark={"tasks": 1, "cores": 1},
        java="none",
        started=started,
        finished=datetime.now(UTC),
        seconds={},
    )
    write_files(out / RUN_TABLE, [run_table(manifest)])
    (out / "audit.json").write_bytes(manifest_bytes(manifest))
    return read_summary(out)


def _counts(cases: pa.Table, judged: JudgedRuns, facts: ClusterFacts) -> AuditCounts:
    return AuditCounts(
        rows_read=counted(cases, READ),
        rows_repeated=counted(cases, REPEATED),
        rows=judged.count_rows(),
        quarantine=judged.count_quarantine(),
        durations_unknown=judged.count_unknown_durations(),
        left_out=left_out_of(of_kind(cases, LEFT_OUT)),
        history_end=facts.history_end,
    )


def _reconstructed(
    found: FoundSources, facts: ClusterFacts, choice: CaseChoice
) -> tuple[pa.Table, ClusterFacts]:
    """Return the cases, and the facts with the topics that the sources state."""
    rows = [*read_found(found, facts.max_partitions), *unknown_rows(found.unknown)]
    read = in_batches(_table(batches_of(rows)))
    at_once = {} if found.has_states else {"choice": choice}
    cases = _table(reconstruct_batches(read, are_single=found.has_states, **at_once))
    stated = of_kind(cases, TOPIC_ID)
    names = names_of_ids((row["key"], row["record"]) for row in stated)
    names = {**names, **facts.names}
    if found.has_states:
        cases = _table(match_batches(in_batches(cases), names, choice))
    seen = known_counts(map(sighting_of, of_kind(cases, TOPIC)), names)
    counts = replace(facts.counts, shown=seen)
    end = last_of(row["at"] for row in of_kind(cases, READ))
    return cases, replace(facts, counts=counts, names=names, history_end=end)


def _table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, ROWS)


def in_batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield the rows in the order in which a task has them."""
    for table in in_order_once([rows], ROWS, HISTORY_ORDER):
        yield from table.combine_chunks().to_batches(ROWS_PER_BATCH)


def of_kind(rows: pa.Table, what: str) -> list[dict[str, Any]]:
    """Return the rows of a kind."""
    found: list[dict[str, Any]] = rows.filter(pc.equal(rows["what"], what)).to_pylist()
    return found


def counted(rows: pa.Table, what: str) -> int:
    """Add up the numbers of the rows of a kind."""
    return sum(row["records"] for row in of_kind(rows, what))


def judged_as_one(cases: pa.Table, settings: Settings, path: Path) -> JudgedRuns:
    """Judge all cases as one part."""
    left = cases.filter(
        pc.invert(pc.is_in(cases["what"], pa.array([*COUNTS, *OF_NIGHTS])))
    )
    part = pa.array([0] * left.num_rows, pa.int32())
    rows = left.append_column(PART, part).combine_chunks()
    batches = judge_batches(iter(rows.to_batches(ROWS_PER_BATCH)), settings)
    pq.write_table(pa.Table.from_batches(batches, JUDGED), path)
    return JudgedRuns([path])


def read_summary(out: Path) -> AuditSummary:
    """Return the summary of a local audit from its folder."""
    manifest = json.loads((out / "audit.json").read_bytes())
    return AuditSummary(
        out=str(out),
        tables={name: f"{out}/{name}" for name in TABLES},
        rows=manifest["rows"],
        quarantine=manifest["quarantine"],
        java=manifest["versions"]["java"],
        started=datetime.fromisoformat(manifest["started"]),
        finished=datetime.fromisoformat(manifest["finished"]),
        seconds=manifest["seconds"],
        left_out=manifest["left_out"],
    )
