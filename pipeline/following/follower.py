"""Follow the log of groups of a running cluster by structured streaming.

Each update is one run of the stream to the present end of the log (``availableNow``). A
batch is in place as a whole before Spark commits its number, and a batch without a
commit is read and written again, with the same offsets: whenever the process is killed,
every record is kept exactly once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.audit.lazy_spark import Clock, LazySpark, failure_of
from pipeline.audit.live_rows import kept_table
from pipeline.audit_writing import as_output_error
from pipeline.files import LocalStore, Location, Stores, shown, uri_of
from pipeline.following.batch_ranges import BatchRange
from pipeline.following.kept_state import KeptState
from pipeline.following.stream_source import NAME, stream_source
from pipeline.live import (
    LiveSource,
    LogRange,
    NextOffsets,
    OffsetsLog,
    ReplacedLogError,
    kept_live_source,
    latest_offsets,
    read_identity,
)
from pipeline.session import sql_session
from pipeline.sources.spark_rows import SPARK_ERRORS
from rebalance import OracleError, OutputError, OutsideError

_LOCK: Final = ".following"
_COMMIT_VERSIONS: Final = ("0000", "0001")
"""Versions at the start of the keys of offset commits, ``OffsetCommitKey.json``."""
_RAISED: Final = re.compile(r"\b(ReplacedLogError|OutsideError): ([^\n]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Records that an update has read.

    ``is_due`` is whether an audit of all records can differ from the one before: offset
    commits alone add no rebalance.
    """

    records: int
    is_due: bool


