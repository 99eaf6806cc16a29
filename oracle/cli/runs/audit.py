"""Run an audit, show progress, write the page, print a summary."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.cli.codes import LOST, NO
from oracle.cli.options.audit import EVERY, AuditOptions
from oracle.cli.options.common import listed_names
from oracle.cli.options.file_roles import STANDARD
from oracle.cli.options.values import stated_options
from oracle.cli.printing.audit import audit_parts
from oracle.cli.printing.progress import Progress, shown_progress
from oracle.cli.printing.sink import opened_sink
from oracle.cli.printing.terminal import complain, printed
from oracle.wording import counted
from oracle.writing import replacing
from pipeline.audit import (
    AuditRequest,
    AuditSummary,
    audit,
    is_part_of_audit,
    refuse_replaced,
    spare_pandas,
)
from pipeline.tables import PAGE
from rebalance import ClaimRule, OffsetReset, OutputError, SourceError

if TYPE_CHECKING:
    from oracle.alerting import AuditFigures
    from oracle.audit_diff import AuditDiff
    from oracle.cli.options.fail_on import FailOn
    from oracle.report.facts import Facts
    from oracle.report.news import News
    from pipeline.live import ClientSettings, LiveSource

_LOST: Final = "unreadable"
"""The kind of quarantine of damaged records; all other records were read."""
_STATED: Final = (
    "bootstrap_server",
    "command_config",
    "out",
    "history",
    "keep_days",
    "cluster",
    "topics",
    "offsets",
    "subscriptions",
    "auto_offset_reset",
    "source_format",
    "columns",
    "encoding",
    "group_name",
    "since",
    "until",
    "groups",
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
            sink.write_document(done.document())
        else:
            used = done.manifest["parameters"]
            parts = audit_parts(done.summary, done.facts, used)
            sink.write_text(printed(*parts))
    if lacking := done.facts.lag_missing:
        judged = counted(lacking, "rebalance or snapshot", "rebalances or snapshots")
        complain(
            f"no lag of {judged}: --lag lacks partitions of the group; "
            "lag_missing in the tables names them"
        )
    _complain_if_unreadable(done.summary, options.sources or ())
    is_lost = _complain_if_lost(done.summary, accepted=options.accept_losses)
    _end_if_failed(options.fail_on, done)
    if is_lost:
        raise typer.Exit(LOST)


@dataclass(frozen=True, slots=True)
class CompletedAudit:
    """Summary of an audit, facts of its page, ``audit.json``, and its figures.

    The figures are None if no option asks for them, and the comparison with the audit
    before if there is none.
    """

    summary: AuditSummary
    facts: Facts
    manifest: dict[str, Any]
    figures: AuditFigures | None
    diff: AuditDiff | None

    def document(self) -> dict[str, Any]:
        """Return the summary for programs."""
        from oracle.alerting import audit_summary

        return audit_summary(self.summary, self.facts, self.manifest).to_document()


def audited(
    options: AuditOptions,
    live: LiveSource | None,
    progress: Progress,
    run: Callable[..., AuditSummary] | None = None,
) -> CompletedAudit:
    """Run an audit; ``live`` is the running cluster among its sources.

    ``run`` takes the place of `pipeline.audit.audit`.

    Once it is complete, its metrics and its summary are written, if asked for.
    """
    metrics = _checked_file(options.out, "--metrics", options.metrics)
    summary_file = _checked_file(options.out, "--summary", options.summary)
    is_alerting = metrics is not None or options.fail_on is not None
    written: list[tuple[Any, ...]] = []

    def page(folder: Path) -> None:
        written.append(_with_page(folder, options, is_alerting=is_alerting))

    spare_pandas()
    summary = (run or audit)(
        _request(options),
        live=live,
        progress=progress,
        tell=complain,
        page=page,
        meanwhile=_prepare_page,
    )
    done = CompletedAudit(summary, *written[0])
    if metrics is not None and done.figures is not None:
        from oracle.alerting import metrics_text

        with replacing(metrics) as file:
            file.write(metrics_text(done.figures))
    if summary_file is not None:
        with opened_sink(str(summary_file), as_json=True) as sink:
            sink.write_document(done.document())
    return done


def _with_page(
    folder: Path, options: AuditOptions, *, is_alerting: bool
) -> tuple[Facts, dict[str, Any], AuditFigures | None, AuditDiff | None]:
    """Write the page of complete tables; return the later parts of `CompletedAudit`."""
    from oracle.alerting import read_figures
    from oracle.report import write_page

    manifest = json.loads((folder / "audit.json").read_bytes())
    diff = _compared(folder, manifest)
    facts = write_page(
        folder, folder / PAGE, command=command_of(options), news=_news(diff)
    )
    figures = read_figures(folder) if is_alerting else None
    return facts, manifest, figures, diff


def _compared(folder: Path, manifest: Mapping[str, Any]) -> AuditDiff | None:
    """Compare an audit of a store with the one before, if there is one."""
    if "history" not in manifest:
        return None
    from oracle.audit_diff import diff_of_last_night

    return diff_of_last_night(folder, manifest["history"])


def _news(diff: AuditDiff | None) -> News | None:
    """Return the lines of a comparison; None if there is nothing to say."""
    if diff is None or diff.is_empty:
        return None
    from oracle.audit_diff import news_of

    return news_of(diff)


def _checked_file(out: str, option: str, file: Path | None) -> Path | None:
    """Return the file of an option, if there will be one.

    Raises
    ------
    typer.BadParameter
        If it would be a part of the audit.
    OutputError
        If its folder does not exist.
    """
    if file is None:
        return None
    if str(file) == STANDARD:
        raise typer.BadParameter(f"{option} requires a file")
    if is_part_of_audit(out, file):
        raise typer.BadParameter(f"{option} {file} is a file of the audit in --out")
    in_out = file.parent.resolve() == Path(out).resolve()
    if not (in_out or file.parent.is_dir()):  # the audit creates its own folder
        raise OutputError("cannot write: its folder does not exist", target=str(file))
    return file


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
            "history": options.store,
            "sources": options.sources or (),
            "lag": options.lag or (),
            "groups": options.groups or (),
            "offset_reset": OffsetReset(options.auto_offset_reset),
            "claim_rule": ClaimRule(options.claim_rule),
            "assignors": None if assignors is None else listed_names(assignors),
        }
    )


def _prepare_page() -> None:
    """Load the tables that the page needs."""
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
    judged = summary.rows["rebalances"] + summary.rows["snapshots"]
    if unreadable and not (judged or summary.left_out):
        reason = "no record could be judged; see the table quarantine"
        raise SourceError(reason, source=", ".join(sources) or "--bootstrap-server")


def _end_if_failed(fail_on: FailOn | None, done: CompletedAudit) -> None:
    """Exit with 1 if a condition holds, also if part of the input was lost."""
    if fail_on is None or done.figures is None:
        return
    from oracle.cli.runs.audit_conditions import failed_comparisons, failed_conditions

    failed = [
        *failed_conditions(fail_on.of_figures, done.figures),
        *failed_comparisons(fail_on.worse, done.diff),
    ]
    if failed:
        complain(f"--fail-on: {'; '.join(failed)}")
        raise typer.Exit(NO)


def _complain_if_lost(summary: AuditSummary, *, accepted: bool) -> bool:
    """Report that part of the input was lost, unless that is accepted.

    Records that are quarantined by design, such as groups of other kinds, are not lost.
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
        return True
    return False
