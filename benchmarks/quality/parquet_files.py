"""Parquet files with a description, written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

Description = dict[str, Any]

KEY: Final = b"study"


def write_table(file: Path, table: pa.Table, description: Description) -> None:
    """Write a table; an interrupted write leaves no file of that name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial_file = file.with_name(file.name + ".part")
    described = table.replace_schema_metadata({KEY: orjson.dumps(description)})
    pq.write_table(described, partial_file, compression="zstd")
    partial_file.replace(file)


def metadata_of(file: Path) -> Description:
    """Return the description of a file."""
    stored = pq.read_schema(file).metadata or {}
    description: Description = orjson.loads(stored[KEY])
    return description


def is_file_of(file: Path, wanted: Description) -> bool:
    """Return whether a file exists whose description has these entries."""
    try:
        stored = metadata_of(file)
    except (OSError, KeyError, ValueError):
        return False
    return {name: stored.get(name) for name in wanted} == wanted
