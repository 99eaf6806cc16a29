"""Set an assignment against the optimum, both as the judge counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from rebalance import AssignmentDocument, ClaimRule, instance_of, to_json
from rebalance.documents import rebalance_of
from solver import solve
from verify import judge

Document = dict[str, Any]

GAPS: Final = ("moves", "kip54_score")
"""Figures that a proved optimum has a least value for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The best assignment of one rebalance, and what the judge says of it."""

    assignment: Document
    verdict: Document

    @property
    def is_proved(self) -> bool:
        """Whether the judge found balance and stickiness proved."""
        proved = self.verdict["proved"]
        return bool(proved["dec_min"] and proved["stickiness"])

    def gap(self, figures: Mapping[str, Any]) -> dict[str, int] | None:
        """Count how far an assignment's figures are from it; None: not proved.

        An assignment that is less even than it can be may move less than the optimum:
        its gap in moves is then below 0.
        """
        if not self.is_proved or not figures:
            return None
        best = self.verdict["figures"]
        return {name: figures[name] - best[name] for name in GAPS}


def optimum_of(instance: Document, claim_rule: str) -> Optimum:
    """Solve one rebalance/1 document and let the judge check the answer.

    Raises
    ------
    DocumentError, InstanceError
        If the document is no sound instance.
    """
    columns = instance_of(rebalance_of(instance), claim_rule=ClaimRule(claim_rule))
    assignment = plain(solve(columns).to_document(columns))
    verdict = judge(instance, assignment, claim_rule=claim_rule)
    return Optimum(assignment=assignment, verdict=verdict)


def plain(document: AssignmentDocument) -> Document:
    """Turn a document into what its JSON says, which is what the judge reads."""
    return cast("Document", orjson.loads(to_json(document)))
