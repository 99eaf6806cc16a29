"""Rows of rebalances that an earlier night has judged, brought up to this night.

Of a rebalance whose case is as it was, only the time until the next state is new, and
the harm, which is a number of partitions times that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.case_table import CASES
from pipeline.judging.harm_counts import harm_columns
from pipeline.judging.lasted_times import lasted_times
from pipeline.nights.cause_context import RunsOf
from pipeline.nights.continued import OF_KEPT
from pipeline.rows import ROWS
from pipeline.table_bytes import from_bytes
from pipeline.tables import HARM, SCHEMAS
from rebalance import ABSENT, Int64

_IDS: Final = {
    "rebalances": "rebalance_id",
    "answers": "rebalance_id",
    "episodes": "last_rebalance_id",
    "members": "rebalance_id",
}
"""Columns of the rebalance of a row."""
_PLACE: Final = ("group_id", "source_partition", "source_offset")
PLACES: Final = pa.schema([ROWS.field(name) for name in _PLACE])
_CASES: Final = pa.schema([CASES.field(name) for name in OF_KEPT])


def are_of(
    name: str, rows: pa.Table, rebalances: Iterable[str], places: Iterable[pa.Table]
) -> pa.ChunkedArray:
    """Return which rows of a table are of some rebalances.

    Parameters
    ----------
    name
        The table.
    rebalances
        Their names.
    places
        Tables with the places of their records, by which failures of cases are found.
    """
    if name in _IDS:
        names = pa.array(sorted(rebalances), pa.string())
        return pc.fill_null(pc.is_in(rows[_IDS[name]], names), False)
    if name != "quarantine" or not rows.num_rows:
        return pa.chunked_array([pa.repeat(False, rows.num_rows)], pa.bool_())
    known = {place for table in places for place in _places_of(table)}
    is_failure = (kind == "failed" for kind in rows["kind"].to_pylist())
    found = zip(is_failure, _places_of(rows), strict=True)
    return pa.chunked_array([[failed and place in known for failed, place in found]])


def kept_cases(values: Iterable[bytes]) -> pa.Table:
    """Return the cases of `KEPT` rows."""
    return pa.concat_tables([_CASES.empty_table(), *map(from_bytes, values)])


def with_duration(runs: RunsOf) -> pa.Array:
    """Return the names of rebalances from whose harm the partitions are known."""
    found = [pa.array([], pa.string())]
    for run in runs("rebalances", ["rebalance_id", "lasted_ms"]):
        has_lasted = pc.fill_null(pc.greater(run["lasted_ms"], 0), False)
        found += run["rebalance_id"].filter(has_lasted).chunks
    return pa.concat_arrays(found)


def with_more(runs: RunsOf, more: Mapping[str, pa.Table]) -> RunsOf:
    """Return a reader of rows, and of more rows of some tables."""

    def read(name: str, columns: Sequence[str] = ()) -> Iterator[pa.Table]:
        yield from runs(name, columns)
        table = more[name]
        yield table.select([*columns]) if columns else table

    return read


def with_waiting(
    kept: Mapping[str, pa.Table], opened: pa.Table, waiting: pa.Array
) -> dict[str, pa.Table]:
    """Add the rows of rebalances that are final but for their causes.

    Parameters
    ----------
    kept
        Rows by table.
    opened
        Rows of ``rebalances`` that the last night could not finish.
    waiting
        Names of rebalances that are not reconstructed again.
    """
    rows = opened.filter(pc.is_in(opened["rebalance_id"], waiting))
    found = [kept["rebalances"], rows.select(SCHEMAS["rebalances"].names)]
    return {**kept, "rebalances": pa.concat_tables(found)}


def brought_up(
    opened: Callable[[str], pa.Table], kept: pa.Table, history_end: int | None
) -> dict[str, pa.Table]:
    """Return the rows of rebalances that are not judged again, by table.

    Parameters
    ----------
    opened
        Reads those rows of a table that the last night could not finish.
    kept
        Cases as they are now, in the columns of `pipeline.nights.continued.OF_KEPT`.
    history_end
        The latest time of any record, which ends open states.
    """
    if not len(kept):
        return {name: schema.empty_table() for name, schema in SCHEMAS.items()}
    found = {}
    for name, schema in SCHEMAS.items():
        rows = opened(name)
        is_kept = are_of(name, rows, kept["rebalance_id"].to_pylist(), [kept])
        found[name] = rows.filter(is_kept).select(schema.names)
    lasted = lasted_times(kept, history_end)
    before = found["rebalances"]
    at = pc.index_in(before["rebalance_id"], kept["rebalance_id"].combine_chunks())
    for column, values in lasted.items():
        place = before.schema.get_field_index(column)
        field = before.schema.field(place)
        rows = found["rebalances"]
        found["rebalances"] = rows.set_column(
            place, field, values.take(at).cast(field.type)
        )
    of = pc.index_in(
        found["answers"]["rebalance_id"], before["rebalance_id"].combine_chunks()
    )
    found["answers"] = _with_harm(
        found["answers"],
        np.asarray(before["lasted_ms"].take(of)),
        found["rebalances"]["lasted_ms"].take(of).combine_chunks(),
    )
    return found


def _with_harm(answers: pa.Table, before: Int64, lasted: pa.Array) -> pa.Table:
    """Compute harm anew; the time ``before`` is not 0."""
    harm = [answers[field.name] for field in HARM]
    counts = [
        np.where(column.is_null(), ABSENT, pc.fill_null(column, 0).to_numpy() // before)
        for column in harm
    ]
    columns = harm_columns(np.column_stack(counts), lasted)
    for name, values in columns.items():
        place = answers.schema.get_field_index(name)
        answers = answers.set_column(place, answers.schema.field(place), values)
    return answers


def _places_of(rows: pa.Table) -> Iterable[tuple[object, ...]]:
    return zip(*(rows[column].to_pylist() for column in _PLACE), strict=True)
