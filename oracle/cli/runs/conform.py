"""Run the checks of ``conform`` and write them as a matrix, TAP, JUnit XML, or JSON."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import typer

from conformance.checks import (
    LONGEST,
    Check,
    CommandOf,
    GaveUpError,
    JunitReport,
    Report,
    TapReport,
    UnknownCheckError,
    algorithms,
    corpus_checks,
    examined_checks,
    family_checks,
    find_check,
    name_of_check,
    selected_check,
    until_hanging,
)
from conformance.clients import Verdict
from conformance.runs import FAMILIES, External, Requirement, Subject, family_of
from oracle.cli.codes import FINE, NO, OUTSIDE
from oracle.cli.input.subjects import (
    Absent,
    Tested,
    check_families,
    tested_subjects,
)
from oracle.cli.options.conform import ConformOptions
from oracle.cli.options.values import stated_options
from oracle.cli.printing.conform import CheckLines, Matrix
from oracle.cli.printing.sink import Sink, opened_sink
from oracle.cli.printing.terminal import working
from oracle.writing import replacing
from rebalance import OutsideError

_EXIT: Final = re.compile("exit code ")
"""Not a signal: a fault of the program itself, which has started."""
_STATED: Final = (
    "cooperative",
    "algorithm",
    "seconds",
    "patient",
    "deterministic",
    "memory",
    "require",
)
"""Options on which the outcome of a check depends."""


def _check_names(options: ConformOptions) -> None:
    """Check the names of families, of checks, and of the algorithm.

    Raises
    ------
    typer.BadParameter
        If there is no such name; the message lists those that exist.
    """
    check_families(options.family or (), seed=options.seed)
    if options.algorithm is not None and options.algorithm not in algorithms():
        known = ", ".join(algorithms())
        raise typer.BadParameter(f"--as: no {options.algorithm!r}; there are {known}")
    for name in options.check or ():
        try:
            find_check(name)
        except UnknownCheckError as error:
            raise typer.BadParameter(f"--check: {error}") from None


@dataclass(frozen=True, slots=True)
class _Checks:
    """The checks that the options of ``conform`` select."""

    options: ConformOptions

    def of(self, tested: Tested) -> Iterator[Check]:
        """Yield the checks of one subject: those named, or corpus and families.

        Raises
        ------
        GaveUpError
            If it does not answer several times in a row.
        OutsideError
            If it cannot be started.
        """
        with closing(tested.source.start()) as subject:
            checks = (
                self._named(subject, cooperative=tested.cooperative)
                if self.options.check
                else self._all(subject, cooperative=tested.cooperative)
            )
            started = _started(until_hanging(checks), tested.external)
            try:
                yield from examined_checks(
                    subject,
                    started,
                    is_declared=tested.deterministic,
                    cooperative=tested.cooperative,
                    are_selected=bool(self.options.check),
                )
            except OSError as error:
                raise OutsideError(f"cannot start: {error.strerror}") from None

    def _named(self, subject: Subject, *, cooperative: bool) -> Iterator[Check]:
        for name in self.options.check or ():
            yield selected_check(
                subject, name, algorithm=self.options.algorithm, cooperative=cooperative
            )

    def _all(self, subject: Subject, *, cooperative: bool) -> Iterator[Check]:
        family = self.options.family
        names = FAMILIES if family is None else family
        if self.options.corpus:
            yield from corpus_checks(
                subject, algorithm=self.options.algorithm, cooperative=cooperative
            )
        for name in names:
            yield from family_checks(
                subject,
                family_of(name),
                seed=self.options.seed,
                count=self.options.count,
                cooperative=cooperative,
            )


def _started(checks: Iterator[Check], external: External) -> Iterator[Check]:
    """Yield checks, unless the program ended before it answered anything.

    If it ends at the first check, it is asked the simplest rebalance, of one member and
    one partition: a program that ends there, too, has not started (a script that does
    not exist, a library that is missing), and is not a client that crashes.
    """
    for number, check in enumerate(checks):
        if number == 0 and check.result == "crash":
            answer = external.probe()
            if answer.verdict is Verdict.CRASH and _EXIT.match(answer.reason or ""):
                raise OutsideError(f"cannot start: {answer.reason}")
        yield check


def conform_all(options: ConformOptions) -> NoReturn:
    """Check every subject and write the reports.

    Raises
    ------
    typer.Exit
        With 3 if a client is not installed or a program cannot be started, else with 1
        if there is a finding.
    typer.BadParameter
        If an option names something that does not exist.
    OutsideError
        If there is no such program.
    """
    _check_names(options)
    subjects = tested_subjects(options)
    requirement = Requirement(options.require)
    diagnosed: dict[str, Any] = {
        "requirement": requirement,
        "command": _command_of(options, subjects),
        "longest": None if options.check else LONGEST,
    }
    with ExitStack() as files:
        sink = files.enter_context(opened_sink(options.output, as_json=True))
        reports: list[Report] = [_report(options, sink, diagnosed)]
        if options.junit is not None:
            write = files.enter_context(replacing(options.junit)).write
            reports.append(JunitReport(write=write, **diagnosed))
        # A table is written at the end, so that progress can be shown before it.
        is_table = not (options.tap or options.as_json)
        progress = working("checking", before_output=is_table)
        with progress as count:
            code = _run(options, subjects, reports, requirement, count)
        for report in reports:
            report.end()
    raise typer.Exit(code)


def _run(
    options: ConformOptions,
    subjects: Sequence[Tested | Absent],
    reports: Sequence[Report],
    requirement: Requirement,
    count: Callable[[], None],
) -> int:
    """Return the exit code; a check not made weighs more than a finding."""
    code = FINE
    for tested in subjects:
        if isinstance(tested, Absent):
            _state_not_run(reports, tested, tested.reason)
            code = OUTSIDE
            continue
        if options.repeat and not tested.repeats:
            tested.say_not_repeated()
        try:
            for check in _Checks(options).of(tested):
                for report in reports:
                    report.add(tested.name, check)
                if not check.passes(requirement):
                    code = max(code, NO)
                count()
        except OutsideError as error:
            _state_not_run(reports, tested, str(error))
            code = OUTSIDE
        except GaveUpError as error:
            _state_not_run(reports, tested, f"{error}: the remaining checks")
            code = max(code, NO)  # an impatient run has no other finding
    return code


def _state_not_run(
    reports: Sequence[Report], subject: Tested | Absent, reason: str
) -> None:
    for report in reports:
        report.not_run(subject.name, reason)


def _command_of(
    options: ConformOptions, subjects: Sequence[Tested | Absent]
) -> CommandOf:
    """Return a function that writes the command that repeats a check.

    It is a line for a shell, writes TAP with nothing left out, and has the options of
    this run that have other values than their defaults.
    """
    stated = shlex.join(stated_options(options, _STATED))
    of = {
        tested.name: f"{_option(tested.external)} {stated}".rstrip()
        for tested in subjects
        if isinstance(tested, Tested)
    }

    def command(subject: str, check: Check) -> str:
        name = shlex.quote(name_of_check(check))
        return f"assignor-oracle conform {of[subject]} --check {name} --tap"

    return command


def _option(external: External) -> str:
    """Return how ``conform`` names a program; it takes the wire where it has to."""
    client = external.client
    return external.option if client is None else f"--client {client.spec}"


def _report(options: ConformOptions, sink: Sink, diagnosed: dict[str, Any]) -> Report:
    if options.tap:
        return TapReport(write=lambda text: sink.write_text(text.encode()), **diagnosed)
    kind = CheckLines if options.as_json else Matrix
    return kind(sink, diagnosed["requirement"])
