"""Run an audit, show progress, write the page, print a summary."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.text import Text

from oracle.cli.options import MAX_PARTITIONS
from oracle.cli.sink import opened_sink
from oracle.cli.tables import NAME_SHOWN, table_of
from oracle.cli.terminal import complain, console_of, is_terminal, printed
from oracle.names import abridged, visible
from oracle.report import write_page
from oracle.report.facts import ClientRow, Facts
from pipeline.audit import AuditSummary, audit
from rebalance import ClaimRule, OffsetReset, SourceError

if TYPE_CHECKING:
    from pipeline.live import LiveSource

PAGE: Final = "index.html"
_PHASES: Final = {"read": "reading", "judge": "judging", "write": "writing"}

Progress = Callable[[str, int, int], None]

_DEFAULTS: Final = {
    "--auto-offset-reset": "earliest",
    "--claim-rule": "newest-claim",
    "--max-partitions": str(MAX_PARTITIONS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Arguments of an audit."""

    sources: tuple[str, ...]
    server: str | None
    config: Path | None
    out: str
    master: str
    cluster: str
    topics: str | None
    offsets: str | None
    lag: tuple[str, ...]
    offset_reset: str
    source_format: str | None
    columns: str | None
    encoding: str | None
    claim_rule: str
    max_partitions: int
    assignors: str | None

    @property
    def command(self) -> str:
        """Command line that computes the same tables again."""
        options = {
            "--bootstrap-server": self.server,
            "--command-config": None if self.config is None else str(self.config),
            "--out": self.out,
            "--cluster": self.cluster,
            "--topics": self.topics,
            "--offsets": self.offsets,
            "--auto-offset-reset": self.offset_reset,
            "--format": self.source_format,
            "--columns": self.columns,
            "--encoding": self.encoding,
            "--claim-rule": self.claim_rule,
            "--max-partitions": str(self.max_partitions),
            "--assignors": self.assignors,
        }
        given = [
            part
            for name, value in options.items()
            if value and value != _DEFAULTS.get(name)
            for part in (name, value)
        ]
        given += [part for one in self.lag for part in ("--lag", one)]
        return shlex.join(["assignor-oracle", "audit", *self.sources, *given])


def run_audit(asked: Audit, *, as_json: bool) -> None:
    """Run an audit and print a summary on standard output."""
    written: list[_Written] = []

    def page(folder: Path) -> None:
        facts = write_page(folder, folder / PAGE, command=asked.command)
        used = json.loads((folder / "audit.json").read_bytes())["parameters"]
        written.append(_Written(facts, used))

    with _progress() as progress:
        summary = audit(
            asked.sources,
            asked.out,
            cluster=asked.cluster,
            topics=asked.topics,
            offsets=asked.offsets,
            live=_live(asked),
            lag=asked.lag,
            offset_reset=OffsetReset(asked.offset_reset),
            source_format=asked.source_format,
            columns=asked.columns,
            encoding=asked.encoding,
            claim_rule=ClaimRule(asked.claim_rule),
            max_partitions=asked.max_partitions,
            assignors=_names(asked.assignors),
            master=asked.master,
            progress=progress,
            tell=complain,
            page=page,
        )
    with opened_sink("-", as_json=as_json) as sink:
        if as_json:
            sink.write_document(_document(summary, written[0].facts))
        else:
            sink.write_text(_told(summary, written[0]))
    _complain_if_unreadable(summary, asked.sources)


def _live(asked: Audit) -> LiveSource | None:
    if asked.server is None:
        return None
    from pipeline.live import ClientSettings, find_live_source, read_client_properties

    config = asked.config
    settings = ClientSettings() if config is None else read_client_properties(config)
    live = find_live_source(asked.server, settings)
    for note in live.notes:
        complain(f"no lag without {note}")
    return live


