"""Ways into the exact core, and what the judge finds of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import verify
from rebalance import (
    ClaimRule,
    Instance,
    count_kept,
    instance_of,
    parse_rebalance,
    to_json,
)
from solver import Result, Status, solve
from solver.exact import solve_without_closed_form
from tests.support.shapes import Document, rebalance

Route = Callable[[Instance], Result]
ROUTES: dict[str, Route] = {"solve": solve, "flow": solve_without_closed_form}


def instance(
    document: Document, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)), claim_rule=claim_rule)


def lagging(*lags: int, members: int = 2, **more: int) -> Document:
    """Return one topic with these lags, to which all members subscribe."""
    people = {f"m{i}": {"subscription": ["t"], **more} for i in range(members)}
    return rebalance({"t": {"partitions": len(lags), "lag": list(lags)}}, people)


def judged(
    document: Document,
    answer: Result,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
) -> dict[str, Any]:
    """Return the judge's verdict on an answer, as it stands in its document."""
    written = to_json(answer.to_document(instance(document, claim_rule)))
    return verify.judge(document, json.loads(written), claim_rule=claim_rule.value)


def check_proved(
    document: Document,
    answer: Result,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
) -> dict[str, Any]:
    """Assert that the judge finds the answer valid and both optima proved."""
    verdict = judged(document, answer, claim_rule)
    assert verdict["verdict"] == "valid", verdict
    assert verdict["violations"] == []
    assert verdict["proved"]["dec_min"], verdict
    assert verdict["proved"]["stickiness"], verdict
    assert verdict["figures"]["dec_min_balanced"], verdict
    assert answer.status is Status.OPTIMAL
    (stickiness,) = answer.objectives
    assert stickiness.value == stickiness.bound == verdict["figures"]["moves"]
    return verdict


def kept_by(laid_out: Instance, answer: Result) -> int:
    """Count the owned partitions that stay with their owner."""
    return count_kept(laid_out, answer.require_assignment())