class Follower:
    """A running stream over one cluster's log of groups; see `following`."""

    def __init__(self, spark: SparkSession, log: OffsetsLog, kept: KeptState) -> None:
        self._spark = spark
        self._log = log
        self._kept = kept
        self._ends: NextOffsets | None = None
        kept.batches.clear()
        self._is_empty = kept.check_batches() == 0
        self._is_due = True  # the options of the audit can have changed
        self._uncounted: set[int] = set()

    def read(self) -> Update:
        """Read the log to its present end, keep its records, and merge small files.

        Raises
        ------
        OutsideError
            If the cluster cannot be read now, or Spark fails.
        ReplacedLogError, OutputError
            If the log is not the one that was read before, or the folder cannot be
            written to.
        """
        self._kept.check_cluster(read_identity(self._log), self._log.server)
        if latest_offsets(self._ends, self._log.bounds()) == self._ends:
            return self._update(0)
        try:
            self._run()
            records, others = self._count(sorted(self._uncounted))
            self._uncounted.clear()
            self._is_due = self._is_due or others > 0
            count = self._kept.count_committed()
            self._kept.batches.merge(count, partial(write_merged, self._spark))
        except SPARK_ERRORS as error:
            raise _converted(error, self._kept.out) from error
        return self._update(records)

    def source(self) -> LiveSource:
        """Return all records that are kept, with the topics as they are now.

        Raises
        ------
        OutsideError
            If the cluster cannot be read now, or Spark fails.
        """
        try:
            ranges = self._ranges()
        except SPARK_ERRORS as error:
            raise _converted(error, self._kept.out) from error
        return kept_live_source(self._log, ranges, self._kept.batches.folders())

    def note_audit(self) -> None:
        """Note that all records are audited."""
        self._is_due = False

    @property
    def is_alive(self) -> bool:
        """Whether Spark still runs, so that another update can succeed."""
        try:
            return not self._spark.sparkContext._jsc.sc().isStopped()
        except (*SPARK_ERRORS, OSError, AttributeError):
            return False

    def _update(self, records: int) -> Update:
        return Update(records=records, is_due=self._is_due and not self._is_empty)

    def _run(self) -> None:
        """Run the stream to the end of the log."""

        def write(table: DataFrame, number: int) -> None:
            batch, kept = BatchRange(number, number), self._kept.batches
            temporary_folder = kept.temporary_folder(batch)
            table.write.parquet(temporary_folder)
            kept.place(temporary_folder, batch)
            self._uncounted.add(number)
            self._is_empty = False

        self._ends = None  # unknown if the run fails
        stream = self._spark.readStream.format(NAME).load()
        query = (
            stream.writeStream.foreachBatch(write)
            .option("checkpointLocation", self._kept.checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        self._ends = _ends_of(query.lastProgress)

    def _count(self, batches: list[int]) -> tuple[int, int]:
        """Count the records of batches, and those that are not offset commits."""
        if not batches:
            return 0, 0
        folders = (self._kept.batches.folder(BatchRange(n, n)) for n in batches)
        table = kept_table(self._spark, *folders)
        counted = table.agg(f.count("*"), f.count_if(~_is_commit(f.col("key")))).first()
        return (0, 0) if counted is None else (counted[0], counted[1])

    def _ranges(self) -> list[LogRange]:
        """Return the first and the last offset that is kept of each partition."""
        offset = f.col("offset")
        found = (
            kept_table(self._spark, *self._kept.batches.folders())
            .groupBy("partition")
            .agg(f.min(offset).alias("start"), f.max(offset).alias("last"))
            .orderBy("partition")
        )
        return [
            LogRange(
                partition=row["partition"], start=row["start"], end=row["last"] + 1
            )
            for row in found.collect()
        ]


@contextmanager
def following(
    out: Location, log: OffsetsLog, *, master: str | None = None
) -> Iterator[Follower]:
    """Begin to follow a cluster, or continue where an earlier process stopped.

    Spark runs during the block, and audits within it use the same session.

    Raises
    ------
    OutputError
        If another process follows into the folder, or it has the records of another
        cluster.
    OutsideError
        If no broker answers, or Spark does not start.
    """
    uri = uri_of(out)
    identity = read_identity(log)  # a wrong address needs no Spark to be noticed
    with ExitStack() as stack:
        session = LazySpark(stack, master, out, Clock())
        store = Stores(LocalStore(), session.hadoop).of(uri)
        with as_output_error(shown(uri)):
            store.make_folder(uri)
            try:
                stack.enter_context(store.locked(uri, _LOCK))
            except BlockingIOError:
                reason = "another process follows into this folder"
                raise OutputError(reason, target=shown(uri)) from None
        kept = KeptState(uri, store)
        kept.check_cluster(identity, log.server)
        spark = sql_session(session.start()[0])
        _keep_java_quiet(spark)
        spark.dataSource.register(stream_source(log))
        yield Follower(spark, log, kept)


def _keep_java_quiet(spark: SparkSession) -> None:
    """Log the exception that ends a thread of Java, instead of printing it.

    If the process is ended while the stream reads, its thread ends with an exception.
    Spark's own processes use the same handler, and Spark's log is off.
    """
    java: Any = spark._jvm
    handler = java.org.apache.spark.util.SparkUncaughtExceptionHandler(False)
    java.java.lang.Thread.setDefaultUncaughtExceptionHandler(handler)


def write_merged(spark: SparkSession, folders: Sequence[str], target: str) -> None:
    """Write all records of some folders to another one, in the order of offsets.

    All locations are URIs. One task reads and writes everything; records that do not
    fit into its memory are sorted on the disk.
    """
    records = kept_table(spark, *folders).coalesce(1)
    records.sortWithinPartitions("partition", "offset").write.parquet(target)


def _is_commit(key: Column) -> Column:
    return f.coalesce(f.hex(key.substr(1, 2)).isin(*_COMMIT_VERSIONS), f.lit(False))


def _ends_of(progress: Any) -> NextOffsets | None:
    """Return the offsets that a run of the stream reached, if Spark reports them."""
    if progress is None:
        return None
    end = progress["sources"][0]["endOffset"]
    found = json.loads(end) if isinstance(end, str) else end
    return found if isinstance(found, dict) else None


def _converted(error: Exception, out: str) -> OracleError:
    """Return the exception of the stream's source, of which Spark reports the text."""
    raised = _RAISED.search(str(error))
    if raised is None:
        return failure_of(error, shown(out))
    kinds = {kind.__name__: kind for kind in (ReplacedLogError, OutsideError)}
    return kinds[raised[1]](raised[2])
