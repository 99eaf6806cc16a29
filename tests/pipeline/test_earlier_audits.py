"""What an audit has written is no source of the next one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.sources.find import find_sources
from rebalance import SourceError
from tests.oracle.report.scenes import small_audit
from tests.pipeline.test_sources import LOG, jsonl


def names(folder: Path) -> list[str]:
    found = find_sources([folder])
    assert found.unknown == []
    return [file.name for file in found.files]


@pytest.mark.parametrize("below", ["", "out", "a/b"])
def test_an_audit_among_the_sources_is_skipped(tmp_path: Path, below: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "records.jsonl").write_text(jsonl(LOG.records))
    place = source / below
    small_audit().write(place)
    assert (place / "rebalances").is_dir()
    assert names(source) == ["source/records.jsonl"]
    shutil.copy(source / "records.jsonl", place / "more.jsonl")  # a source beside it
    assert len(names(source)) == 2


def test_tables_without_a_manifest_are_sources(tmp_path: Path) -> None:
    """Only what is certain to be an audit is skipped."""
    small_audit().write(tmp_path / "audit")
    (tmp_path / "audit/audit.json").write_text('{"format": "another"}')
    (tmp_path / "audit/records.jsonl").write_text(jsonl(LOG.records))
    found = find_sources([tmp_path / "audit"])
    assert any("rebalances/" in str(error) for error in found.unknown)


def test_an_audit_alone_is_no_source(tmp_path: Path) -> None:
    small_audit().write(tmp_path / "audit")
    with pytest.raises(SourceError, match="only the output of an audit"):
        find_sources([tmp_path / "audit"])
