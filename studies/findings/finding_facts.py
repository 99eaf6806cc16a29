"""Facts of one finding, for its page, its reports, and its row in the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.findings import Definition, Trial
from conformance.findings.definitions.finding_definition import ExampleSource
from conformance.findings.definitions.upstream_status import Repair
from conformance.runs import Category, Finding
from studies.confirmation import Confirmation
from studies.findings.affected import Affected, affected_by
from studies.findings.evidence import StoredReproducer, by_history
from studies.findings.shown_case import ShownCase, alike, case_of, cases_of

DRAWN: Final = 6
"""Random rebalances of which a page has the commands."""
REPOSITORIES: Final = {
    "aiokafka": "aio-libs/aiokafka",
    "franz-go": "twmb/franz-go",
    "kafka-clients": "apache/kafka",
    "kafka-go": "segmentio/kafka-go",
    "kafka-python": "dpkp/kafka-python",
    "kafkajs": "tulios/kafkajs",
    "librdkafka": "confluentinc/librdkafka",
    "platformatic-kafka": "platformatic/kafka",
    "sarama": "IBM/sarama",
}
TRACKERS: Final = {
    client: f"https://github.com/{repository}/issues"
    for client, repository in REPOSITORIES.items()
} | {"kafka-clients": "https://issues.apache.org/jira/projects/KAFKA"}
"""Where a client's issues are filed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamReport:
    """A report to a client for which the finding is open.

    Attributes
    ----------
    case
        The first case of the client.
    test
        The first reproducer of the client; None: there is none.
    """

    affected: Affected
    case: ShownCase
    test: StoredReproducer | None
    repair: Repair | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingFacts:
    """A definition with all records about it.

    Attributes
    ----------
    records
        Findings of random rebalances.
    affected, clean
        Affected clients, and those without the finding.
    cases
        A case per client and version that shows it.
    case
        The case that the page begins with.
    """

    definition: Definition
    trials: Sequence[Trial]
    records: Sequence[Finding]
    reproducers: Sequence[StoredReproducer]
    confirmations: Sequence[Confirmation]
    affected: Sequence[Affected]
    clean: Sequence[str]
    cases: Sequence[ShownCase]
    case: ShownCase

    @property
    def shown(self) -> list[Trial]:
        """Trials that show the finding."""
        return [trial for trial in self.trials if trial.shows]

    @property
    def specs(self) -> set[str]:
        """The assignors that have it."""
        recorded = {record.subject.name for record in self.records}
        return recorded | {trial.spec for trial in self.shown}

    @property
    def outcomes(self) -> list[str]:
        """Outcomes that were seen, the worst first."""
        seen = {trial.category for trial in self.shown}
        seen |= {record.category for record in self.records}
        return [category.value for category in Category if category.value in seen]

    @property
    def clients(self) -> list[str]:
        """Affected clients."""
        return [affected.client for affected in self.affected]

    @property
    def drawn(self) -> list[Finding]:
        """Records with a seed."""
        return [record for record in self.records if record.seed is not None]

    @property
    def commands(self) -> list[str]:
        """Commands that repeat records, one per assignor."""
        first: dict[str, str] = {}
        for record in self.drawn:
            first.setdefault(record.subject.name, record.command)
        return list(first.values())[:DRAWN]

    @property
    def groups(self) -> tuple[tuple[ShownCase, ...], ...]:
        """Cases in groups that share an instance; the page begins with the first."""
        return alike(self.cases or (self.case,))

    @property
    def other_examples(self) -> dict[int, ExampleSource]:
        """Examples by number, from 1, whose instance is not that of a case."""
        instances = [case.instance for case in (*self.cases, self.case)]
        return {
            number: example
            for number, example in enumerate(self.definition.examples, 1)
            if example.documents()[-1] not in instances
        }

    @property
    def repositories(self) -> list[str]:
        """Repositories on GitHub of the affected clients."""
        return [REPOSITORIES[name] for name in self.clients if name in REPOSITORIES]

    @property
    def reports(self) -> list[UpstreamReport]:
        """A report per client for which it is open."""
        return [
            UpstreamReport(
                affected=affected,
                case=case,
                test=next(
                    (t for t in self.reproducers if t.record.client == case.client),
                    None,
                ),
                repair=self.definition.repair_of(case.client),
            )
            for affected in self.affected
            if self.definition.status_of(affected.client) == "open"
            for case in [c for c in self.cases if c.client == affected.client][:1]
        ]

    @property
    def histories(self) -> list[list[Confirmation]]:
        """Confirmations with a history of their own, in groups that share one."""
        return by_history(self.confirmations)

    @property
    def replays(self) -> list[Confirmation]:
        """Confirmations that replay a record."""
        return [played for played in self.confirmations if played.way]

    @property
    def ways(self) -> Mapping[str, Confirmation]:
        """A replay per way."""
        return {played.way: played for played in self.replays if played.way}

    def instance_file(self, case: ShownCase) -> str:
        """Return the name of the file with the instance of a case."""
        first = self.cases[0].example if self.cases else None
        is_first = not self.cases or case.example in {first, None}
        number = "" if is_first else f"-{(case.example or 0) + 1}"
        return f"{self.definition.id}{number}.jsonl"


def finding_facts(
    definition: Definition,
    trials: Sequence[Trial],
    records: Sequence[Finding],
    *,
    reproducers: Sequence[StoredReproducer] = (),
    confirmations: Sequence[Confirmation] = (),
) -> FindingFacts:
    """Gather the facts of a finding from its trials and records."""
    affected, clean = affected_by(trials, records)
    return FindingFacts(
        definition=definition,
        trials=trials,
        records=records,
        reproducers=reproducers,
        confirmations=confirmations,
        affected=affected,
        clean=clean,
        cases=cases_of(definition, trials),
        case=case_of(definition, trials, records),
    )
