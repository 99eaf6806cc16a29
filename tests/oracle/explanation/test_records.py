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
    bound_terms,
    explain_rebalance,
    explanation_lines,
    tight_sets,
)
from oracle.explanation.bound_records import Certified
from rebalance import DocumentError, document_schema, parse_record
from solver import explanation as derived
from tests.references.naive_explanations import Naive, explained
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


def test_a_bound_outside_its_scope_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loads 1, 1 are allowed: the judge does not prove 2, 0 without a scope."""
    alone = {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"])}

    def unscoped(**parts: object) -> object:
        return Certified.model_validate({**parts, "after": []})

    monkeypatch.setattr(bound_terms, "Certified", unscoped)
    found = explained(rebalance({"t": 2}, alone), None, "none; stickiness, load")
    assert (found.statements, found.withdrawn) == ([], 1)


def test_bug_levels_are_not_loads() -> None:
    """Both a and c hold 3 partitions in some balanced assignment."""
    document = rebalance(
        {"t": 7, "u": 5},
        {
            "a": member(["t", "u"], {"u": [0]}, 1),
            "b": member(["t"]),
            "c": member(["u"]),
            "d": member(["u"]),
        },
    )
    first, *_ = explained(document).statements
    assert "members that hold at most as many partitions even so" in first.text
    naive = Naive(document)
    pairs = [(loads["a"], loads["c"]) for loads in map(naive.loads, naive.balanced())]
    assert (3, 3) in pairs
    assert all(mine >= other for mine, other in pairs)
