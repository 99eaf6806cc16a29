"""Folders of reproducers: the files as rendered, and ``reproducer.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Literal

from conformance.reproducers.rendering import Reproducer
from conformance.reproducers.reproducer_run import ReproducerRun
from conformance.runs.run_records import CategoryName
from conformance.strict_model import Day, StrictModel

RECORD: Final = "reproducer.json"


class ReproducerRecord(StrictModel):
    """The case of a rendered test, and the result of a run of it (reproducer/1).

    Attributes
    ----------
    command
        Shell command that installs the client and runs the test.
    shows
        The category of the finding.
    confirmed
        Whether a run of the test failed with this finding.
    output
        Lines of the runner, or why there was no run.
    date
        Day of the run, UTC.
    """

    format: Literal["reproducer/1"] = "reproducer/1"
    finding: str
    client: str
    version: str
    assignor: str
    language: str
    file: str
    command: str
    shows: CategoryName
    confirmed: bool
    output: str
    date: Day


def record_of(
    reproducer: Reproducer, ran: ReproducerRun | str, *, date: str
) -> ReproducerRecord:
    """Return the record of a run, or of why there was none."""
    case = reproducer.case
    return ReproducerRecord(
        finding=case.name,
        client=case.assignor.client,
        version=case.assignor.version,
        assignor=case.assignor.assignor,
        language=reproducer.language,
        file=reproducer.file,
        command=reproducer.command,
        shows=case.category.value,
        confirmed=isinstance(ran, ReproducerRun) and ran.confirmed,
        output=ran.output if isinstance(ran, ReproducerRun) else ran,
        date=date,
    )


def write_reproducer(
    folder: Path, reproducer: Reproducer, record: ReproducerRecord
) -> None:
    """Write the files and the record into a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in reproducer.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    text = json.dumps(record.model_dump(), indent=2, ensure_ascii=False)
    (folder / RECORD).write_text(f"{text}\n", encoding="utf-8")


def read_record(folder: Path) -> ReproducerRecord:
    """Read the record of a folder of `write_reproducer`."""
    return ReproducerRecord.model_validate_json((folder / RECORD).read_bytes())
