"""``audit --follow``: updates of reading and auditing until the process is ended."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from oracle.cli.options.audit import EVERY, AuditOptions
from oracle.cli.printing.progress import shown_progress
from oracle.cli.printing.sink import opened_sink
from oracle.cli.printing.terminal import complain
from oracle.cli.runs.audit import (
    CompletedAudit,
    audited,
    client_settings,
)
from pipeline.audit import following
from rebalance import OutsideError

if TYPE_CHECKING:
    from pipeline.audit import Follower
    from pipeline.live import LiveSource

pause = time.sleep


def run_follow(options: AuditOptions) -> NoReturn:
    """Follow a cluster: look, audit, wait, and begin again.

    A failure of the cluster is reported, and the next update tries again, except in the
    first update.

    Raises
    ------
    OutsideError
        If the first update fails, or Spark has ended.
    """
    from pipeline.live import OffsetsLog

    server, every = options.bootstrap_server or "", options.every or EVERY
    log = OffsetsLog(server=server, settings=client_settings(options))
    out, store = options.out, options.store or ""
    with following(out, store, log, master=options.master) as follower:
        updates = _Updates(options, follower)
        is_first = True
        while True:
            began = time.monotonic()
            try:
                updates.next()
            except OutsideError as error:
                if is_first or not follower.is_alive:
                    raise
                complain(f"{_now()}: {error}")
            is_first = False
            pause(max(0.0, began + every - time.monotonic()))


class _Updates:
    """The updates of one process; each is one line on standard error."""

    def __init__(self, options: AuditOptions, follower: Follower) -> None:
        self._options = options
        self._follower = follower
        self._judged: int | None = None
        self._notes: tuple[str, ...] = ()

    def next(self) -> None:
        """Look at the new records; if one can change a table, audit them."""
        done: CompletedAudit | None = None
        follower = self._follower
        with shown_progress(is_quiet=True) as progress:
            progress("read", 0, 1)
            found = follower.look()
            if found.is_due:
                source = self._source()
                done = audited(self._options, source, progress, run=follower.audit)
        if done is None:
            what = "only offset commits" if found.records else "no audit"
            complain(f"{_now()}: records read: {found.records:,}; {what}")
            return
        judged = done.summary.rows["rebalances"]
        before, self._judged = self._judged, judged
        complain(
            f"{_now()}: records read: {follower.records:,}; rebalances: {judged:,}"
            f"{_difference(judged, before)}"
        )
        if self._options.as_json:
            with opened_sink("-", as_json=True) as sink:
                sink.write_document(done.document())

    def _source(self) -> LiveSource:
        live = self._follower.source()
        for note in live.notes:
            if note not in self._notes:
                complain(f"no lag without {note}")
        self._notes = live.notes
        return live


def _difference(judged: int, before: int | None) -> str:
    """Compare with the update before; days that were dropped have rebalances, too."""
    if before is None:
        return ""
    more = "more" if judged >= before else "fewer"
    return f" ({abs(judged - before):,} {more} than before)"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