def _names(listed: str | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(map(str.strip, listed.split(",")))


@dataclass(frozen=True, slots=True)
class _Written:
    """Facts of the page, and the parameters of the audit."""

    facts: Facts
    used: dict[str, Any]


def _complain_if_unreadable(summary: AuditSummary, sources: Sequence[str]) -> None:
    """Exit with 2 if nothing could be judged and part of the input was unreadable."""
    unreadable = any(why.startswith("unreadable") for why in summary.quarantine)
    if unreadable and not (summary.rows["rebalances"] or summary.rows["snapshots"]):
        reason = "no record could be judged; see the table quarantine"
        raise SourceError(reason, source=", ".join(sources) or "--bootstrap-server")


def _document(summary: AuditSummary, facts: Facts) -> dict[str, Any]:
    return {
        "format": "audit-summary/1",
        "page": f"{summary.out}/{PAGE}",
        "tables": summary.tables,
        "java": summary.java,
        "rows": summary.rows,
        "quarantine": summary.quarantine,
        "groups": [
            {
                "cluster": row.cluster,
                "group": row.group,
                "assignor": row.assignor,
                "judged": row.counts.judged,
                "at_optimum": row.counts.optimum,
                "needless_moves": row.counts.needless_moves,
                "moved_needlessly": row.counts.needless,
                "unbalanced": row.counts.unbalanced,
                "invalid": row.counts.invalid,
                "open": row.counts.open,
            }
            for row in facts.groups
        ],
        "snapshots": [
            {
                "cluster": row.cluster,
                "group": row.group,
                "judged": row.counts.judged,
                "balanced": row.counts.balanced,
                "unbalanced": row.counts.unbalanced,
                "invalid": row.counts.invalid,
                "undetermined": row.counts.undetermined,
                "in_records": row.counts.recorded,
            }
            for row in facts.states.rows
        ],
    }


def _told(summary: AuditSummary, written: _Written) -> bytes:
    facts = written.facts
    columns = (
        "group",
        "assignor",
        "rebalances",
        "at the optimum",
        "with needless moves",
        "needless moves",
        "unbalanced",
        "invalid",
    )
    rows = [_row(row) for row in facts.clients]
    parts: list[RenderableType] = [
        table_of("Results of the clients", columns, rows),
        Text(""),
    ]
    if facts.states.rows:
        parts += [_snapshots(facts), Text("")]
    if summary.quarantine:
        aside = [
            (count, visible(reason, limit=100))
            for reason, count in summary.quarantine.items()
        ]
        parts += [table_of("Not judged", ("records", "reason"), aside), Text("")]
    side = _side_files(written.used)
    if side:
        parts.append(Text(f"with    {side}"))
    parts += [
        Text(f"java    {visible(summary.java)}"),
        Text(f"tables  {visible(summary.out)}"),
        Text(f"page    {visible(f'{summary.out}/{PAGE}')}"),
    ]
    return printed(*parts)


def _row(row: ClientRow) -> tuple[str | int, ...]:
    counts = row.counts
    return (
        abridged(row.group, NAME_SHOWN),
        abridged(row.assignor or "unknown", NAME_SHOWN),
        counts.judged,
        counts.optimum,
        counts.needless,
        counts.needless_moves,
        counts.unbalanced,
        counts.invalid,
    )


def _snapshots(facts: Facts) -> RenderableType:
    columns = (
        "group",
        "judged",
        "balanced",
        "unbalanced",
        "invalid",
        "cannot be determined",
        "in the records",
    )
    rows = [
        (
            abridged(row.group, NAME_SHOWN),
            row.counts.judged,
            row.counts.balanced,
            row.counts.unbalanced,
            row.counts.invalid,
            row.counts.undetermined,
            row.counts.recorded,
        )
        for row in facts.states.rows
    ]
    return table_of("Snapshots", columns, rows)


def _side_files(used: dict[str, Any]) -> str:
    """Return the side files that the audit used."""
    said = {"topics": "partition counts from", "offsets": "lag from"}
    return ", ".join(
        f"{words} {visible(used[key])}" for key, words in said.items() if used.get(key)
    )


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show a bar per phase on standard error; without a terminal, one line each."""
    if not is_terminal(sys.stderr):
        yield _lines()
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Bars(
        *columns, TimeElapsedColumn(), console=console_of(sys.stderr), transient=True
    ) as bars:
        task = bars.add_task("starting Spark", total=None)

        def show(phase: str, done: int, total: int) -> None:
            words = _PHASES.get(phase, f"writing the {phase}")
            bars.update(task, description=words, completed=done, total=total)

        yield show


def _lines() -> Progress:
    told: set[str] = set()

    def show(phase: str, _done: int, _total: int) -> None:
        if phase not in told and sys.stderr is not None:
            told.add(phase)
            words = _PHASES.get(phase, f"writing the {phase}")
            print(f"assignor-oracle: {words}", file=sys.stderr, flush=True)

    return show
