"""Names of merged files: each row counts once, whatever has been deleted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.nights.store_files import (
    FINAL,
    MOST_NIGHTS,
    TableFile,
    counted,
    file_name,
    nights_to_merge,
    table_file,
)

DAYS = ("date=2026-11-28", "date=2026-11-29", "date=undated")


def final_file(
    folder: str, night: int, length: int, first: int | None = None
) -> TableFile:
    name = file_name(FINAL, night, 0, first)
    found = table_file(("answers", "cluster=c", folder, name), length)
    assert found is not None
    return found


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(DAYS), st.integers(1, 1_000)),
            max_size=3,
            unique_by=lambda file: file[0],
        ),
        max_size=60,
    )
)
def test_each_night_counts_once(nights: list[list[tuple[str, int]]]) -> None:
    """Before it counts, the rows are those of the night before, deleted or not."""
    disk: list[TableFile] = []
    rows: dict[str, set[tuple[str, int]]] = {}
    before: set[tuple[str, int]] = set()
    for night, lengths in enumerate(nights, 1):
        for day, length in lengths:
            disk.append(file := final_file(day, night, length))
            rows[file.path] = {(day, night)}
        for day in DAYS:
            found = counted(disk, night, None)
            files = nights_to_merge(file for file in found if file.folder.endswith(day))
            if files:
                assert files[-1].night <= night
                length = sum(file.length for file in files)
                file = final_file(day, night, length, files[0].first)
                rows[file.path] = {row for old in files for row in rows[old.path]}
                disk.append(file)
        assert rows_of(counted(disk, night - 1, None), rows) == before
        found = counted(disk, night, None)
        before |= {(day, night) for day, _ in lengths}
        assert rows_of(found, rows) == before
        for day in DAYS:
            of_day = [file for file in found if file.folder.endswith(day)]
            assert len(of_day) <= MOST_NIGHTS
        if night % 3:
            disk = found


def rows_of(
    files: list[TableFile], rows: dict[str, set[tuple[str, int]]]
) -> set[tuple[str, int]]:
    """Return the rows of files, of which none has a row of another one."""
    found = [row for file in files for row in rows[file.path]]
    assert len(found) == len(set(found))
    return set(found)


def test_a_name_of_six_digits_is_read() -> None:
    """A cluster that is followed has a hundred thousand nights in a year."""
    path = ("answers", "cluster=c", DAYS[0])
    for first in (None, 7, 100_001):
        for night in (100_002, 1_234_567):
            name = file_name(FINAL, night, 3, first)
            found = table_file((*path, name), 1)
            assert found is not None
            assert (found.first, found.night) == (first or night, night)
            assert (found.kind, found.name) == (FINAL, name)
