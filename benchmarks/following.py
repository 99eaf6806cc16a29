"""CPU seconds of the work that `--follow` repeats: ``python -m benchmarks.following``.

The recording churn is kept in 10, 100, and 1,000 batches. Its records are read as an
audit reads them, merged, and read again. Then it is audited twice: only the first audit
evaluates the rebalances, in the second they are known to Spark's workers, with the same
lags. The seconds are those of this process and its subprocesses, also Java.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import psutil
from pyspark.sql import SparkSession

from pipeline.audit import AuditRequest, audit
from pipeline.audit.live_rows import live_parcels
from pipeline.files import LocalStore
from pipeline.following.follower import write_merged
from pipeline.following.kept_batches import KeptBatches
from pipeline.session import spark_context, sql_session
from tests.pipeline.live.kept_recording import keep_recording, live_source

MASTER: Final = "local[1]"
BATCHES: Final = (10, 100, 1_000)


def main() -> None:
    """Print one line per step."""
    print(f"{platform.platform()}, {os.cpu_count()} cores; CPU seconds", flush=True)
    spark = sql_session(spark_context(MASTER))
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as scratch:
        for count in BATCHES:
            kept = _kept(Path(scratch) / str(count), count)
            if count == BATCHES[0]:
                _read(spark, kept)  # warm up
            _show(f"{count} batches: reading", partial(_read, spark, kept))
            _show("  merging", partial(kept.merge, count, partial(write_merged, spark)))
            folders = len(kept.folders())
            _show(f"  reading, {folders} folders", partial(_read, spark, kept))
        for name in ("first audit", "second audit"):
            live, out = live_source(kept.folders()), Path(scratch) / "out"
            request = AuditRequest(sources=[], out=out, master=MASTER)
            _show(name, partial(audit, request, live=live))
    spark.stop()


def _kept(folder: Path, count: int) -> KeptBatches:
    kept = KeptBatches(f"file:{folder}", LocalStore())
    keep_recording(kept, folder, count)
    return kept


def _read(spark: SparkSession, kept: KeptBatches) -> None:
    live = live_source(kept.folders())
    live_parcels(spark.sparkContext, live, tasks=2).count()


def _show(name: str, step: Callable[[], object]) -> None:
    began = _cpu_now()
    step()
    print(f"{name:32}{_cpu_now() - began:8.1f}", flush=True)


def _cpu_now() -> float:
    """Return the CPU seconds of this process and all below it, also of ended ones."""
    me = psutil.Process()
    return sum(
        sum(child.cpu_times()[:4]) for child in (me, *me.children(recursive=True))
    )


if __name__ == "__main__":
    main()
