"""Set an assignment against the optimum, both as the judge counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from rebalance import AssignmentDocument, ClaimRule, instance_of, to_json
from rebalance.documents import rebalance_of
from solver import solve
from solver.limits import Limits
from solver.policy import NAMED
from verify import judge

Document = dict[str, Any]

GAPS: Final = ("moves", "kip54_score")
"""Figures that a proved optimum has a least value for; see `Optimum.gap`."""

KIP54: Final = "kip54-sticky"
"""The policy of what a StickyAssignor may at best achieve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The best assignment of one rebalance, and what the judge says of it.

    ``by_capacity`` tells that members state capacities: the optimum is even by load ÷
    capacity, and Kafka's balance score, which counts loads, has no least there.
    """

    assignment: Document
    verdict: Document
    by_capacity: bool = False

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
        counted = GAPS[:1] if self.by_capacity else GAPS
        return {name: figures[name] - best[name] for name in counted}


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
    return Optimum(
        assignment=assignment,
        verdict=verdict,
        by_capacity=columns.capacity is not None,
    )


def plain(document: AssignmentDocument) -> Document:
    """Turn a document into what its JSON says, which is what the judge reads."""
    return cast("Document", orjson.loads(to_json(document)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ByKip54:
    """The stickiest assignment that is balanced in KIP-54's own words.

    It is what a StickyAssignor may at best achieve: less even than the optimum where
    only a chain of transfers would help, and never moving more.
    """

    assignment: Document
    verdict: Document

    @property
    def least_moves(self) -> int | None:
        """Moves of it; None: an engine has not settled that nothing moves fewer."""
        settled = self.assignment["status"] == "optimal"
        balanced = self.verdict["figures"].get("kip54_balanced")
        return int(self.verdict["figures"]["moves"]) if settled and balanced else None

    def gap(self, verdict: Mapping[str, Any]) -> int | None:
        """Count needless moves; None where the answer is not balanced by KIP-54."""
        figures = verdict["figures"]
        if self.least_moves is None or verdict["verdict"] != "valid":
            return None
        if not figures["kip54_balanced"]:
            return None
        return int(figures["moves"]) - self.least_moves


def by_kip54(instance: Document, claim_rule: str, limits: Limits) -> ByKip54:
    """Solve one rebalance/1 document by KIP-54's balance and judge the answer."""
    columns = instance_of(rebalance_of(instance), claim_rule=ClaimRule(claim_rule))
    outcome = solve(columns, NAMED[KIP54], limits=limits)
    assignment = plain(outcome.to_document(columns))
    verdict = judge(instance, assignment, claim_rule=claim_rule)
    return ByKip54(assignment=assignment, verdict=verdict)
