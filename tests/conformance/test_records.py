"""Records and their JSON Schemas, which are published in docs/data."""

from __future__ import annotations

import copy
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from conformance.runs import (
    Category,
    Finding,
    Recorder,
    RunPlan,
    RunSummary,
    external_command,
    parse_finding,
    parse_run,
    run_families,
    subject_record,
)
from conformance.shrinking import ShrinkTask, shrink_task, shrunk_record
from rebalance import DocumentError, document_schema

DATA = Path(__file__).parents[2] / "docs" / "data"
SCHEMAS = {"finding-1": document_schema(Finding), "run-1": document_schema(RunSummary)}
COMMAND = f"{sys.executable} -S {Path(__file__).with_name('faulty_adapter.py')} crash"


@pytest.fixture(scope="module")
def records() -> tuple[list[Finding], list[RunSummary]]:
    external = external_command(COMMAND, seconds=20)
    plan = RunPlan(families=("stale", "left"), count=10)
    counted = list(run_families(external, plan).values())
    sightings = [sighting for counts in counted for sighting in counts.sightings]
    recorder = Recorder(
        subject=subject_record(external),
        cooperative=False,
        repeat=f"assignor-oracle fuzz {external.option}",
        date="2026-11-23",
        oracle="0.1.0",
    )
    with closing(external.start()) as subject:
        tasks = [
            ShrinkTask(
                sighting=sighting, external=external, cooperative=False, seconds=60
            )
            for sighting in sightings
        ]
        shrunk = [shrink_task(subject, task) for task in tasks]
    pairs = zip(sightings, shrunk, strict=True)
    findings = [
        recorder.finding(sighting, shrunk_record(small)) for sighting, small in pairs
    ]
    return findings, [recorder.summary(counts, seed=0, first=0) for counts in counted]


def dumped(record: Finding | RunSummary) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(record.model_dump_json(exclude_none=True))
    return value


@pytest.mark.parametrize("name", SCHEMAS)
def test_published_schemas_are_those_of_the_records(name: str) -> None:
    """After a change of a record, write what this test prints to the file."""
    Draft202012Validator.check_schema(SCHEMAS[name])
    text = json.dumps(SCHEMAS[name], indent=2, ensure_ascii=False) + "\n"
    assert (DATA / f"{name}.schema.json").read_text(encoding="utf-8") == text


@pytest.mark.heavy
def test_records_are_read_again(
    records: tuple[list[Finding], list[RunSummary]],
) -> None:
    findings, summaries = records
    assert {finding.category for finding in findings} >= {"crash", "needless-moves"}
    for finding in findings:
        assert parse_finding(json.dumps(dumped(finding))) == finding
        assert finding.shrunk is not None
        assert finding.shrunk.minimal
        Draft202012Validator(SCHEMAS["finding-1"]).validate(dumped(finding))
    for summary in summaries:
        assert parse_run(json.dumps(dumped(summary))) == summary
        assert list(summary.outcomes) == [category.value for category in Category]
        Draft202012Validator(SCHEMAS["run-1"]).validate(dumped(summary))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "finding/2"),
        ("category", "odd"),
        ("rounds", []),
        ("seed", -1),
        ("colour", "red"),
        ("shrunk", None),
        ("index", "1"),
    ],
)
def test_a_damaged_finding_is_rejected(
    records: tuple[list[Finding], list[RunSummary]], key: str, value: object
) -> None:
    damaged = copy.deepcopy(dumped(records[0][0])) | {key: value}
    assert list(Draft202012Validator(SCHEMAS["finding-1"]).iter_errors(damaged))
    with pytest.raises(DocumentError):
        parse_finding(json.dumps(damaged))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("key", "value"),
    [("format", "finding/1"), ("outcomes", {"odd": 1}), ("date", "today")],
)
def test_damaged_counts_are_rejected(
    records: tuple[list[Finding], list[RunSummary]], key: str, value: object
) -> None:
    damaged = dumped(records[1][0]) | {key: value}
    assert list(Draft202012Validator(SCHEMAS["run-1"]).iter_errors(damaged))
    with pytest.raises(DocumentError):
        parse_run(json.dumps(damaged))
