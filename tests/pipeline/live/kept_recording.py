"""The recording churn as a follower keeps it: in batches, by the time of records."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.following.batch_ranges import BatchRange
from pipeline.following.kept_batches import KeptBatches
from pipeline.live import RECORDS, ClientSettings, LiveSource, LogRange, OffsetsLog
from pipeline.side_files.sidecars import read_offsets, read_topics
from rebalance import MAX_PARTITIONS
from tests.support.wire import RECORDINGS

CHURN = RECORDINGS / "churn"


def recorded() -> pa.Table:
    """Return all records, in the order of partitions and offsets."""
    table = pq.read_table(CHURN / "consumer_offsets.parquet")
    return table.select(RECORDS.names).cast(RECORDS)


def keep_recording(
    kept: KeptBatches, folder: Path, count: int, most: int | None = None
) -> None:
    """Keep the recording in batches; ``folder`` is the path of their folder.

    A batch ends at the same moment for all partitions, as one of the stream does. Of
    the records, the first ``most`` are kept, or all.
    """
    table = recorded().sort_by("timestamp").slice(0, most)
    for number in range(count):
        start = table.num_rows * number // count
        end = table.num_rows * (number + 1) // count
        batch = BatchRange(number, number)
        temporary_folder = kept.temporary_folder(batch)
        target = folder / temporary_folder.rpartition("/")[2]
        target.mkdir(parents=True)
        part = table.slice(start, end - start)
        pq.write_table(part.sort_by("offset"), target / "part-0.parquet")
        (target / "_SUCCESS").touch()
        kept.place(temporary_folder, batch)


def live_source(folders: list[str]) -> LiveSource:
    """Return the recording as a running cluster whose records are kept."""
    table = recorded()
    ranges = [
        LogRange(partition=row["partition"], start=row["offset_min"], end=row["n"] + 1)
        for row in table.group_by("partition")
        .aggregate([("offset", "min"), ("offset", "max")])
        .rename_columns(["partition", "offset_min", "n"])
        .sort_by("partition")
        .to_pylist()
    ]
    return LiveSource(
        log=OffsetsLog(server="recorded:9092", settings=ClientSettings()),
        ranges=tuple(ranges),
        counts=read_topics(CHURN / "topics.json", MAX_PARTITIONS).at_end,
        names={},
        ends=read_offsets(CHURN / "offsets.json").ends,
        notes=(),
        kept=tuple(folders),
    )
