"""``--since``, ``--until``, ``--group``: rows of the whole audit, and no others."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.audit import AuditRequest, AuditSummary
from pipeline.tables import SCHEMAS, read_table
from rebalance import SourceError
from tests.oracle.report.histories import drawn_sources, write_sources
from tests.pipeline.audit_files import manifest_of, mixed_sources
from tests.pipeline.groups import START_MS, Log
from tests.pipeline.local_audit import local_audit
from tests.support.examples import one_in

BEGIN = datetime.fromtimestamp(START_MS / 1000, UTC)
TIMES = st.none() | st.integers(-1, 24).map(lambda s: BEGIN + timedelta(seconds=s / 2))
NAMES = st.sampled_from(
    ((), (), ("g-1",), ("g-*",), ("*-2", "absent"), ("g-1", "g-2"), ("*1*",), ("g.1",))
)
Row = dict[str, Any]


def is_asked_for(row: Row, options: dict[str, Any]) -> bool:
    """Return whether a rebalance or a snapshot is in the window, and of the groups."""
    names = options["groups"]
    patterns = [re.escape(name).replace(r"\*", ".*") for name in names]
    if names and not any(re.fullmatch(part, row["group_id"]) for part in patterns):
        return False
    since, until, at = options["since"], options["until"], row["at"]
    if since is None and until is None:
        return True
    return (
        at is not None
        and (since is None or since <= at)
        and (until is None or at < until)
    )


def expected_tables(whole: AuditSummary, options: dict[str, Any]) -> dict[str, Any]:
    """Select the rows of a whole audit that belong to what is asked for."""
    rows = {name: read_table(Path(whole.out), name).to_pylist() for name in SCHEMAS}
    kept: dict[str, Any] = {
        name: [row for row in rows[name] if is_asked_for(row, options)]
        for name in ("rebalances", "snapshots")
    }
    ids = {row["rebalance_id"] for row in kept["rebalances"]}
    states = {row["snapshot_id"] for row in kept["snapshots"]}
    for name in ("answers", "members"):
        kept[name] = [row for row in rows[name] if row["rebalance_id"] in ids | states]
    kept["episodes"] = [
        row for row in rows["episodes"] if row["last_rebalance_id"] in ids
    ]
    return kept | {"quarantine": rows["quarantine"]}


def check_choice(sources: list[Path], options: dict[str, Any]) -> Counter[str]:
    """Compare an audit of a choice with the whole one; return what is left out."""
    with TemporaryDirectory() as folder:
        whole = local_audit(sources, Path(folder) / "whole")
        chosen = local_audit(sources, Path(folder) / "chosen", **options)
        expected = expected_tables(whole, options)
        assert expected.keys() == SCHEMAS.keys()
        for name in SCHEMAS:
            assert read_table(Path(chosen.out), name).to_pylist() == expected[name]
        both = ("rebalances", "snapshots")
        others = sum(whole.rows[name] - chosen.rows[name] for name in both)
        assert sum(chosen.left_out.values()) == others
        assert manifest_of(chosen)["rows_read"] == manifest_of(whole)["rows_read"]
        return Counter(chosen.left_out)


@pytest.mark.heavy
@one_in(6)
@given(drawn=drawn_sources(), since=TIMES, until=TIMES, groups=NAMES, seed=st.data())
def test_a_choice_has_the_rows_of_the_whole_audit(
    drawn: tuple[Log, str],
    since: datetime | None,
    until: datetime | None,
    groups: tuple[str, ...],
    seed: st.DataObject,
) -> None:
    """With text or without, some records without a time."""
    if since is not None and until is not None:
        since, until = min(since, until), max(since, until) + timedelta(seconds=1)
    log, text = drawn
    has_text, lacks_times = seed.draw(st.booleans()), seed.draw(st.booleans())
    for record in log.records[:: 3 if lacks_times else len(log.records) + 1]:
        del record["timestamp"]
    with TemporaryDirectory() as folder:
        (place,) = write_sources(Path(folder) / "sources", log, text)
        if not has_text and log.records:
            (place / "all.txt").unlink()
        options = {"since": since, "until": until, "groups": groups}
        check_choice([place], options)


def test_every_kind_of_source(tmp_path: Path) -> None:
    """Records, text and documents of it, and damage, which stays in quarantine."""
    sources = [mixed_sources(tmp_path / "mixed")]
    options: dict[str, Any] = {"since": None, "until": None, "groups": ("g-*",)}
    assert check_choice(sources, options) == {"other-group": 20}
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    options = {"since": begin, "until": None, "groups": ()}
    assert check_choice(sources, options)["no-time"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["a", ""]}, "groups: an empty name of a group"),
        ({"since": datetime(2026, 1, 1)}, "since: a time without a zone"),
        (
            {"since": BEGIN, "until": BEGIN},
            "since: 2023-11-14T22:13:20Z is not before until, 2023-11-14T22:13:20Z",
        ),
    ],
)
def test_a_choice_of_nothing_is_an_error(options: Row, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        _ = AuditRequest(sources=(), out="", **options).choice
    assert str(caught.value) == message
