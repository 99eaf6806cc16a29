"""Reproducers of the findings of ``fuzz``: one folder per recorded finding."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.reproducers import (
    RECORD,
    SECONDS,
    NoReproducerError,
    ReproducerRun,
    case_of,
    confirm,
    record_of,
    render,
    write_reproducer,
)
from conformance.runs import Finding
from oracle.cli.options.file_roles import refuse_input
from rebalance import OutputError, OutsideError

_SAID = {
    "shown": "confirmed",
    "passed": "not confirmed: the test passes",
    "other": "not confirmed: the test fails for another reason",
    "late": "not confirmed: the test does not end",
}


def write_reproducers(
    findings: Sequence[Finding],
    folder: Path,
    *,
    date: str,
    deadline: float | None = None,
) -> Iterator[str]:
    """Render, run, and write the reproducer of each finding; yield a line per finding.

    After ``deadline``, of `time.monotonic`, they are written without being run.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    for finding in findings:
        parts = (finding.family, finding.category, finding.index, finding.step)
        name = "-".join(map(str, parts))
        try:
            reproducer = render(case_of(finding, name=name))
        except NoReproducerError as reason:
            yield f"{name}: no reproducer: {reason}"
            continue
        ran: ReproducerRun | str
        try:
            ran = confirm(reproducer, seconds=_left(deadline))
            said = _SAID[ran.result]
        except OutsideError as error:
            ran = str(error)
            said = f"not confirmed: {error}"
        place = folder / name
        for file in (*reproducer.files, RECORD):
            refuse_input(place / file)
        try:
            write_reproducer(place, reproducer, record_of(reproducer, ran, date=date))
        except OSError as error:
            why = error.strerror or str(error)
            raise OutputError(why, target=str(place)) from error
        yield f"{place / reproducer.file}: {said}"


def _left(deadline: float | None) -> float:
    """Return the seconds for a reproducer.

    Raises
    ------
    OutsideError
        If there are none.
    """
    if deadline is None:
        return SECONDS
    left = min(SECONDS, deadline - time.monotonic())
    if left <= 0:
        raise OutsideError("no time is left to run it")
    return left
