"""Audits with ``--history`` on Spark: the rows of `local_night`, and interruptions."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.audit import AuditRequest, audit, night
from tests.pipeline.nights.local_nights import local_night
from tests.pipeline.nights.test_night_tables import (
    ASSIGNORS,
    TOPICS,
    check_tables,
    divided,
    night_of,
    recorded,
)

pytestmark = pytest.mark.heavy


def test_nights_on_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second night is interrupted once its rows are judged, and continued."""
    nights = divided(recorded(), Random(7), 2)  # noqa: S311
    options: dict[str, Any] = {"topics": TOPICS, "assignors": ASSIGNORS}
    store, out, told = tmp_path / "store", tmp_path / "out", list[str]()
    request = AuditRequest(
        sources=[tmp_path / "nights"], out=out, history=store, tasks=3, **options
    )
    for number, records in enumerate(nights):
        night_of(tmp_path / "nights", number, records)
        if number:
            with monkeypatch.context() as patch:
                patch.setattr(night, "with_causes", _interrupted)
                with pytest.raises(KeyboardInterrupt):
                    audit(request, tell=told.append)
        found = audit(request, tell=told.append)
        local_night(
            request.sources, tmp_path / "local-store", tmp_path / "local", **options
        )
    check_tables(out, tmp_path / "local")
    assert any(line.startswith("continuing: ") for line in told), told
    state = json.loads((store / "store.json").read_bytes())
    manifest = json.loads((out / "audit.json").read_bytes())
    assert manifest["history"]["audits"] == state["audits"]
    assert [entry["night"] for entry in state["audits"]] == [1, 2]
    assert manifest["rows_read"] == len(recorded())
    assert manifest["rows"] == found.rows
    once = sorted(path for path in store.rglob("*") if path.is_file())
    assert audit(request).rows == found.rows
    assert sorted(path for path in store.rglob("*") if path.is_file()) == once


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
