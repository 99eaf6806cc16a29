"""Comparisons of the nights of a store equal those of the folders after each night.

Reaches into `pipeline.nights`, to write a store without Spark.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from oracle.audit_diff import AuditDiff, diff_of_last_night, diff_of_store
from rebalance import SourceError
from tests.pipeline.nights.local_nights import local_night
from tests.pipeline.nights.test_night_tables import (
    ASSIGNORS,
    TOPICS,
    night_of,
    recorded,
)


def nights_of(folder: Path, count: int) -> tuple[Path, Path]:
    """Write the recording as nights of equally many records; return store and out."""
    records = sorted(recorded(), key=lambda record: record["timestamp"])
    store, out = folder / "store", folder / "out"
    size = -(-len(records) // count)
    for number in range(count):
        part = records[number * size : (number + 1) * size]
        path = night_of(folder / "nights", number, part)
        local_night([path], store, out, topics=TOPICS, assignors=ASSIGNORS)
    return store, out


@pytest.mark.heavy
def test_a_store_and_its_out_yield_the_same(tmp_path: Path) -> None:
    store, out = nights_of(tmp_path, 3)
    history = json.loads((out / "history.json").read_bytes())
    newest = [entry["newest_record"] for entry in history["audits"]]
    assert newest == sorted(set(newest))
    last = diff_of_store(store)
    assert last == diff_of_last_night(out, history)
    assert last.old.rebalances
    assert last.new.rebalances
    before = datetime.fromisoformat(last.new.since)
    assert since(store, before) == of_new_period(last)
    with pytest.raises(SourceError, match="does not divide them"):
        diff_of_store(store, datetime.fromisoformat("2020-01-01T00:00Z"))


def since(store: Path, at: datetime) -> dict[str, object]:
    return of_new_period(diff_of_store(store, at))


def of_new_period(diff: AuditDiff) -> dict[str, object]:
    """Return the parts that do not depend on where the old period begins."""
    document = diff.to_document()
    return {name: document[name] for name in ("new", "gone", "invalid", "findings")}


@pytest.mark.heavy
def test_one_night_has_nothing_to_compare(tmp_path: Path) -> None:
    store, out = nights_of(tmp_path, 1)
    with pytest.raises(SourceError, match="has no earlier audit"):
        diff_of_store(store)
    history = json.loads((out / "history.json").read_bytes())
    assert diff_of_last_night(out, history) is None
    (store / "store.json").write_text("{}")
    with pytest.raises(SourceError, match="not the state of a store"):
        diff_of_store(store)
