"""A check: one rebalance, its judged outcome, and what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from conformance.runs import Outcome, Requirement

CORPUS: Final = "corpus"
"""Part of the checks on scenarios; the other parts are named after families."""

UNMET: Final = "unmet"
"""Result of a valid answer without an expected property."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rebalance that a subject was given.

    Attributes
    ----------
    part : str
        `CORPUS`, or the name of a family.
    name : str
        Scenario and step; or seed, index, and step of a draw.
    outcome : Outcome
    unmet : tuple of str
        Expectations of the corpus that are not met, in words.
    is_refusal : bool
        Whether the subject raised an error, as was expected of it.
    """

    part: str
    name: str
    outcome: Outcome
    unmet: tuple[str, ...] = ()
    is_refusal: bool = False

    @property
    def result(self) -> str:
        """``refused``, `UNMET`, or the name of the category."""
        if self.is_refusal:
            return "refused"
        category = self.outcome.category
        return UNMET if self.unmet and not category.is_safety else category.value

    def passes(self, requirement: Requirement) -> bool:
        """Return whether it is no finding."""
        if self.is_refusal:
            return True
        return not self.unmet and requirement.is_met_by(self.outcome.category)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was wrong, in words; empty for an expected refusal and an optimum."""
        reason = self.outcome.reason
        if self.is_refusal or reason is None:
            return self.unmet
        return (*self.unmet, reason)

    def to_document(self, subject: str, requirement: Requirement) -> dict[str, Any]:
        """Return the check as a check/1 document; a finding states its rounds."""
        passes = self.passes(requirement)
        return {
            "format": "check/1",
            "subject": subject,
            "part": self.part,
            "check": self.name,
            "result": self.result,
            "passed": passes,
            "reasons": list(self.reasons),
            **({} if passes else {"rounds": self._rounds()}),
        }

    def _rounds(self) -> list[dict[str, Any]]:
        return [
            {
                "rebalance": one.rebalance,
                **(
                    {"error": one.answer.reason}
                    if one.answer.assignment is None
                    else {"members": one.answer.assignment.members}
                ),
            }
            for one in self.outcome.rounds
        ]
