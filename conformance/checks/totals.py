"""Totals of checks per part: the rows of the matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.checks.check import UNMET, Check
from conformance.runs import Category, Requirement


@dataclass(slots=True, kw_only=True)
class PartTotals:
    """Counts of one part of the checks of one subject."""

    subject: str
    part: str
    checks: int = 0
    passed: int = 0
    results: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class Totals:
    """Counts of all checks, by subject and part, in the order of the run."""

    requirement: Requirement
    _parts: dict[tuple[str, str], PartTotals] = field(default_factory=dict)

    def add(self, subject: str, check: Check) -> None:
        """Count one more check."""
        new = PartTotals(subject=subject, part=check.part)
        part = self._parts.setdefault((subject, check.part), new)
        part.checks += 1
        part.passed += check.passes(self.requirement)
        part.results[check.result] += 1

    def __iter__(self) -> Iterator[PartTotals]:
        return iter(self._parts.values())

    def by_subject(self) -> dict[str, PartTotals]:
        """Return the sums over all parts, per subject."""
        sums: dict[str, PartTotals] = {}
        for part in self:
            new = PartTotals(subject=part.subject, part="all")
            total = sums.setdefault(part.subject, new)
            total.checks += part.checks
            total.passed += part.passed
            total.results += part.results
        return sums

    @property
    def findings(self) -> int:
        """Checks that did not pass."""
        return sum(part.checks - part.passed for part in self)

    @property
    def results(self) -> list[str]:
        """Results that occur, the worst first, without optima."""
        found = {result for part in self for result in part.results}
        order = [category.value for category in Category if category.is_safety]
        order += [
            UNMET,
            *(category.value for category in Category if not category.is_safety),
        ]
        order += ["refused"]
        return [result for result in order if result in found and result != "optimal"]
