"""Documents of plan/1, and their schema.

Reaches into `oracle.planning` for the schema, which the command does not need.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from oracle.planning import Leave, Plan, parse_plan, what_if
from oracle.planning.plan_schema import plan_schema
from rebalance import DocumentError
from tests.oracle.planning.questions import group, question
from tests.support.shapes import CHAIN, Document

DATA = Path(__file__).resolve().parents[3] / "docs" / "data"
VALIDATOR = Draft202012Validator(plan_schema())


def plan() -> Document:
    changes = [Leave(member="b")]
    outcome = what_if(group(CHAIN), changes, question())
    return Plan.known(group="g", changes=changes, outcome=outcome).to_document()


def test_the_published_schema_is_that_of_the_records() -> None:
    """After a change of a record, write what this test prints to the file."""
    Draft202012Validator.check_schema(plan_schema())
    text = json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"
    assert (DATA / "plan-1.schema.json").read_text(encoding="utf-8") == text


def test_a_plan_meets_the_schema_and_is_read_again() -> None:
    document = json.loads(json.dumps(plan()))
    VALIDATOR.validate(document)
    assert parse_plan(json.dumps(document)).to_document() == document


@pytest.mark.parametrize("change", [{"group": 1}, {"outcome": None}, {"new": 1}])
def test_other_documents_are_refused(change: Document) -> None:
    document = plan() | change
    assert list(VALIDATOR.iter_errors(document))
    with pytest.raises(DocumentError):
        parse_plan(json.dumps(document))
