"""Documents of explanation/1, their schema, and statements that fail their check.

Reaches into `oracle.explanation` to falsify what a statement is derived from.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from oracle.explanation import (
    Explanation,
    explain_rebalance,
    explanation_lines,
    tight_sets,
)
from rebalance import DocumentError, document_schema, parse_record
from solver import explanation as derived
from tests.references.naive_explanations import explained
from tests.support.examples import costly
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.support.strategies import rebalances_with_assignments

VALIDATOR = Draft202012Validator(document_schema(Explanation))


@costly()
@given(rebalances_with_assignments(valid=False))
def test_documents_meet_the_schema_and_are_read_again(
    pair: tuple[Document, Document],
) -> None:
    for assignment in (None, pair[1]):
        found = explained(pair[0], assignment)
        document = json.loads(json.dumps(found.to_document()))
        VALIDATOR.validate(document)
        assert parse_record(Explanation, json.dumps(document)) == found
        lines = list(explanation_lines(found))
        assert all(statement.text.endswith(".") for statement in found.statements)
        assert len(lines) >= 2


@pytest.mark.parametrize("change", [{"answer": "good"}, {"more": None}, {"new": 1}])
def test_other_documents_are_refused(change: Document) -> None:
    document = explained(CHAIN).to_document() | change
    assert list(VALIDATOR.iter_errors(document))
    with pytest.raises(DocumentError):
        parse_record(Explanation, json.dumps(document))


def statement(found: Explanation, kind: str) -> str:
    """Return the sentence of the first statement of a kind."""
    return next(
        statement.text for statement in found.statements if statement.kind == kind
    )


def test_the_sentence_of_a_block_above_another() -> None:
    document = rebalance(
        {"big": 41, "small": 1},
        {
            **{f"c{n}": member(["big"]) for n in range(3)},
            "c3": member(["big", "small"]),
            "d": member(["small"]),
        },
    )
    found = explained(document)
    texts = [
        statement.text for statement in found.statements if statement.kind == "block"
    ]
    assert texts[0] == (
        "All 41 partitions of topic big can only go to c0, c1, c2 and c3. The other"
        " topic of these members, small, goes to members with fewer partitions. So 11,"
        " 10, 10, 10 is the most even."
    )
    assert texts[1] == (
        "The one partition of topic small can go to d, or to c3, which holds at least"
        " as many in any case, so 1 is the most even."
    )
    assert len(texts) == 2


def test_the_sentence_of_capacities() -> None:
    members = {"a": member(["t"], capacity=2), "b": member(["t"])}
    found = explained(rebalance({"t": 9}, members))
    assert statement(found, "block") == (
        "All 9 partitions of topic t can only go to a and b, so 6 (capacity 2), 3"
        " (capacity 1) is the most even."
    )


def test_the_sentence_of_claims_that_balance_forbids() -> None:
    members = {
        "a": member(["t", "u"], {"u": [0]}, 1),
        "b": member(["t", "u"]),
        "c": member(["u"]),
    }
    found = explained(rebalance({"t": 6, "u": 1}, members))
    assert statement(found, "outranked") == (
        "a cannot keep u:0 (1 partition): balance requires that the topic goes to c,"
        " which holds less."
    )


def test_bug_an_empty_list_of_a_topic_that_does_not_exist() -> None:
    """The judge accepts it, but it has no column."""
    members = {"a": {"t": [0], "gone": []}, "b": {"t": [1]}}
    given = {"format": "assignment/1", "members": members}
    assert explained(CYCLE, given).answer == "best"


def wrong_claims(*arguments: Any) -> Any:
    crowds = derived.crowds_of(*arguments)
    return [crowd._replace(claims=crowd.claims + 1) for crowd in crowds]


def wrong_blocks(*arguments: Any) -> Any:
    first, *rest = derived.blocks_of(*arguments)
    return [first._replace(members=first.members[1:]), *rest]


def wrong_chains(*arguments: Any) -> Any:
    found = derived.balance(*arguments)
    return found._replace(chains=[chain[1:] for chain in found.chains])


def wrong_exchanges(*arguments: Any) -> Any:
    found = derived.needless_moves(*arguments)
    return [exchange._replace(transfers=exchange.transfers[:-1]) for exchange in found]


STANDS = {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}}
CYCLE = rebalance(
    {"t": 2}, {"a": member(["t"], {"t": [0]}, 1), "b": member(["t"], {"t": [1]}, 1)}
)
CROSSED = {"a": {"t": [1]}, "b": {"t": [0]}}


@pytest.mark.parametrize(
    ("module", "name", "wrong", "document", "members", "kind", "withdrawn"),
    [
        (tight_sets, "crowds_of", wrong_claims, CHAIN, None, "claims", 3),
        (tight_sets, "blocks_of", wrong_blocks, CHAIN, None, "block", 1),
        (explain_rebalance, "balance", wrong_chains, CHAIN, STANDS, "chain", 1),
        (
            explain_rebalance,
            "needless_moves",
            wrong_exchanges,
            CYCLE,
            CROSSED,
            "exchange",
            1,
        ),
    ],
)
def test_a_false_statement_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    wrong: Callable[..., Any],
    document: Document,
    members: Document | None,
    kind: str,
    withdrawn: int,
) -> None:
    """An error in what derives the statements does not reach the user."""
    given = None
    if members is not None:
        given = {"format": "assignment/1", "members": members}
    assert kind in [
        statement.kind for statement in explained(document, given).statements
    ]
    monkeypatch.setattr(module, name, wrong)
    found = explained(document, given)
    assert kind not in [statement.kind for statement in found.statements]
    assert found.withdrawn == withdrawn
    assert "failed the check" in list(explanation_lines(found))[-1]
