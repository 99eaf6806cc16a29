"""A check: one rebalance, its judged outcome, and the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from conformance.runs import Category, DrivenRebalance, Requirement, repeat_records

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
    outcome : DrivenRebalance
    unmet : tuple of str
        Expectations of the corpus that are not met, in words.
    is_refusal : bool
        Whether the subject raised an error, as was expected of it.
    is_declared : bool
        Whether the subject is declared deterministic.
    """

    part: str
    name: str
    outcome: DrivenRebalance
    unmet: tuple[str, ...] = ()
    is_refusal: bool = False
    is_declared: bool = False

    @property
    def result(self) -> str:
        """``refused``, `UNMET`, ``nondeterministic``, or the name of the category."""
        if self.is_refusal:
            return "refused"
        category = self.outcome.category
        if category.is_safety:
            return category.value
        if self.unmet:
            return UNMET
        return Category.NONDETERMINISTIC.value if self.is_broken else category.value

    @property
    def is_broken(self) -> bool:
        """Whether answers differ, although they are declared not to."""
        return self.is_declared and self.outcome.difference is not None

    def passes(self, requirement: Requirement) -> bool:
        """Return whether it is not a finding."""
        if self.is_refusal:
            return True
        if self.unmet or self.is_broken:
            return False
        return requirement.is_met_by(self.outcome.category)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The fault, in words; empty for an expected refusal and an optimum."""
        if self.is_refusal:
            return self.unmet
        found = (self._difference if self.is_broken else None, self.outcome.reason)
        return (*self.unmet, *(reason for reason in found if reason is not None))

    @property
    def notes(self) -> tuple[str, ...]:
        """A note for authors on an outcome that is not wrong, in words."""
        difference = None if self.is_broken else self._difference
        return () if difference is None else (difference,)

    @property
    def repeats(self) -> list[dict[str, Any]] | None:
        """The two answers that differ, as documents; None if none do."""
        difference = self.outcome.difference
        if difference is None:
            return None
        records = repeat_records(difference)
        return [record.model_dump(exclude_none=True) for record in records]

    @property
    def _difference(self) -> str | None:
        difference = self.outcome.difference
        if difference is None:
            return None
        name = Category.NONDETERMINISTIC.value
        return " ".join(filter(None, (name, difference.detail))) + (
            f": {difference.reason}"
        )

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
            **({"notes": list(self.notes)} if self.notes else {}),
            **({} if self.repeats is None else {"repeats": self.repeats}),
            **({} if passes else {"rounds": self._rounds()}),
        }

    def _rounds(self) -> list[dict[str, Any]]:
        return [
            {
                "rebalance": round_.rebalance,
                **(
                    {"error": round_.answer.reason}
                    if round_.answer.assignment is None
                    else {"members": round_.answer.assignment.members}
                ),
            }
            for round_ in self.outcome.rounds
        ]
