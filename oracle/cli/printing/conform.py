"""Reports of ``conform`` for people and programs: a matrix, and JSON Lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from conformance.checks import Check, PartTotals, Totals
from conformance.runs import Requirement
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine
from oracle.cli.printing.sink import Sink
from oracle.cli.printing.terminal import printed
from oracle.names import visible

FINDINGS_SHOWN: Final = 10
FINDINGS_OF_PART: Final = 3
_REASON_SHOWN: Final = 200  # characters


@dataclass(slots=True)
class CheckLines:
    """One check/1 document per line."""

    sink: Sink
    requirement: Requirement

    def add(self, subject: str, check: Check) -> None:
        """Write one check."""
        self.sink.write_document(check.to_document(subject, self.requirement))

    def not_run(self, subject: str, reason: str) -> None:
        """Write a failure for checks that were not made."""
        self.sink.write_document(
            {
                "format": "check/1",
                "subject": subject,
                "result": "not-run",
                "passed": False,
                "reasons": [reason],
            }
        )

    def end(self) -> None:
        """Do nothing: every line is complete."""


@dataclass(slots=True)
class Matrix:
    """A table of subjects and parts against results, then the first findings."""

    sink: Sink
    requirement: Requirement
    totals: Totals = field(init=False)
    findings: list[str] = field(default_factory=list)
    shown: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: list[tuple[str, str]] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)  # by subject
    noted: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.totals = Totals(requirement=self.requirement)

    def add(self, subject: str, check: Check) -> None:
        """Count one check."""
        self.totals.add(subject, check)
        self.repeated[subject] += check.outcome.is_repeated
        for note in check.notes:
            place = f"{check.part} {check.name}"
            self.noted.setdefault(subject, []).append(f"{place}: {note}")
        part = (subject, check.part)
        if check.passes(self.requirement) or self.shown[part] == FINDINGS_OF_PART:
            return
        if len(self.findings) < FINDINGS_SHOWN:
            self.shown[part] += 1
            place = f"{check.part} {check.name}"
            why = visible("; ".join(check.reasons), limit=_REASON_SHOWN)
            self.findings.append(f"{check.result}: {visible(place)}: {why}")

    def not_run(self, subject: str, reason: str) -> None:
        """Remember a subject that was not tested, or not to the end."""
        self.missing.append((subject, reason))

    def end(self) -> None:
        """Write the table and the findings."""
        parts: list[Part] = [self._table(), *self.findings]
        more = self.totals.findings - len(self.findings)
        if more > 0:
            parts.append(TextLine(f"… and {more:,} more (--json: all)"))
        parts += [self._note(subject) for subject in self.noted]
        for subject, reason in self.missing:
            parts.append(f"not run: {visible(subject)}: {visible(reason)}")
        self.sink.write_text(printed(*parts, TextLine(self._summary())))

    def _note(self, subject: str) -> str:
        """State how many answers differ when they are repeated, and the first."""
        noted = self.noted[subject]
        share = f"{len(noted):,} of {self.repeated[subject]:,} repeated answers differ"
        first = visible(noted[0], limit=_REASON_SHOWN)
        return f"note: {visible(subject, limit=60)}: {share}, first {first}"

    def _table(self) -> Sheet:
        """Lay out a row per part; of several subjects, a row per subject."""
        results = self.totals.results
        subjects = self.totals.by_subject()
        if len(subjects) == 1:
            (subject,) = subjects
            rows = [[total.part, *_counts(total, results)] for total in self.totals]
            title = visible(subject, limit=100)
            return Sheet(title, ["part", "checks", "passed", *results], rows)
        named = [(visible(name, limit=60), sums) for name, sums in subjects.items()]
        rows = [[subject, *_counts(sums, results)] for subject, sums in named]
        narrow = [name.replace("-", "-\n") for name in results]
        return Sheet("all parts", ["subject", "checks", "passed", *narrow], rows)

    def _summary(self) -> str:
        checks = sum(total.checks for total in self.totals)
        found = self.totals.findings
        return (
            f"{checks:,} checks, {found:,} findings (--require "
            f"{self.requirement.value})"
        )


def _counts(totals: PartTotals, results: list[str]) -> list[Cell]:
    return [totals.checks, totals.passed, *(totals.results[name] for name in results)]
