"""Load an audit's tables: all columns except documents, which are read on demand.

Instances and assignments are most of the bytes; only those of the rebalances that the
page shows are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from pipeline.tables import PARTITION_COLUMNS, SCHEMAS
from rebalance import SourceError

_HEAVY: Final = frozenset(
    {"instance", "assignment", "violations", "loads", "evidence", "key", "value"}
)
_TYPES: Final = {
    pa.bool_(): pd.BooleanDtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.string(): pd.StringDtype("pyarrow"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The columns of the tables without documents; rows as in `pipeline.tables`.

    ``answers`` have an additional column ``broken``: the number of violations.
    """

    folder: Path
    rebalances: pd.DataFrame
    answers: pd.DataFrame
    episodes: pd.DataFrame
    snapshots: pd.DataFrame
    quarantine: pd.DataFrame


def load(folder: Path) -> Tables:
    """Read the columns of an audit, without documents.

    Raises
    ------
    SourceError
        If the folder holds no audit, or its tables cannot be read.
    """
    return Tables(
        folder=folder,
        rebalances=_light(folder, "rebalances"),
        answers=_with_broken(_light(folder, "answers", "violations")),
        episodes=_light(folder, "episodes"),
        snapshots=_light(folder, "snapshots"),
        quarantine=_light(folder, "quarantine"),
    )


def load_documents(
    folder: Path, table: str, key: str, wanted: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Read ``columns`` of the rows with the given keys, including documents.

    Raises
    ------
    SourceError
        As `load`.
    """
    # Typed, because pyarrow infers type null for an empty list and rejects it.
    keys = pa.array(wanted, SCHEMAS[table].field(key).type)
    return _read(folder / table, table, columns, ds.field(key).isin(keys))


def _light(folder: Path, table: str, *besides: str) -> pd.DataFrame:
    columns = [name for name in SCHEMAS[table].names if name not in _HEAVY]
    return _read(folder / table, table, [*columns, *besides])


def _with_broken(answers: pd.DataFrame) -> pd.DataFrame:
    """Replace the list of violations by its length."""
    broken = [0 if rules is None else len(rules) for rules in answers["violations"]]
    return answers.drop(columns="violations").assign(broken=broken)


def _read(
    place: Path, table: str, columns: Sequence[str], chosen: ds.Expression | None = None
) -> pd.DataFrame:
    if not place.is_dir():
        raise SourceError("holds no audit: this folder is missing", source=str(place))
    schema = SCHEMAS[table]
    keys = pa.schema([schema.field(column) for column in PARTITION_COLUMNS])
    try:
        dataset = ds.dataset(
            place,
            schema=schema,
            format="parquet",
            partitioning=ds.partitioning(keys, flavor="hive"),
        )
        found = dataset.to_table(columns=list(columns), filter=chosen)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"no table of an audit: {error}", source=str(place)) from None
    frame: pd.DataFrame = found.to_pandas(types_mapper=_TYPES.get)
    return frame
