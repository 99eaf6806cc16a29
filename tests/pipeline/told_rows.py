"""Tell rows of cases and of quarantine in lines of text, for snapshots."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pipeline.cases import Case, unpack
from pipeline.rows import CASE, MISSING, QUARANTINED, Row
from pipeline.topic_names import with_names
from tests.pipeline.groups import START_MS

TIMES: Final = ("at", "until", "started_at", "last_commit_at")
LEFT_OUT: Final = {"source_kind", "source_partition", "key", "raw_bytes", "unfinished"}
"""Fields that do not vary, or are those of the record."""
NOTHING: Final[dict[str, str]] = {}
NAMED: Final = ("line", "message")


def told(rows: Iterable[Row], names: Mapping[str, str] = NOTHING, **usual: str) -> str:
    """Tell all fields that differ from their defaults, or from the ``usual`` ones.

    Times are milliseconds since the first record of a history. ``names`` are those of
    topics by id.
    """
    lines = (line for row in rows for line in _lines(row, names, usual))
    return "".join(f"{line}\n" for line in lines)


def _lines(row: Row, names: Mapping[str, str], usual: dict[str, Any]) -> Iterator[str]:
    if row["what"] == CASE:
        yield from _of_case(with_names(unpack(row["value"]), names), usual)
    elif row["what"] in QUARANTINED:
        is_told = row["what"] == MISSING or row["record"] in NAMED
        value = row["value"] if is_told else None
        values = dict(sorted(row.items())) | {"value": value}
        yield f"quarantined {_listed(values, usual)}"


def _of_case(case: Case, usual: dict[str, Any]) -> Iterator[str]:
    whole = dataclasses.replace(case, members=None, episode=None)
    yield f"case {_stated(whole, usual)}"
    for name, member in sorted((case.members or {}).items()):
        yield f"  {name}: {_stated(member, usual)}"
    if case.episode is not None:
        yield f"  episode: {_stated(case.episode, usual)}"


def _stated(thing: Any, usual: dict[str, Any]) -> str:
    default = {field.name: field.default for field in dataclasses.fields(thing)}
    values = {name: getattr(thing, name) for name in default}
    return _listed(values, default | usual)


def _listed(values: dict[str, Any], usual: dict[str, Any]) -> str:
    since = {name: values[name] - START_MS for name in TIMES if values.get(name)}
    return ", ".join(
        f"{name}={value}"
        for name, value in (values | since).items()
        if name not in LEFT_OUT and value not in (None, usual.get(name))
    )
