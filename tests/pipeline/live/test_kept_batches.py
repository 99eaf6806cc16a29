"""Folders of kept batches are merged, and the process is killed before each step."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from pipeline.files import LocalStore
from pipeline.following import batch_ranges
from pipeline.following.batch_ranges import BatchRange
from pipeline.following.kept_batches import KeptBatches
from rebalance import OutputError
from tests.pipeline.live.test_batch_ranges import digits
from tests.support.killing import killed_at

FAN_IN = 4
"""Instead of 16, so that there are fewer steps."""


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill loses nothing that was written; only a loss of power does."""
    monkeypatch.setattr(os, "fsync", lambda _file: None)


@pytest.fixture(autouse=True)
def small_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_ranges, "FAN_IN", FAN_IN)


def batches(folder: Path) -> KeptBatches:
    return KeptBatches(f"file:{folder}", LocalStore())


def write(folders: list[str], temporary_folder: str) -> None:
    """Merge as Spark does, with one record per line: all of them into one file."""
    read = [record for folder in folders for record in records_in([folder])]
    target = Path(temporary_folder.removeprefix("file:"))
    target.mkdir(parents=True)
    (target / "part-0").write_text("".join(f"{record}\n" for record in sorted(read)))
    (target / "_SUCCESS").write_text("")


def records_in(folders: list[str]) -> list[int]:
    """Read folders as Spark does: all files whose names are not hidden."""
    return [
        int(line)
        for folder in folders
        for path in sorted(Path(folder.removeprefix("file:")).iterdir())
        if not path.name.startswith(("_", "."))
        for line in path.read_text().splitlines()
    ]


def keep(folder: Path, number: int) -> None:
    """Keep a batch of three records, in two files."""
    kept = batches(folder)
    batch = BatchRange(number, number)
    temporary_folder = kept.temporary_folder(batch)
    target = Path(temporary_folder.removeprefix("file:"))
    target.mkdir(parents=True)
    (target / "part-0").write_text(f"{3 * number}\n{3 * number + 1}\n")
    (target / "part-1").write_text(f"{3 * number + 2}\n")
    kept.place(temporary_folder, batch)


def expected(count: int) -> list[int]:
    return list(range(3 * count))


def folder_with(folder: Path, tiers: int) -> int:
    """Keep folders that are merged into one of this tier, and one more batch.

    Returns
    -------
    int
        Number of batches.
    """
    size: int = FAN_IN ** (tiers - 1)
    for number in range(size * FAN_IN + 1):
        keep(folder, number)
        if number < size * FAN_IN - 1:
            batches(folder).merge(number + 1, write)
    return size * FAN_IN + 1


def merge_killed(folder: Path, count: int, steps: int) -> bool:
    """Merge, killed after a number of steps; return whether it was."""
    return killed_at(steps + 1, lambda: batches(folder).merge(count, write))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.heavy
def test_files_are_few_after_many_batches(tmp_path: Path) -> None:
    for number in range(2 * FAN_IN**3 + 3):
        keep(tmp_path, number)
        batches(tmp_path).merge(number + 1, write)
    kept, whole = batches(tmp_path), FAN_IN**3
    last = [f"batch={2 * whole + n}" for n in range(3)]
    merged = [f"batches=0-{whole - 1}", f"batches={whole}-{2 * whole - 1}"]
    assert names(tmp_path) == sorted([*last, *merged, "_merged"])
    assert names(tmp_path / "_merged") == merged
    assert sorted(records_in(kept.folders())) == expected(2 * whole + 3)
    assert kept.merge(2 * whole + 3, write) == 0


