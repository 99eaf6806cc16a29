"""Cases and quarantine of histories, as snapshots, and by both ways of reading."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from pipeline.cases import pack, unpack
from pipeline.sources.rows import MISSING
from tests.pipeline.classic_histories import CLASSIC
from tests.pipeline.consumer_groups import Replayed, rebuild_rows, rows_of
from tests.pipeline.consumer_histories import CONSUMER
from tests.pipeline.groups import START_MS
from tests.pipeline.same_histories import check
from tests.support.snapshots import check_snapshot

HISTORIES = CLASSIC | CONSUMER
TIMES = ("at", "until", "started_at")
EQUAL = ("group_id", "source", "source_kind", "source_partition", "key", "raw_bytes")
"""Fields that are equal in all histories, or those of the record."""


def told(found: Replayed) -> Iterator[str]:
    """Tell everything that is known of each case, and what is missing."""
    for case in found.cases:
        yield f"case {_stated(dataclasses.replace(case, members=None, episode=None))}"
        for name, member in sorted((case.members or {}).items()):
            yield f"  {name}: {_stated(member)}"
        if case.episode is not None:
            yield f"  episode: {_stated(case.episode)}"
    for row in found.quarantined:
        value = row["value"] if row["what"] == MISSING else None
        yield f"quarantined {_listed({**dict(sorted(row.items())), 'value': value})}"


def _stated(thing: Any) -> str:
    """List the fields that differ from their defaults."""
    fields = dataclasses.fields(thing)
    values = {field.name: getattr(thing, field.name) for field in fields}
    return _listed(
        {f.name: values[f.name] for f in fields if values[f.name] != f.default}
    )


def _listed(values: dict[str, Any]) -> str:
    """List values; times are milliseconds since the first record."""
    since = {name: values[name] - START_MS for name in TIMES if values.get(name)}
    known = {name: value for name, value in values.items() if value is not None}
    return ", ".join(
        f"{name}={value}"
        for name, value in (known | since).items()
        if name not in EQUAL
    )


def test_names_are_those_of_one_history() -> None:
    assert len(HISTORIES) == len(CLASSIC) + len(CONSUMER)


@pytest.mark.parametrize("name", HISTORIES)
def test_histories(name: str) -> None:
    rows = rows_of(*HISTORIES[name])
    check(rows, Random(0))  # noqa: S311
    found = rebuild_rows(rows)
    check_snapshot(f"histories/{name}.txt", "\n".join([*told(found), ""]))
    for case in found.cases:
        assert unpack(pack(case)) == case
