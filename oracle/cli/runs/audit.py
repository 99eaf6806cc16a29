"""Run an audit, show progress, write the page, print a summary."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.cli.codes import LOST
from oracle.cli.options.audit import EVERY, AuditOptions
from oracle.cli.options.common import listed_names
from oracle.cli.options.values import stated_options
from oracle.cli.printing.parts import Line, Part
from oracle.cli.printing.sink import opened_sink
from oracle.cli.printing.tables import NAME_SHOWN, table_of
from oracle.cli.printing.terminal import complain, console_of, is_terminal, printed
from oracle.names import abridged, visible
from oracle.wording import counted
from pipeline.audit import AuditRequest, AuditSummary, audit, refuse_replaced
from pipeline.tables import PAGE
from rebalance import ClaimRule, OffsetReset, SourceError

if TYPE_CHECKING:
    from oracle.report.facts import ClientRow, Facts
    from pipeline.live import ClientSettings, LiveSource

_LOST: Final = "unreadable"
"""The kind of quarantine of what is damaged; what else is there was read."""
_PHASES: Final = {"read": "reading", "judge": "judging", "write": "writing"}

Progress = Callable[[str, int, int], None]

_STATED: Final = (
    "bootstrap_server",
    "command_config",
    "out",
    "cluster",
    "topics",
    "offsets",
    "subscriptions",
    "auto_offset_reset",
    "source_format",
    "columns",
    "encoding",
    "group_name",
    "claim_rule",
    "max_partitions",
    "assignors",
    "lag",
    "follow",
    "every",
)
"""Options on which the tables depend, in the order in which a command states them."""


def command_of(options: AuditOptions) -> str:
    """Return the command line that computes the same tables again."""
    if options.follow:
        options = replace(options, every=options.every or EVERY)
    stated = stated_options(options, _STATED, always=("cluster",))
    return shlex.join(["assignor-oracle", "audit", *(options.sources or ()), *stated])


def run_audit(options: AuditOptions) -> None:
    """Run an audit and print a summary on standard output."""
    with shown_progress() as progress:
        done = audited(options, _live(options), progress)
    with opened_sink("-", as_json=options.as_json) as sink:
        if options.as_json:
            sink.write_document(document_of(done))
        else:
            sink.write_text(_told(done))
    if lacking := done.facts.lag_missing:
        judged = counted(lacking, "rebalance or snapshot", "rebalances or snapshots")
        complain(
            f"no lag of {judged}: --lag lacks partitions of the group; "
            "lag_missing in the tables names them"
        )
    _complain_if_unreadable(done.summary, options.sources or ())
    _end_if_lost(done.summary, accepted=options.accept_losses)


@dataclass(frozen=True, slots=True)
class CompletedAudit:
    """Summary of an audit, facts of its page, and its parameters."""

    summary: AuditSummary
    facts: Facts
    used: dict[str, Any]


def audited(
    options: AuditOptions, live: LiveSource | None, progress: Progress
) -> CompletedAudit:
    """Run an audit; ``live`` is the running cluster among its sources."""
    written: list[tuple[Facts, dict[str, Any]]] = []

    def page(folder: Path) -> None:
        from oracle.report import write_page

        facts = write_page(folder, folder / PAGE, command=command_of(options))
        used = json.loads((folder / "audit.json").read_bytes())["parameters"]
        written.append((facts, used))

    summary = audit(
        _request(options),
        live=live,
        progress=progress,
        tell=complain,
        page=page,
        meanwhile=_prepare_page,
    )
    return CompletedAudit(summary, *written[0])


def _request(options: AuditOptions) -> AuditRequest:
    """Return the options that the audit itself has; the others are of the command."""
    assignors = options.assignors
    equal = {
        option.name: getattr(options, option.name)
        for option in fields(AuditRequest)
        if hasattr(options, option.name)
    }
    return AuditRequest(
        **equal
        | {
            "sources": options.sources or (),
            "lag": options.lag or (),
            "offset_reset": OffsetReset(options.auto_offset_reset),
            "claim_rule": ClaimRule(options.claim_rule),
            "assignors": None if assignors is None else listed_names(assignors),
        }
    )


def _prepare_page() -> None:
    """Load what the page needs."""
    from oracle.report import prepare_page

    prepare_page()


def _live(options: AuditOptions) -> LiveSource | None:
    server = options.bootstrap_server
    if server is None:
        return None
    from pipeline.live import find_live_source

    live = find_live_source(server, client_settings(options))
    for note in live.notes:
        complain(f"no lag without {note}")
    return live


def client_settings(options: AuditOptions) -> ClientSettings:
    """Read the settings of the connection to the cluster."""
    from pipeline.live import ClientSettings, read_client_properties

    config = options.command_config
    if config is None:
        return ClientSettings()
    refuse_replaced(options.out, [config])
    return read_client_properties(config)


def _complain_if_unreadable(summary: AuditSummary, sources: Sequence[str]) -> None:
    """Exit with 2 if nothing could be judged and part of the input was unreadable."""
    unreadable = any(why.startswith("unreadable") for why in summary.quarantine)
    if unreadable and not (summary.rows["rebalances"] or summary.rows["snapshots"]):
        reason = "no record could be judged; see the table quarantine"
        raise SourceError(reason, source=", ".join(sources) or "--bootstrap-server")


def _end_if_lost(summary: AuditSummary, *, accepted: bool) -> None:
    """Exit with 4 if part of the input was lost, unless that is accepted.

    What is set aside by design, such as groups of other kinds, is not lost.
    """
    lost = {
        why: count for why, count in summary.quarantine.items() if why.startswith(_LOST)
    }
    if lost and not accepted:
        parts = counted(sum(lost.values()), "part")
        complain(
            f"{parts} of the input could not be read: see the table quarantine "
            "(--accept-losses: exit code 0)"
        )
        raise typer.Exit(LOST)


def document_of(done: CompletedAudit) -> dict[str, Any]:
    """Return the summary for ``--json``."""
    summary, facts = done.summary, done.facts
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
                "balanced": row.counts.balanced,
                "unbalanced": row.counts.unbalanced,
                "invalid": row.counts.invalid,
                "undetermined": row.counts.undetermined,
                "balanced_if_equal": row.counts.if_balanced,
                "unbalanced_if_equal": row.counts.if_unbalanced,
                "in_records": row.counts.recorded,
            }
            for row in facts.states.rows
        ],
    }


def _told(done: CompletedAudit) -> bytes:
    summary, facts = done.summary, done.facts
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
    parts: list[Part] = [
        table_of("Results of the clients", columns, rows),
        Line(""),
    ]
    if facts.states.rows:
        parts += [_snapshots(facts), Line("")]
    if summary.quarantine:
        aside = [
            (count, visible(reason, limit=100))
            for reason, count in summary.quarantine.items()
        ]
        parts += [table_of("Not judged", ("records", "reason"), aside), Line("")]
    side = _side_files(done.used)
    if side:
        parts.append(Line(f"with    {side}"))
    parts += [
        Line(f"java    {visible(summary.java)}"),
        Line(f"tables  {visible(summary.out)}"),
        Line(f"page    {visible(f'{summary.out}/{PAGE}')}"),
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


def _snapshots(facts: Facts) -> Part:
    columns = (
        "group",
        "balanced",
        "unbalanced",
        "invalid",
        "cannot be determined",
        "balanced if equal",
        "unbalanced if equal",
        "in the records",
    )
    rows = [
        (
            abridged(row.group, NAME_SHOWN),
            row.counts.balanced,
            row.counts.unbalanced,
            row.counts.invalid,
            row.counts.undetermined,
            row.counts.if_balanced,
            row.counts.if_unbalanced,
            row.counts.recorded,
        )
        for row in facts.states.rows
    ]
    return table_of("Snapshots", columns, rows)


def _side_files(used: dict[str, Any]) -> str:
    """Return the side files that the audit used."""
    said = {
        "topics": "partition counts from",
        "offsets": "lag from",
        "subscriptions": "subscriptions from",
    }
    return ", ".join(
        f"{words} {visible(used[key])}" for key, words in said.items() if used.get(key)
    )


@contextmanager
def shown_progress(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Show a bar per phase on standard error; without a terminal, one line each.

    ``is_quiet`` shows nothing without a terminal.
    """
    if not is_terminal(sys.stderr):
        yield _nothing if is_quiet else _lines()
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


def _nothing(_phase: str, _done: int, _total: int) -> None:
    """Show no progress."""


def _lines() -> Progress:
    told: set[str] = set()

    def show(phase: str, _done: int, _total: int) -> None:
        if phase not in told and sys.stderr is not None:
            told.add(phase)
            words = _PHASES.get(phase, f"writing the {phase}")
            print(f"assignor-oracle: {words}", file=sys.stderr, flush=True)

    return show
