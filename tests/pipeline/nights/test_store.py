"""The files of a store: one night at a time, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.audit.merging import merge_files
from pipeline.files import LocalStore, local_path
from pipeline.nights import AuditEntry, StoreState, linked_tables
from pipeline.nights.cause_context import no_context
from pipeline.nights.history_store import Carry, HistoryStore, opened_store
from pipeline.nights.marks import ReadMark
from pipeline.nights.store_files import FINAL, MERGED, MOST_NIGHTS, OPEN, first_day
from pipeline.nights.store_state import MOST_AUDITS, read_state
from pipeline.nights.stored_rows import StoredRows
from pipeline.rows import RECORD, ROWS
from pipeline.sources.parquet_tables import stored_batches
from pipeline.sources.source_pieces import pieces_of
from pipeline.tables import SCHEMAS, read_table
from rebalance import OutsideError, SourceError
from tests.support.killing import killed_at

TABLE = "quarantine"
OPTIONS = {"cluster": "c", "assignors": ["range"]}


class CopyingStore(LocalStore):
    """Folders of this machine as if they were remote: copied here and there."""

    @contextmanager
    def here(self, uri: str, names: Iterable[str]) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as scratch:
            for name in names:
                target = Path(scratch, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((local_path(uri) / name).read_bytes())
            yield Path(scratch)


def entry(number: int) -> AuditEntry:
    return AuditEntry(
        night=number,
        started="2026-11-29T00:00:00+00:00",
        finished="2026-11-29T00:00:01+00:00",
        rows_read=1,
        rows_repeated=0,
        records=1,
        rebalances=1,
        sources=["s"],
    )


def rows(text: str, day: str, line: int | None = None) -> pa.Table:
    row = dict.fromkeys(SCHEMAS[TABLE].names)
    row |= {"cluster": "c", "date": day, "reason": text, "records": 1}
    row["source_offset"] = line
    return pa.Table.from_pylist([row], SCHEMAS[TABLE])


def write_night(
    store: HistoryStore,
    text: str,
    *,
    day: str = "2026-11-29",
    keep: int | None = None,
    line: int | None = None,
) -> None:
    """Add a night, all of whose files have one text."""
    number = store.state.night + 1
    store.write(TABLE, FINAL, [rows(text, day, line)])
    store.write(TABLE, OPEN, [rows(text, day, line)])
    row = dict.fromkeys(ROWS.names) | {"what": RECORD, "reason": text}
    records = [pa.Table.from_pylist([row], ROWS)]
    store.write_carry(Carry(records=records, topics=[], context=no_context()))
    first = first_day(store.all_files(), keep)
    merge_files(store, first, "c")
    state = store.state.after(
        entry(number),
        options=OPTIONS,
        marks={3: ReadMark(next=number, latest=7)},
        first_day=first,
    )
    store.commit(state)
    store.clear()


def texts_of(store: HistoryStore) -> list[str]:
    """Return the texts of the files that count: the carry, then final, then open."""
    found = [
        reason
        for pieces in pieces_of(store.carried())
        for batch in stored_batches(pieces[0])
        for reason in batch.column("reason").to_pylist()
    ]
    with store.here(store.files()) as folder:
        for file in sorted(store.files(), key=lambda file: (file.kind, file.night)):
            table = pq.ParquetFile(folder / file.path).read()
            found += table["reason"].to_pylist()
    return found


def add_night(folder: Path, store: LocalStore, text: str) -> None:
    with opened_store(folder, store) as opened:
        write_night(opened, text)


def test_nights_add_final_rows_and_replace_open_ones(tmp_path: Path) -> None:
    for number, text in enumerate("abc", 1):
        add_night(tmp_path, LocalStore(), text)
        with opened_store(tmp_path, LocalStore()) as store:
            assert texts_of(store) == [text, *"abc"[:number], text]
            assert store.state.night == number
            assert store.state.marks == {3: ReadMark(next=number, latest=7)}
            assert [audit.night for audit in store.state.audits] == [
                *range(1, number + 1)
            ]
            assert store.context().tables["members"].num_rows == 0


@pytest.mark.heavy
@pytest.mark.parametrize("store", [LocalStore(), CopyingStore()])
def test_a_night_that_is_killed(store: LocalStore, tmp_path: Path) -> None:
    """The store is that of the night before, or of this one; it can be continued."""
    change, is_killed, seen = 0, True, set[int]()
    while is_killed:
        change += 1
        folder = tmp_path / str(change)
        add_night(folder, LocalStore(), "old")
        is_killed = killed_at(change, partial(add_night, folder, store, "new"))
        with opened_store(folder, LocalStore()) as opened:
            night = opened.state.night
            expected = ["old"] * 3 if night == 1 else ["new", "old", "new", "new"]
            assert texts_of(opened) == expected, change
            seen.add(night)
            write_night(opened, "next")
            assert opened.state.night == night + 1
            paths = {path.name for path in folder.rglob("*") if path.is_file()}
            assert not {name for name in paths if name[0] == "."} - {".history-lock"}, (
                change
            )
            assert sum("open-" in name for name in paths) == 1, change
            assert sum("night-" in name for name in paths) == night + 1, change
    assert seen == {1, 2}


@pytest.mark.heavy
@pytest.mark.parametrize("store", [LocalStore(), CopyingStore()])
def test_a_kill_while_files_are_merged(store: LocalStore, tmp_path: Path) -> None:
    """The rows are those before, or with the new night, whatever is left behind."""
    base, texts = tmp_path / "base", [str(number) for number in range(MOST_NIGHTS)]
    for text in texts:
        add_night(base, LocalStore(), text)
    change, is_killed, seen = 0, True, set[int]()
    while is_killed:
        change += 1
        shutil.copytree(base, folder := tmp_path / str(change))
        is_killed = killed_at(change, partial(add_night, folder, store, "new"))
        with linked_tables(folder) as (linked, state):
            night = state.night
            final = [*texts, "new"][:night]
            expected = [*final, final[-1]]
            found = read_table(linked, TABLE)["reason"].to_pylist()
            assert sorted(found) == sorted(expected), change
        with opened_store(folder, LocalStore()) as opened:
            assert texts_of(opened) == [final[-1], *expected], change
            paths = {path.name for path in folder.rglob("*") if path.is_file()}
            count = 1 if night > MOST_NIGHTS else MOST_NIGHTS
            assert sum("night" in name for name in paths) == count, change
            seen.add(night)
            write_night(opened, "next")
            assert texts_of(opened) == ["next", *final, "next", "next"], change
    assert seen == {MOST_NIGHTS, MOST_NIGHTS + 1}


def test_many_nights_are_few_files(tmp_path: Path) -> None:
    """Of each table and day, with all rows, in the store and in its copies."""
    rng, kept = Random(5), list[tuple[str, str]]()  # noqa: S311
    with opened_store(tmp_path / "store", LocalStore()) as store:
        for number in range(40):
            day = f"2026-11-{25 + min(number // 10, rng.randrange(5))}"
            write_night(store, str(number), day=day)
            kept.append((day, str(number)))
            whole = Counter([*kept, kept[-1]])  # the final row, and the open one
            assert days_and_texts(store) == whole
            final = [file for file in store.files() if file.kind == FINAL]
            days = Counter(file.folder for file in final)
            assert max(days.values()) <= MOST_NIGHTS
            paths = [*(tmp_path / "store" / "tables").rglob("*.parquet")]
            assert len(paths) == len(store.files())
        assert any(file.name.startswith(MERGED) for file in final)
        StoredRows(store).fill(TABLE, tmp_path / TABLE)
        copied = read_table(tmp_path, TABLE).select(["date", "reason"])
        assert Counter(tuple(row.values()) for row in copied.to_pylist()) == whole


def days_and_texts(store: HistoryStore) -> Counter[tuple[str, str]]:
    return Counter(
        (row["date"], row["reason"])
        for table in store.rows(store.files(), "c")
        for row in table.to_pylist()
    )


def test_merged_files_of_two_sizes_are_sorted(tmp_path: Path) -> None:
    """Rows of a merged file are in the order of the table, whatever their nights."""
    with opened_store(tmp_path, LocalStore()) as store:
        for number in range(MOST_NIGHTS + 1):
            write_night(store, str(MOST_NIGHTS - number), line=MOST_NIGHTS - number)
        (file,) = (file for file in store.files() if file.kind == FINAL)
        assert (file.first, file.night) == (1, MOST_NIGHTS + 1)
        (table,) = store.rows([file], "c")
        assert table["source_offset"].to_pylist() == [*range(MOST_NIGHTS + 1)]


def test_the_last_audits_are_listed_and_all_are_counted() -> None:
    state = StoreState()
    for number in range(MOST_AUDITS + 5):
        state = state.after(replace(entry(number + 1), rows_repeated=number))
    state = read_state(state.as_bytes(), "store")
    assert [audit.night for audit in state.audits] == [*range(6, MOST_AUDITS + 6)]
    assert state.night == state.rows_read == MOST_AUDITS + 5
    assert state.rows_repeated == sum(range(MOST_AUDITS + 5))


def test_a_second_process_does_not_write(tmp_path: Path) -> None:
    with (
        opened_store(tmp_path, LocalStore()),
        pytest.raises(OutsideError, match="another audit is writing to this store"),
        opened_store(tmp_path, LocalStore()),
    ):
        pass


def test_days_before_the_newest_are_dropped(tmp_path: Path) -> None:
    days = ("2026-11-20", "undated", "2026-11-28", "2026-11-29")
    with opened_store(tmp_path, LocalStore()) as store:
        for day in days:
            write_night(store, day, day=day, keep=1)
        assert store.state.first_day == date(2026, 11, 28)
        assert {*texts_of(store)} == {*days[1:]}
    assert not [*tmp_path.rglob("date=2026-11-20")]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            {**OPTIONS, "assignors": ["range", "sticky"]},
            "range, not range, sticky",
        ),
        ({"cluster": "d"}, "assignors range, not None"),
    ],
)
def test_other_options_are_refused(
    options: dict[str, object], why: str, tmp_path: Path
) -> None:
    add_night(tmp_path, LocalStore(), "a")
    with opened_store(tmp_path, LocalStore()) as store:
        store.state.check_options(OPTIONS, "store")
        with pytest.raises(SourceError, match=why):
            store.state.check_options(options, "store")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not the state of a store, history/2"),
        ("[]", "not the state of a store, history/2"),
        ('{"format": "history/0", "tables": "tables/9"}', "has history/0 with"),
    ],
)
def test_another_format_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(text)
    with pytest.raises(SourceError, match=why), opened_store(tmp_path, LocalStore()):
        pass


def test_another_cluster_is_refused(tmp_path: Path) -> None:
    with opened_store(tmp_path, LocalStore()) as store:
        store.commit(store.state.after(entry(1), log={"cluster": "c", "topic": "t"}))
        store.state.check_log("c", "t", "store")
        store.state.check_log("c", None, "store")
        with pytest.raises(SourceError, match="was deleted and created again"):
            store.state.check_log("c", "u", "store")
        with pytest.raises(SourceError, match="is of cluster c, not d"):
            store.state.check_log("d", "t", "store")
