"""What a night draws, what it runs, and when it records its commit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.tools.repositories import git, repository
from tools import nightly

NIGHT = date(2026, 11, 25)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one commit."""
    folder = repository(tmp_path / "checkout", {".gitignore": "ran\n"})
    monkeypatch.setattr(nightly, "ROOT", folder)
    return folder


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the commits that are recorded, with the words after them."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(
        nightly, "write_passed", lambda commit, words: found.append((commit, words))
    )
    return found


def running(monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    """Let programs run that do this in the place of mutation and tests."""
    note = "import os; open('ran', 'a').write(os.environ['ORACLE_FIRST_SEED'] + '\\n')"
    programs = [[sys.executable, "-c", f"{note}; {code}"] for code in codes]

    def commands(_night: date) -> Sequence[Sequence[str]]:
        return programs

    monkeypatch.setattr(nightly, "commands", commands)


def test_windows_of_nights_are_disjoint_and_days_apart_differ() -> None:
    tomorrow = NIGHT + timedelta(days=1)
    first, second = nightly.first_seed(NIGHT), nightly.first_seed(tomorrow)
    assert second - first == nightly.INSTANCES == 50_000
    assert first > 8_000  # the instances of every other run
    assert nightly.environment(NIGHT)["ORACLE_FIRST_SEED"] == str(first)


def test_pytest_is_last_and_selects_no_marks() -> None:
    *others, last = nightly.commands(NIGHT)
    assert [command[2] for command in (*others, last)] == ["tools.mutation", "pytest"]
    assert "-m" not in last[3:]
    assert f"--hypothesis-seed={nightly.first_seed(NIGHT)}" in last


def test_a_night_that_passes_on_a_clean_checkout_records_its_commit(
    checkout: Path,
    recorded: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running(monkeypatch, "", "")
    assert nightly.main(["--date", "2026-11-25"]) == 0
    assert recorded == [(git(checkout, "rev-parse", "HEAD"), "2026-11-25, 0 min")]
    seeds = (checkout / "ran").read_text().split()
    assert seeds == [str(nightly.first_seed(NIGHT))] * 2


@pytest.mark.parametrize("failing", [0, 1])
def test_all_runs_also_after_one_that_fails(
    checkout: Path,
    recorded: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failing: int,
) -> None:
    codes = ["", ""]
    codes[failing] = "raise SystemExit(1)"
    running(monkeypatch, *codes)
    assert nightly.main(["--date", "2026-11-25"]) == 1
    assert recorded == []
    assert len((checkout / "ran").read_text().split()) == 2
    assert "`--date 2026-11-25` repeats it" in capsys.readouterr().out


def test_changes_that_no_commit_has_are_not_recorded(
    checkout: Path,
    recorded: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (checkout / "new").touch()
    running(monkeypatch, "", "")
    assert nightly.main([]) == 0
    assert recorded == []
