"""Follow a running cluster: one process, whose updates are nights of a store.

An update audits the records after the marks of the store (`pipeline.audit.night`), if
one of them can add a rebalance. Spark runs from the first update to the last, and the
store is locked meanwhile. Nothing else is kept: a process that begins anew continues at
the marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark import SparkContext

from pipeline.audit.lazy_spark import Clock, LazySpark
from pipeline.audit.live_log import checked_log
from pipeline.audit.request import AuditRequest
from pipeline.audit.run import AuditSummary, audit
from pipeline.files import LocalStore, Location, Stores, as_given, uri_of
from pipeline.nights.history_store import HistoryStore, opened_store
from pipeline.session import sql_session
from pipeline.sources.spark_rows import SPARK_ERRORS
from pipeline.tables import STORE_STATE
from rebalance import SourceError

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import LiveSource, LogRange, OffsetsLog

MOST_OFFSETS: Final = 500_000
"""Offsets after the marks that wait for the next rebalance: compaction reaches them
only when there are more."""
_COMMIT_VERSIONS: Final = (b"\0\0", b"\0\1")
"""Versions at the start of the keys of offset commits, ``OffsetCommitKey.json``."""
FORMER: Final = "following.json"
"""File in ``--out`` by which a follower that kept all records is recognized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecords:
    """Records that were not looked at before; ``is_due``: whether to audit them.

    ``records`` is the number of offset commits before the first record of another kind.
    """

    records: int
    is_due: bool


class Follower:
    """A store that follows a cluster; see `following`."""

    def __init__(
        self, spark: SparkContext, log: OffsetsLog, store: HistoryStore
    ) -> None:
        self._spark = spark
        self._log = log
        self._store = store
        self._seen: dict[int, int] = {}
        self._is_due = True  # the options can have changed, or --out can be behind
        self.records = 0
        """Number of records that the last audit has added to the store."""

    def look(self) -> NewRecords:
        """Look at the records after the marks, up to the first of another kind.

        Offset commits alone add no rebalance: they wait for the next audit.

        Raises
        ------
        OutsideError
            If the cluster cannot be read now.
        SourceError
            If its log is not the one that was read before.
        """
        records = 0
        if not self._is_due:
            _, bounds = checked_log(self._store, self._log)
            self._is_due = self._waiting(bounds) > MOST_OFFSETS
        if not self._is_due:
            for key in self._keys(bounds):
                if key[:2] not in _COMMIT_VERSIONS:
                    self._is_due = True
                    break
                records += 1
            else:
                self._seen = {bound.partition: bound.end for bound in bounds}
        return NewRecords(records=records, is_due=self._is_due)

    def source(self) -> LiveSource:
        """Return the cluster as it is now.

        Raises
        ------
        OutsideError
            If it cannot be read now.
        """
        from pipeline.live import find_live_source  # noqa: PLC0415

        return find_live_source(self._log.server, self._log.settings)

    def audit(self, request: AuditRequest, **hooks: Any) -> AuditSummary:
        """Add a night to the store, and write the tables of all to ``request.out``.

        Parameters and errors are those of `pipeline.audit.audit`. If it fails, the next
        update is due in any case.
        """
        self._is_due = True
        before = self._store.state.night
        done = audit(request, store=self._store, **hooks)
        state = self._store.state
        self.records = state.audits[-1].records if state.night > before else 0
        self._is_due = False
        return done

    @property
    def is_alive(self) -> bool:
        """Whether Spark still runs, so that another update can succeed."""
        try:
            return not self._spark._jsc.sc().isStopped()
        except (*SPARK_ERRORS, OSError, AttributeError):
            return False

    def _waiting(self, bounds: Iterable[LogRange]) -> int:
        """Return the number of offsets after the marks."""
        return sum(max(0, bound.end - self._mark(bound)) for bound in bounds)

    def _keys(self, bounds: Iterable[LogRange]) -> Iterator[bytes]:
        """Yield the keys of records that were not looked at before."""
        for bound in bounds:
            start = max(self._mark(bound), self._seen.get(bound.partition, 0))
            if start < bound.end:
                for record in self._log.records(replace(bound, start=start)):
                    yield record.key or b""

    def _mark(self, bound: LogRange) -> int:
        mark = self._store.state.marks.get(bound.partition)
        return bound.start if mark is None else max(bound.start, mark.next)


@contextmanager
def following(
    out: Location, history: Location, log: OffsetsLog, *, master: str | None = None
) -> Iterator[Follower]:
    """Begin to follow a cluster into a store, or continue at its marks.

    Spark runs during the block, and audits within it use the same session.

    Raises
    ------
    OutsideError
        If another process writes to the store, no broker answers, or Spark does not
        start.
    SourceError
        If the store is of another cluster, or ``out`` has the records of a follower of
        an earlier version.
    OutputError
        If the store cannot be written to.
    """
    from pipeline.live import read_identity  # noqa: PLC0415

    read_identity(log)  # a wrong address needs no Spark to be noticed
    with ExitStack() as stack:
        session = LazySpark(stack, master, out, Clock())
        stores = Stores(LocalStore(), session.hadoop)
        _check_former(out, history, stores)
        opened = opened_store(history, stores.of(uri_of(history)))
        store = stack.enter_context(opened)
        checked_log(store, log)
        # A session, so that the audits know that Spark runs.
        spark = sql_session(session.start()[0]).sparkContext
        yield Follower(spark, log, store)


def _check_former(out: Location, history: Location, stores: Stores) -> None:
    """Check that no records of a follower of an earlier version would be left out.

    Raises
    ------
    SourceError
        If there are some, and the store is empty.
    """
    former, state = f"{uri_of(out)}/{FORMER}", f"{uri_of(history)}/{STORE_STATE}"
    if stores.of(former).is_folder(former) is None:
        return
    if stores.of(state).is_folder(state) is not None:
        return
    records, store = f"{as_given(out)}/records", as_given(history)
    raise SourceError(
        "has records of a follower of an earlier version: audit them once, with the "
        f"options of this command, by audit {records} --history {store} instead of "
        f"--bootstrap-server and --follow; to begin without them, delete {FORMER}",
        source=as_given(out),
    )
