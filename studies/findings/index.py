"""Facts of the index of findings, over all records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.clients import all_client_assignors
from conformance.findings import Stored, Trial
from conformance.runs import FAMILIES, Category, RunSummary
from studies.findings.finding_facts import FindingFacts
from studies.findings.matrix import families_in, subjects_in

WORST: Final = [category.value for category in Category]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFacts:
    """All findings, and all runs and trials on record."""

    stored: Stored
    trials: Sequence[Trial]
    findings: Sequence[FindingFacts]

    @property
    def runs(self) -> Sequence[RunSummary]:
        """Counts of each assignor and family."""
        return self.stored.runs

    @property
    def by_severity(self) -> list[FindingFacts]:
        """Findings, the worst outcome first; those that were not seen come last."""

        def place(finding: FindingFacts) -> int:
            return min(map(WORST.index, finding.outcomes), default=len(WORST))

        return sorted(self.findings, key=place)

    @property
    def dates(self) -> list[str]:
        """Days of runs and trials."""
        run_dates = {run.date for run in self.runs}
        return sorted(run_dates | {trial.date for trial in self.trials})

    @property
    def rebalances(self) -> int:
        """Number of rebalances on record."""
        return sum(run.rebalances for run in self.runs)

    @property
    def seeds(self) -> list[int]:
        """Seeds of runs."""
        return sorted({run.seed for run in self.runs if run.seed is not None})

    @property
    def families(self) -> list[str]:
        """Families of runs."""
        return families_in(self.runs)

    @property
    def missing_families(self) -> list[str]:
        """Families without a run."""
        return [name for name in FAMILIES if name not in self.families]

    @property
    def clients(self) -> list[str]:
        """Clients with runs on record, in the order of the registry."""
        names = [name.partition("@")[0] for name in subjects_in(self.runs)]
        return list(dict.fromkeys(names))

    @property
    def clean(self) -> list[tuple[str, list[str], bool]]:
        """Versions, their assignors without a finding, and whether these are all.

        Whole versions come first.
        """
        tested = {run.subject.name for run in self.runs}
        tested |= {trial.spec for trial in self.trials}
        found = set().union(*(finding.specs for finding in self._kept()))
        versions: dict[str, list[str]] = {}
        partial: set[str] = set()
        for assignor in all_client_assignors():
            version = f"{assignor.client} {assignor.version}"
            if assignor.spec in found:
                partial.add(version)
            elif assignor.spec in tested:
                versions.setdefault(version, []).append(assignor.assignor)
        rows = [(name, names, name not in partial) for name, names in versions.items()]
        return sorted(rows, key=lambda row: not row[2])

    def _kept(self) -> Iterator[FindingFacts]:
        for finding in self.findings:
            if finding.definition.status != "withdrawn":
                yield finding
