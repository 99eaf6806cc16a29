"""Documents of plan/1, and their schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from oracle.planning import Leave, PlanDocument, what_if
from rebalance import DocumentError, document_schema, parse_record
from tests.oracle.planning.questions import group, question
from tests.support.shapes import CHAIN, Document

VALIDATOR = Draft202012Validator(document_schema(PlanDocument))


def plan() -> Document:
    changes = [Leave(member="b")]
    outcome = what_if(group(CHAIN), changes, question())
    return PlanDocument.known(group="g", changes=changes, outcome=outcome).to_document()


def test_a_plan_meets_the_schema_and_is_read_again() -> None:
    document = json.loads(json.dumps(plan()))
    VALIDATOR.validate(document)
    assert parse_record(PlanDocument, json.dumps(document)).to_document() == document


@pytest.mark.parametrize("change", [{"group": 1}, {"outcome": None}, {"new": 1}])
def test_other_documents_are_refused(change: Document) -> None:
    document = plan() | change
    assert list(VALIDATOR.iter_errors(document))
    with pytest.raises(DocumentError):
        parse_record(PlanDocument, json.dumps(document))
