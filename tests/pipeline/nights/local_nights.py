"""Nights without Spark: the work of the tasks of an audit with ``--history``."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.audit import AuditRequest
from pipeline.audit.audit_input import found_input
from pipeline.audit.night import Night, NightResult, opened_night
from pipeline.audit.run import JUDGED_WHOLE
from pipeline.audit.stages import last_of
from pipeline.evaluation import selection
from pipeline.files import LOCAL_STORES, Location
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.nights.continued import continued_batches
from pipeline.nights.saved_rows import rows_of_night
from pipeline.rows import (
    READ,
    REPEATED,
    ROWS,
    TOPIC,
    TOPIC_ID,
    batches_of,
    sighting_of,
)
from pipeline.sources.find import FoundSources
from pipeline.sources.read import batches_of_pieces
from pipeline.sources.source_pieces import pieces_of
from pipeline.sources.spark_rows import unknown_rows
from pipeline.tables import SCHEMAS
from pipeline.topic_names import names_of_ids
from tests.pipeline.local_audit import counted, in_batches, judged_as_one, of_kind
from tests.pipeline.local_reading import read_found


def local_night(
    sources: Iterable[Location], store: Path, out: Path, **options: Any
) -> list[str]:
    """Add a night to a store, and write its tables; return the lines for the user."""
    told: list[str] = []
    request = AuditRequest(sources=[*sources], out=out, history=store, **options)
    given = found_input(request, None, LOCAL_STORES, told.append)
    parameters = given.parameters(selection(request.assignors), JUDGED_WHOLE)
    with opened_night(request, given.found, parameters, LOCAL_STORES) as night:
        assert night is not None
        cases = _continued(given.found, night, request.max_partitions)
        facts, shown, names = _facts(cases, given.facts, night)
        settings = Settings(
            cluster=request.cluster,
            facts=facts,
            claim_rule=request.claim_rule,
            assignors=selection(request.assignors),
            are_optima_judged=True,
        )
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(cases, saved := Path(folder, "cases.parquet"))
            read = night.read(rows_of_night([saved]), told.append)
            judged = judged_as_one(cases, settings, Path(folder, "judged.parquet"))
            night.write(
                NightResult(
                    saved=[saved],
                    judged=judged,
                    read=read,
                    counts=shown,
                    names=names,
                    history_end=facts.history_end,
                    started=datetime.now(UTC),
                    rows_read=counted(cases, READ),
                    rows_repeated=counted(cases, REPEATED),
                )
            )
        _fill(out, night)
    return told


def _fill(out: Path, night: Night) -> None:
    """Write the tables of a store into a new folder."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in SCHEMAS:
        night.stored().fill(name, out / name)
    (out / "history.json").write_text(json.dumps(night.described()))


def _continued(found: FoundSources, night: Night, most: int) -> pa.Table:
    rows = [*read_found(found, most), *unknown_rows(found.unknown)]
    stored = batches_of_pieces(pieces_of(night.carried()), most)
    batches = night.select()(chain(batches_of(rows), stored))
    given = in_batches(pa.Table.from_batches(batches, ROWS))
    return pa.Table.from_batches(continued_batches(given), ROWS)


def _facts(cases: pa.Table, facts: ClusterFacts, night: Night) -> Any:
    stated = names_of_ids(
        (row["key"], row["record"]) for row in of_kind(cases, TOPIC_ID)
    )
    names = {**stated, **facts.names}
    shown = known_counts(map(sighting_of, of_kind(cases, TOPIC)), names)
    ends = [row["at"] for row in of_kind(cases, READ)]
    found = replace(
        facts,
        counts=replace(facts.counts, shown=shown),
        names=names,
        history_end=last_of([*ends, night.latest]),
    )
    return found, shown, stated