@pytest.mark.heavy
@pytest.mark.parametrize("tiers", [1, 2, 3], ids=["single", "merged", "merged twice"])
def test_a_kill_before_any_step_loses_and_repeats_nothing(
    tmp_path: Path, tiers: int
) -> None:
    """At every moment, the folders that count have each record exactly once."""
    count = folder_with(tmp_path / "before", tiers)
    whole = f"batches=0-{count - 2}"
    for steps in range(10_000):
        folder = tmp_path / "killed"
        shutil.copytree(tmp_path / "before", folder)
        is_killed = merge_killed(folder, count, steps)
        assert sorted(records_in(batches(folder).folders())) == expected(count)
        again = batches(folder)
        again.clear()
        assert sorted(records_in(again.folders())) == expected(count)
        assert not [name for name in names(folder) if name.startswith(".")]
        again.merge(count, write)
        assert sorted(records_in(again.folders())) == expected(count)
        assert names(folder) == ["_merged", f"batch={count - 1}", whole]
        assert names(folder / "_merged") == [whole]
        shutil.rmtree(folder)
        if not is_killed:
            break
    assert steps > 3 * FAN_IN  # among them each file of the folders that are replaced


@pytest.mark.heavy
def test_kills_can_follow_one_another(tmp_path: Path) -> None:
    """Also while what a kill has left is deleted."""
    random_kills = random.Random(5)  # noqa: S311
    count = 0
    for _ in range(70):
        keep(tmp_path, count)
        count += 1
        while merge_killed(tmp_path, count, random_kills.randrange(40)):
            assert sorted(records_in(batches(tmp_path).folders())) == expected(count)
            killed_at(random_kills.randrange(30) + 1, batches(tmp_path).clear)
        assert sorted(records_in(batches(tmp_path).folders())) == expected(count)
    assert len(batches(tmp_path).ranges()) == digits(count, FAN_IN)


def test_what_is_not_committed_is_not_merged(tmp_path: Path) -> None:
    """The batch after the last committed one will be written again."""
    for number in range(FAN_IN):
        keep(tmp_path, number)
    assert batches(tmp_path).merge(FAN_IN - 1, write) == 0
    keep(tmp_path, FAN_IN - 1)
    assert batches(tmp_path).merge(FAN_IN, write) == 1
    assert sorted(records_in(batches(tmp_path).folders())) == expected(FAN_IN)


def test_a_merged_folder_without_its_note_does_not_count(tmp_path: Path) -> None:
    """As a rename that copies leaves it, with some of its files."""
    for number in range(FAN_IN):
        keep(tmp_path, number)
    partial = tmp_path / f"batches=0-{FAN_IN - 1}"
    partial.mkdir()
    (partial / "part-0").write_text("0\n")
    assert sorted(records_in(batches(tmp_path).folders())) == expected(FAN_IN)
    batches(tmp_path).clear()
    assert not partial.exists()


def test_a_note_without_its_folder_replaces_nothing(tmp_path: Path) -> None:
    for number in range(FAN_IN):
        keep(tmp_path, number)
    (tmp_path / "_merged" / f"batches=0-{FAN_IN - 1}").mkdir(parents=True)
    batches(tmp_path).clear()
    assert sorted(records_in(batches(tmp_path).folders())) == expected(FAN_IN)
    assert names(tmp_path / "_merged") == []


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    for number in range(FAN_IN):
        keep(tmp_path, number)
    (tmp_path / "_merged").write_text("")  # no folder: notes cannot be made
    with pytest.raises(OutputError, match=str(tmp_path)):
        batches(tmp_path).merge(FAN_IN, write)
    assert sorted(records_in(batches(tmp_path).folders())) == expected(FAN_IN)


def test_a_merged_folder_is_on_the_disk_before_what_it_replaces_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a loss of power could lose both."""
    for number in range(FAN_IN):
        keep(tmp_path, number)
    done: list[tuple[str, str]] = []
    rmtree = shutil.rmtree

    def sync(file: int) -> None:
        done.append(("sync", Path(f"/proc/self/fd/{file}").readlink().name))

    def remove(folder: Path, *, ignore_errors: bool) -> None:
        if folder.exists():
            done.append(("delete", folder.name))
        rmtree(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(shutil, "rmtree", remove)
    batches(tmp_path).merge(FAN_IN, write)
    before = done[: next(n for n, step in enumerate(done) if step[0] == "delete")]
    temporary_folder = done[2][1]
    assert {name for _, name in before[:3]} == {"part-0", "_SUCCESS", temporary_folder}
    assert temporary_folder.startswith(f".batches=0-{FAN_IN - 1}-")
    assert [name for _, name in before[3:]] == [tmp_path.name, "_merged"]
    assert len(done) == len(before) + FAN_IN
