"""Run the quality study: ``python -m benchmarks.quality``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.quality.answering import record_file
from benchmarks.quality.export import CSV, PARQUET, export_records
from benchmarks.quality.results_page import results_part
from benchmarks.quality.study_comparison import differences
from benchmarks.quality.study_plan import (
    COUNT,
    FAMILY_SECONDS,
    SECONDS,
    SEEDS,
    StudyPlan,
)
from benchmarks.quality.study_run import run_study
from benchmarks.quality.study_subjects import (
    StudySubject,
    client_subjects,
    command_subject,
    own_subjects,
)
from benchmarks.quality.study_summary import read_summary, summary_of, write_summary
from benchmarks.result_page import write_into
from conformance.clients import UnknownClientError
from conformance.runs import OwnDrawError, UnknownFamilyError, check_family
from rebalance import OracleError
from tools.pictures.quality_figures import quality_pictures

ROOT: Final = Path(__file__).resolve().parents[2]
SUMMARY: Final = "quality.jsonl"
STORED: Final = ROOT / "docs" / "data" / SUMMARY
PAGE: Final = ROOT / "docs" / "quality" / "results.md"
PICTURES: Final = ROOT / "docs" / "images" / "quality"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a study.

    Returns
    -------
    int
        1 if it does not repeat the one of ``--check``, 2 for a file that cannot be
        read, 3 if an assignor is missing or cannot be started, else 0.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends programs, too
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.read is not None:
        _write(read_summary(options.read), options.out, store=options.store)
        return 0
    plan = _plan(options)
    found = _found(parser, options)
    subjects = [subject for subject in found if isinstance(subject, StudySubject)]
    missing = [reason for reason in found if isinstance(reason, str)]
    folder: Path = options.out
    try:
        answered = run_study(plan, subjects, folder, workers=options.workers, say=_say)
    except OracleError as error:
        _say(f"benchmarks.quality: {error}")
        return error.exit_code
    parts = [record_file(folder, s.name, f) for s in answered for f in plan.names]
    count = export_records(parts, folder)
    _say(f"{count:,} records: {folder / PARQUET}, {folder / CSV}")
    about = {
        "version": version("assignor-oracle"),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    lines = list(summary_of(plan, answered, folder, **about))
    _write(lines, folder, store=options.store)
    for reason in missing:
        _say(f"not in the study: {reason}")
    is_repeated = options.check is None or _is_repeated(options.check, lines)
    if not is_repeated:
        return 1
    return 3 if missing or len(answered) < len(subjects) else 0


def _found(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> list[StudySubject | str]:
    """Return the subjects, or why one is missing; end with a usage error else."""
    try:
        for name in options.family:
            check_family(name, seed=1, index=0)
        return list(_subjects(options))
    except (UnknownFamilyError, OwnDrawError, UnknownClientError) as error:
        parser.error(str(error))


def _write(lines: list[dict[str, object]], folder: Path, *, store: bool) -> None:
    """Write summary, page, and figures, with ``store`` also those of the documents."""
    write_summary(folder / SUMMARY, lines)
    page = "# Quality of assignors: results\n\n" + results_part(lines, pictures=".")
    (folder / "results.md").write_text(page, encoding="utf-8")
    for name, svg in quality_pictures(lines):
        (folder / name).write_text(svg, encoding="utf-8")
        if store:
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / name).write_text(svg, encoding="utf-8")
    if store:
        write_summary(STORED, lines)
        write_into(PAGE, results_part(lines, pictures="../images/quality"))


def _is_repeated(stored: Path, lines: Sequence[dict[str, object]]) -> bool:
    found = list(differences(read_summary(stored), lines))
    for difference in found:
        _say(f"not repeated: {difference}")
    _say(f"{len(found)} differences from {stored}")
    return not found


def _plan(options: argparse.Namespace) -> StudyPlan:
    return StudyPlan(
        families=tuple(dict.fromkeys(options.family)),
        seeds=options.seeds,
        count=options.count,
        given=options.instances,
        seconds=options.seconds,
        family_seconds=options.family_seconds,
    )


def _subjects(options: argparse.Namespace) -> Iterator[StudySubject | str]:
    """Yield the assignors to be studied: the named ones, or else all there are."""
    named = options.own or options.client or options.command
    if options.command:
        yield command_subject(options.command, cooperative=options.cooperative)
    if options.own or not named:
        yield from own_subjects(*([options.own] if options.own else []))
    if options.client or not named:
        yield from client_subjects(options.client)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description="Let every assignor answer the same instances; write records "
        "(Parquet, CSV), a summary, a page, and two figures. What an interrupted study "
        "has done is used again.",
    )
    add = parser.add_argument
    add("--family", action="append", default=[], metavar="NAME|MODULE:FUNCTION")
    add("--instances", type=Path, metavar="FILE", help="rebalance/1 documents")
    add("--seeds", type=_positive, default=SEEDS, help="seeds 1 to this number")
    add("--count", type=_positive, default=COUNT, help="instances per family")
    add("--own", action="append", default=[], choices=list(_own_names()))
    add("--client", action="append", default=[], metavar="NAME[@VERSION][/ASSIGNOR]")
    add("--command", metavar="CMD", help="a program to study, as of `fuzz`")
    add("--cooperative", action="store_true", help="the command plays in rounds")
    add("--seconds", type=float, default=SECONDS, help="CPU time per answer")
    prefix = "limit of the answers of one assignor and family; the rest is left out"
    add("--family-seconds", type=float, default=FAMILY_SECONDS, help=prefix)
    add("--workers", type=_positive, default=2)
    add("--out", type=Path, default=Path("out/quality"), help="folder")
    add("--read", type=Path, metavar="FILE", help="a summary, instead of running")
    add("--check", type=Path, metavar="FILE", help="summary that is to be repeated")
    add("--store", action="store_true", help="write docs/: summary, page, figures")
    return parser


def _own_names() -> Iterator[str]:
    return (subject.assignor for subject in own_subjects())


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("a number above 0")
    return number


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
