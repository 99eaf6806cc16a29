"""The audit's column of causes: that of tables in memory, however runs are divided.

Reaches into ``pipeline.audit`` to write judged runs, and to compare a few groups at a
time.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.audit import cause_column, sorting
from pipeline.audit.judged import JUDGED, JudgedRuns, judged_batches
from pipeline.audit.table_rows import table_rows
from pipeline.causes import causes_of_tables
from pipeline.tables import SCHEMAS
from tests.pipeline.causes.drawn_groups import Row, drawn_group, tables_of

DOCUMENT = {"rebalance_id": "doc", "group_id": "g1", "source_kind": "rebalance"}


def runs_of(path: Path, rng: Random, tables: dict[str, list[Row]]) -> JudgedRuns:
    """Write rows as judged runs, in any order."""
    with pq.ParquetWriter(path, JUDGED) as file:
        for name, rows in tables.items():
            mixed = rng.sample(rows, len(rows))
            for part in range(4):
                items = pa.Table.from_pylist(mixed[part::4], SCHEMAS[name])
                found = ((name, batch) for batch in items.to_batches(50))
                for batch in judged_batches(part, found):
                    file.write_batch(batch)
    return JudgedRuns([path])


@pytest.mark.parametrize("at_once", [1, 1 << 20])
def test_the_column_is_that_of_tables_in_memory(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(at_once)  # noqa: S311
    groups = [drawn_group(rng, f"g{number}", 30) for number in range(6)]
    wanted = dict(
        zip(
            [row["rebalance_id"] for group in groups for row in group.rows],
            causes_of_tables(*tables_of(*groups)).to_pylist(),
            strict=True,
        )
    )
    key = {"cluster": "c", "date": "2026-11-24"}
    rows = [key | row for group in groups for row in group.rows]
    state = {"rebalance_id": "state", "group_id": "g1", "member_id": "m"}
    members = [key | row for group in groups for row in group.members]
    tables = {
        "rebalances": [key | DOCUMENT, *rows],
        "members": [*members, key | state],
    }
    monkeypatch.setattr(cause_column, "MEMBERS_AT_ONCE", at_once)
    monkeypatch.setattr(sorting, "RANGE_BYTES", 2_000)
    judged = runs_of(tmp_path / "judged.parquet", rng, tables)
    found = pa.concat_tables(table_rows(judged, "rebalances"))
    (unknown,) = found.filter(pa.compute.equal(found["rebalance_id"], "doc"))[
        "causes"
    ].to_pylist()
    assert [entry["kind"] for entry in unknown] == ["unknown"]
    causes = zip(
        found["rebalance_id"].to_pylist(), found["causes"].to_pylist(), strict=True
    )
    assert {name: entry for name, entry in causes if name != "doc"} == wanted
    assert found.schema == SCHEMAS["rebalances"]


def test_an_audit_without_rebalances_has_no_causes(tmp_path: Path) -> None:
    judged = runs_of(tmp_path / "judged.parquet", Random(0), {})  # noqa: S311
    assert sum(map(len, table_rows(judged, "rebalances"))) == 0
