"""Printed documents meet their JSON Schemas, which state the meaning of fields."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import verify
from heuristics import ASSIGNORS
from oracle.alerting import AuditSummaryDocument
from oracle.audit_diff import AuditDiff
from oracle.cli import run
from oracle.comparison import comparison_of
from oracle.explanation import Explanation
from oracle.planning import PlanDocument
from rebalance import AssignmentDocument, Rebalance, document_schema, parse_rebalance
from tests.docs.test_examples import LISTED, is_plain
from tests.oracle.cli.commands import Cli
from tests.support.pages import ROOT
from tests.support.shapes import Document
from tests.support.strategies import rebalances, rebalances_with_assignments
from tests.verify.test_cases import FOLDERS, expectation_of, name_of, texts_of
from tools.site.schema_page import schema_page

DATA = ROOT / "docs" / "data"
SCHEMAS = {
    schema["title"]: schema
    for path in sorted(DATA.glob("*.schema.json"))
    for schema in [json.loads(path.read_text(encoding="utf-8"))]
}
DESCRIBED = [
    *SCHEMAS.values(),
    document_schema(Rebalance),
    document_schema(AssignmentDocument),
]
PRINTED = ("check/1", "comparison/1", "front/1", "verdict/1")
"""Formats without models: commands write plain JSON values, as the judge does."""
VALIDATORS = {kind: Draft202012Validator(SCHEMAS[kind]) for kind in PRINTED}


def check(document: Document) -> str:
    """Validate a document by the schema of its format; return the format."""
    kind = str(document["format"])
    VALIDATORS[kind].validate(json.loads(json.dumps(document)))
    return kind


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_published_schema_is_strict(schema: Document) -> None:
    """A record has no other fields, and the format is always stated."""
    Draft202012Validator.check_schema(schema)
    records = [schema, *schema.get("$defs", {}).values()]
    for record in records:
        assert "properties" not in record or record["additionalProperties"] is False
    assert "format" in schema["required"]
    assert schema["properties"]["format"]["const"] == schema["title"]


@pytest.mark.parametrize(
    "model",
    [AuditDiff, AuditSummaryDocument, Explanation, PlanDocument],
    ids=lambda model: model.__name__,
)
def test_a_published_schema_is_that_of_the_records(
    model: type[AuditDiff | AuditSummaryDocument | Explanation | PlanDocument],
) -> None:
    """After a change of a record, write what this test prints to the file."""
    schema = document_schema(model)
    file = DATA / f"{schema['title'].replace('/', '-')}.schema.json"
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("schema", DESCRIBED, ids=lambda schema: schema["title"])
def test_every_field_has_a_meaning(schema: Document) -> None:
    page = schema_page(schema, file="f.json", example=None)
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    meanings = [re.split(r"(?<!\\)\|", row)[4].strip() for row in rows]
    fields = [schema, *schema.get("$defs", {}).values()]
    assert len(meanings) == sum(len(field.get("properties", ())) for field in fields)
    assert [row for row, text in zip(rows, meanings, strict=True) if not text] == []


PRINTING = [
    pytest.param(command, id=command[:60])
    for page, _, command, _ in LISTED
    if is_plain(page, command)
    and shlex.split(command)[1] in {"judge", "compare", "front", "conform"}
]


def documents_in(printed: str) -> Iterator[Document]:
    for line in printed.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if found.get("format") in VALIDATORS:
                yield found


def test_commands_of_the_pages_print_such_documents(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    kinds: Counter[str] = Counter()
    for case in PRINTING:
        run(shlex.split(str(case.values[0]))[1:])
        printed = b"".join(capsysbinary.readouterr()).decode()
        kinds.update(map(check, documents_in(printed)))
    assert kinds["front/1"]
    assert kinds["verdict/1"]


EXAMPLES = ROOT / "docs" / "examples"
LINES = (
    ("compare", "--json", EXAMPLES / "chain.json"),
    ("compare", "--json", EXAMPLES / "lag.json"),
    ("front", EXAMPLES / "front.json"),
    ("front", "--objective", "peak-lag", EXAMPLES / "front.json"),
    ("judge", "--json", "--against", "optimum", EXAMPLES / "explain.json",
     EXAMPLES / "explain-answer.json"),
    ("conform", "--json", "--client", "no-such-client"),
)  # fmt: skip
CRASH = (
    *("conform", "--json", "--command", "sh -c 'read -r line; exit 1'"),
    *("--family", "churn", "--count", "2"),
)


@pytest.mark.parametrize(
    "line",
    [*LINES, pytest.param(CRASH, marks=pytest.mark.heavy)],
    ids=lambda line: f"{line[0]} {line[1]}",
)
def test_commands_print_such_documents(
    line: tuple[str | Path, ...], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = list(documents_in(Cli(capsysbinary)(*line).out.decode()))
    assert found or "no-such-client" in line
    for document in found:
        check(document)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_verdicts_on_the_cases_meet_their_schema(folder: Path) -> None:
    assert check(expectation_of(folder)[1]) == "verdict/1"
    assert texts_of(folder)


@pytest.mark.heavy
@given(rebalances_with_assignments(valid=False))
def test_verdicts_on_drawn_answers_meet_their_schema(
    drawn: tuple[Document, Document],
) -> None:
    instance, answer = drawn
    for cooperative in (False, True):
        check(verify.judge(instance, answer, cooperative=cooperative))


@pytest.mark.heavy
@given(rebalances())
def test_comparisons_of_drawn_instances_meet_their_schema(instance: Document) -> None:
    found = comparison_of(parse_rebalance(json.dumps(instance)), "newest-claim")
    check(found)
    assert len(found["answers"]) == 2 + len(ASSIGNORS)


@pytest.mark.parametrize("kind", VALIDATORS)
def test_other_documents_are_refused(kind: str) -> None:
    validator = VALIDATORS[kind]
    assert list(validator.iter_errors({"format": kind}))
    assert list(validator.iter_errors({"format": kind, "new": 1}))
