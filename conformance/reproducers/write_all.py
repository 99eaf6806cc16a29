"""Write the reproducers of all findings: ``reproducers/ID/CLIENT/``."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.clients import MissingClientError, all_client_assignors
from conformance.findings import (
    all_definitions,
    findings_by_definition,
    stored_records,
)
from conformance.findings.definitions.example import assignors_of
from conformance.reproducers.case import NoReproducerError, ReproducerCase
from conformance.reproducers.of_definitions import cases_of_definition
from conformance.reproducers.rendering import Reproducer, render
from conformance.reproducers.reproducer_record import record_of, write_reproducer
from conformance.reproducers.reproducer_run import ReproducerRun, confirm


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The result for one finding and client.

    Attributes
    ----------
    line
        In words.
    is_missing
        Whether it could not be tried, because the client is not installed.
    """

    line: str
    is_missing: bool = False


def write_definitions(
    out: Path,
    *,
    names: Collection[str] = (),
    clients: Collection[str] = (),
    date: str,
) -> Iterator[Written]:
    """Render, run, and write; yield the result for each finding and client.

    A finding of a client gets a folder if one of its cases can be rendered: the first
    that its run confirms, else the first. Earlier contents of the folder are removed,
    unless the client is missing.

    Parameters
    ----------
    out : Path
    names, clients : collection of str
        Findings and clients to write; all, if empty.
    date : str
        Day of the runs, UTC.
    """
    recorded = findings_by_definition(stored_records().findings)
    known = sorted({assignor.client for assignor in all_client_assignors()})
    for definition in all_definitions():
        if names and definition.id not in names:
            continue
        for client in known:
            if clients and client not in clients:
                continue
            if not assignors_of(definition, client):
                continue
            of_client = recorded.get(definition.id, ())
            cases = cases_of_definition(definition, client, of_client)
            where = f"{definition.id} {client}"
            try:
                said = _write_first(out / definition.id / client, cases, date=date)
            except MissingClientError as reason:
                yield Written(line=f"{where}: missing: {reason}", is_missing=True)
            else:
                yield Written(line=f"{where}: {said}")


def _write_first(folder: Path, cases: Iterator[ReproducerCase], *, date: str) -> str:
    """Write the first case that is confirmed, else the first; print the results."""
    first: tuple[Reproducer, ReproducerRun] | None = None
    try:
        for case in cases:
            reproducer = render(case)
            ran = confirm(reproducer)
            if first is None or ran.confirmed:
                first = (reproducer, ran)
            if ran.confirmed:
                break
    except NoReproducerError as reason:
        return f"no reproducer: {reason}"
    shutil.rmtree(folder, ignore_errors=True)
    if first is None:
        return "no reproducer: no example shows it"
    reproducer, ran = first
    write_reproducer(folder, reproducer, record_of(reproducer, ran, date=date))
    return f"{reproducer.case.assignor.spec}: {ran.result}"
