"""A snapshot fails with the difference, and is written anew on request only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import snapshots
from tests.support.snapshots import check_snapshot


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ORACLE_RENEW", raising=False)
    monkeypatch.setattr(snapshots, "TESTS", tmp_path)
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    (tmp_path / "it.txt").write_text("a\nb\n")
    return tmp_path


def test_a_difference_fails_and_is_shown(folder: Path) -> None:
    check_snapshot("it.txt", "a\nb\n")
    with pytest.raises(pytest.fail.Exception, match=r"-b\n\+c"):
        check_snapshot("it.txt", "a\nc\n")
    with pytest.raises(pytest.fail.Exception, match=r"\+new"):
        check_snapshot("missing.txt", "new")
    assert [path.name for path in folder.iterdir()] == ["it.txt"]


def test_on_request_it_is_written_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_RENEW", "1")
    check_snapshot("new/it.txt", "new\n")
    assert (folder / "new" / "it.txt").read_text() == "new\n"
