"""The tables of a store on this machine as a folder of tables, to read them only."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.nights.store_files import TABLES_FOLDER, counted, table_file
from pipeline.nights.store_state import StoreState, read_state
from pipeline.tables import SCHEMAS, STORE_STATE
from rebalance import SourceError


@contextmanager
def linked_tables(store: Path) -> Iterator[tuple[Path, StoreState]]:
    """Open the rows that count as a temporary folder of links, with the state.

    The store is not locked: if an audit replaces it meanwhile, files can be missing.

    Raises
    ------
    SourceError
        If it is not a store, or of another version.
    """
    try:
        data = (store / STORE_STATE).read_bytes()
    except OSError as error:
        reason = f"no store here: {error.strerror}".lower()
        raise SourceError(
            reason, source=str(store / STORE_STATE), cause=error
        ) from None
    state = read_state(data, str(store))
    tables = (store / TABLES_FOLDER).resolve()
    with tempfile.TemporaryDirectory(prefix="assignor-oracle-") as place:
        folder = Path(place)
        for name in SCHEMAS:
            (folder / name).mkdir()
        taken: Counter[str] = Counter()
        found = (
            table_file(path.relative_to(tables).parts, path.stat().st_size)
            for path in sorted(tables.rglob("*.parquet"))
        )
        files = [file for file in found if file is not None]
        for file in counted(files, state.night, state.first_day):
            below = f"{file.table}/{file.folder}"
            link = folder / below / f"part-{taken[below]:05d}.parquet"
            taken[below] += 1
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(tables / file.path)
        yield folder, state
