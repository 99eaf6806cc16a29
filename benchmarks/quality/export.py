"""All records of a study in one Parquet file, and in one CSV file (gzip)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from benchmarks.quality.answering import SCHEMA

PARQUET: Final = "records.parquet"
CSV: Final = "records.csv.gz"


def export_records(parts: Iterable[Path], folder: Path) -> int:
    """Write the records of all parts, in their order; return their number."""
    count = 0
    partial_files = [folder / f"{name}.part" for name in (PARQUET, CSV)]
    with (
        pq.ParquetWriter(partial_files[0], SCHEMA, compression="zstd") as parquet,
        pa.OSFile(str(partial_files[1]), "wb") as file,
        pa.CompressedOutputStream(file, "gzip") as packed,
        pc.CSVWriter(packed, SCHEMA) as csv,
    ):
        for part in parts:
            table = pq.read_table(part).replace_schema_metadata()
            parquet.write_table(table)
            csv.write_table(table)
            count += table.num_rows
    for name, partial_file in zip((PARQUET, CSV), partial_files, strict=True):
        partial_file.replace(folder / name)
    return count
