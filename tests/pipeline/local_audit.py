"""Audits without Spark: what its tasks compute, as one task, in this process.

Sources are read by `tests.pipeline.local_reading`, and sorted, reconstructed, matched,
and judged by the functions that Spark's stages call (`pipeline.audit.stages`).
`tests.pipeline.test_spark_audit` compares the tables with those of Spark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.audit import AuditSummary
from pipeline.audit.judged import PART
from pipeline.audit.manifest import Counts, manifest_of
from pipeline.audit.run_row import run_row
from pipeline.audit.stages import (
    COUNTS,
    judge_batches,
    match_batches,
    reconstruct_batches,
)
from pipeline.evaluation import selection
from pipeline.files import Location, name_of
from pipeline.history.place import UNKNOWN_DURATIONS
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.judging.topic_names import names_of_ids
from pipeline.known_counts import known_counts
from pipeline.sources.find import Found, find_sources
from pipeline.sources.given_subscriptions import (
    read_subscriptions,
)
from pipeline.sources.rows import (
    READ,
    REPEATED,
    ROWS,
    TOPIC,
    TOPIC_ID,
    batches_of,
    sighting_of,
)
from pipeline.sources.sidecars import (
    read_offsets,
    read_topics,
)
from pipeline.sources.spark_rows import unknown_rows
from pipeline.tables import ORDER, PARTITION_COLUMNS, RUN_TABLE, SCHEMAS, TABLES
from pipeline.writing import manifest_bytes
from rebalance import MAX_PARTITIONS, ClaimRule
from tests.oracle.report.audits import write_table
from tests.pipeline.local_reading import read_found

ROWS_PER_BATCH = 256
"""As Spark passes them to its workers (`pipeline.session`)."""


def local_audit(
    sources: Sequence[Path],
    out: Path,
    *,
    cluster: str = "local",
    topics: Path | None = None,
    offsets: Path | None = None,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
    max_partitions: int = MAX_PARTITIONS,
    assignors: Sequence[str] | None = None,
) -> AuditSummary:
    """Write the tables of an audit and ``audit.json``; parameters as of `audit`."""
    started = datetime.now(UTC)
    found = find_sources(sources)
    facts = _facts(found, topics, offsets, max_partitions)
    cases, facts = _reconstructed(found, facts)
    settings = Settings(
        cluster=cluster,
        facts=facts,
        claim_rule=claim_rule,
        assignors=selection(assignors),
        are_optima_judged=True,
    )
    tables = _judged(cases, settings)
    beside = found.side_files
    parameters = {
        "cluster": cluster,
        "claim_rule": claim_rule.value,
        "max_partitions": max_partitions,
        "assignors": list(settings.assignors),
        "topics": _name(topics or beside.get("topics.json")),
        "offsets": _name(offsets or beside.get("offsets.json")),
        "auto_offset_reset": facts.offset_reset.value,
        "master": "none",
    }
    counts = Counts(
        rows_read=_counted(cases, READ),
        rows_repeated=_counted(cases, REPEATED),
        rows={name: table.num_rows for name, table in tables.items()},
        quarantine=_reasons(tables["quarantine"]),
        durations_unknown=_unknown_durations(tables),
    )
    return _written(out, tables, found, parameters, counts, started)


def _name(location: Location | None) -> str | None:
    return None if location is None else name_of(str(location))


def _facts(
    found: Found, topics: Location | None, offsets: Location | None, most: int
) -> ClusterFacts:
    """Return what the side files state: those given, or those beside the sources."""
    topics = topics or found.side_files.get("topics.json")
    offsets = offsets or found.side_files.get("offsets.json")
    subscriptions = found.side_files.get("subscriptions.json")
    given = read_topics(topics, most)
    return ClusterFacts(
        counts=CountSources(at_end=given.at_end, dated=given.dated),
        names=given.names,
        logs=read_offsets(offsets),
        subscriptions=read_subscriptions(subscriptions),
        max_partitions=most,
    )


def _reconstructed(found: Found, facts: ClusterFacts) -> tuple[pa.Table, ClusterFacts]:
    """Return the cases, and the facts with the topics that the sources state."""
    rows = [*read_found(found, facts.max_partitions), *unknown_rows(found.unknown)]
    ordered = _ordered(_table(batches_of(rows)))
    cases = _table(reconstruct_batches(_batches(ordered), are_single=found.has_states))
    names = {**_topic_names(cases), **facts.names}
    if found.has_states:
        cases = _table(match_batches(_batches(_ordered(cases)), names))
    seen = map(sighting_of, _of_kind(cases, TOPIC).to_pylist())
    counts = replace(facts.counts, shown=known_counts(seen, names))
    return cases, replace(facts, counts=counts, names=names)


def _table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, ROWS)


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from table.combine_chunks().to_batches(ROWS_PER_BATCH)


def _ordered(table: pa.Table, columns: Sequence[str] = HISTORY_ORDER) -> pa.Table:
    """Sort as Spark does: nulls first, and text by its bytes."""
    keys = [
        [(value is not None, value) for value in row]
        for row in zip(*(table[name].to_pylist() for name in columns), strict=True)
    ]
    places = sorted(range(table.num_rows), key=keys.__getitem__)
    return table.take(pa.array(places, pa.int64()))


def _of_kind(rows: pa.Table, what: str) -> pa.Table:
    return rows.filter(pc.equal(rows["what"], what))


def _topic_names(rows: pa.Table) -> dict[str, str]:
    stated = _of_kind(rows, TOPIC_ID)
    return names_of_ids(
        zip(stated["key"].to_pylist(), stated["record"].to_pylist(), strict=True)
    )


def _counted(rows: pa.Table, what: str) -> int:
    return sum(_of_kind(rows, what)["records"].to_pylist())


def _judged(cases: pa.Table, settings: Settings) -> dict[str, pa.Table]:
    """Judge all cases as one part; return the tables in their order."""
    left = cases.filter(pc.invert(pc.is_in(cases["what"], pa.array(COUNTS))))
    part = pa.array([0] * left.num_rows, pa.int32())
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in SCHEMAS}
    for judged in judge_batches(_batches(left.append_column(PART, part)), settings):
        for name in SCHEMAS:
            for data in judged.column(name):
                if data.is_valid:
                    batches[name] += pa.ipc.open_stream(data.as_buffer())
    return {
        name: _ordered(
            pa.Table.from_batches(batches[name], schema),
            (*PARTITION_COLUMNS, *ORDER[name]),
        )
        for name, schema in SCHEMAS.items()
    }


def _reasons(quarantine: pa.Table) -> dict[str, int]:
    counts = Counter[str]()
    for row in quarantine.select(["kind", "reason", "records"]).to_pylist():
        counts[f"{row['kind']}: {row['reason']}"] += row["records"]
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _unknown_durations(tables: dict[str, pa.Table]) -> dict[str, int]:
    found = Counter[str]()
    for name, column in (
        ("rebalances", "reached_unknown"),
        ("episodes", "unowned_unknown"),
    ):
        found.update(reason for reason in tables[name][column].to_pylist() if reason)
    return {reason: found[reason] for reason in UNKNOWN_DURATIONS if found[reason]}


def _written(
    out: Path,
    tables: dict[str, pa.Table],
    found: Found,
    parameters: dict[str, Any],
    counts: Counts,
    started: datetime,
) -> AuditSummary:
    manifest = manifest_of(
        found,
        parameters=parameters,
        counts=counts,
        spark={"tasks": 1, "cores": 1},
        java="none",
        started=started,
        finished=datetime.now(UTC),
        seconds={},
    )
    run = pa.Table.from_pylist([run_row(manifest)], schema=TABLES[RUN_TABLE])
    for name, table in {**tables, RUN_TABLE: run}.items():
        (out / name).mkdir(parents=True)
        write_table(out / name, table)
    (out / "audit.json").write_bytes(manifest_bytes(manifest))
    return read_summary(out)


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
    )
