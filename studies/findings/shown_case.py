"""The case that a page shows: an instance, the answers to it, and the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

import verify
from conformance.clients import all_client_assignors
from conformance.findings import Definition, Trial
from conformance.runs import Finding, next_round
from rebalance import AssignmentDocument

Document = dict[str, Any]
Held = Mapping[str, Mapping[str, Sequence[int]]]
Partitions = dict[str, list[int]]  # by topic


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRound:
    """One round: the instance of the round, and the answer or its failure."""

    instance: Document
    members: Held | None
    violations: Sequence[Document]
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCase:
    """Contents of a page.

    Attributes
    ----------
    example
        Number of the example in the definition, from 0; None: it is a record.
    spec
        The assignor; None if none was seen to show the finding.
    before
        Rebalances that the leader has seen.
    rounds
        At least one, unless no assignor was seen to show the finding.
    expected
        The optimum; None if there is no record of it.
    """

    spec: str | None
    before: tuple[Document, ...]
    instance: Document
    rounds: tuple[AnsweredRound, ...]
    category: str | None
    detail: str
    reason: str | None
    cooperative: bool
    expected: AssignmentDocument | None
    needless_moves: int | None
    example: int | None = None

    @property
    def owner(self) -> str:
        """The client and the version, ``sarama@1.61.1``."""
        return (self.spec or "").partition("/")[0]

    @property
    def client(self) -> str:
        """The client, ``sarama``."""
        return self.owner.partition("@")[0]

    @property
    def documents(self) -> tuple[Document, ...]:
        """All rebalances, the instance last."""
        return (*self.before, self.instance)

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of members and of partitions."""
        return size_of(self.instance)

    @property
    def violation(self) -> Document:
        """The violation of the rule `detail` in the last round; empty: not found."""
        violations = self.rounds[-1].violations
        return next((v for v in violations if v.get("rule") == self.detail), {})

    @property
    def members_by_level(self) -> dict[int, list[str]]:
        """Members by their level in the certificate; empty: there is no certificate."""
        levels: dict[int, list[str]] = {}
        if self.expected is not None and self.expected.certificate is not None:
            stated = self.expected.certificate.level
            for name, level in sorted(stated.items(), key=lambda item: item[::-1]):
                levels.setdefault(level, []).append(name)
        return levels

    @property
    def first_round(self) -> tuple[dict[str, Partitions], Partitions]:
        """Partitions that members receive at once, and those to be revoked before.

        Withheld are partitions of which the judge says that another member holds them:
        one with the newest claim (`verify.rules.unrevoked`).
        """
        optimum = self.expected.members if self.expected is not None else {}
        claimants = verify.case_of(self.instance).claimants
        first: dict[str, Partitions] = {name: {} for name in optimum}
        withheld: Partitions = {}
        for name, topics in optimum.items():
            for topic, numbers in topics.items():
                for number in numbers:
                    holders = claimants.get(topic, {}).get(number, ())
                    place = withheld if {*holders} - {name} else first[name]
                    place.setdefault(topic, []).append(number)
        return first, withheld


def case_of(
    definition: Definition, trials: Iterable[Trial], findings: Iterable[Finding]
) -> ShownCase:
    """Return the case that a page begins with.

    It is the first of `cases_of`; if no example shows the finding, the smallest record;
    else an example without answers.
    """
    cases = cases_of(definition, trials)
    if cases:
        return cases[0]
    order = _order()
    recorded = [
        finding
        for finding in findings
        if finding.shrunk and finding.shrunk.instance.members
    ]
    if recorded:
        return _of_finding(
            min(
                recorded,
                key=lambda finding: (
                    _size(finding),
                    order.get(finding.subject.name, len(order)),
                ),
            )
        )
    *before, instance = definition.examples[0].documents()
    return ShownCase(
        spec=None,
        before=tuple(before),
        instance=instance,
        rounds=(),
        category=None,
        detail="",
        reason=None,
        cooperative=False,
        expected=None,
        needless_moves=None,
    )


def cases_of(definition: Definition, trials: Iterable[Trial]) -> tuple[ShownCase, ...]:
    """Return a case per client and version that shows the finding.

    Each is the example that leads, or else the smallest, of those that the version
    shows; the first assignor of the registry shows it. Cases of the example with which
    the page begins come first.
    """
    order = _order()
    best: dict[tuple[str, str], tuple[tuple[Any, ...], Trial]] = {}
    for trial in trials:
        if not trial.shows or not trial.rounds:
            continue
        place = (
            definition.place_of(trial.example),
            order.get(trial.spec, len(order)),
        )
        key = (trial.client, trial.version)
        if key not in best or place < best[key][0]:
            best[key] = (place, trial)
    return tuple(
        _of_trial(definition, trial)
        for _, trial in sorted(best.values(), key=lambda pair: pair[0])
    )


def alike(cases: Iterable[ShownCase]) -> tuple[tuple[ShownCase, ...], ...]:
    """Return the cases in groups that share an instance, in their order."""
    groups: dict[str, list[ShownCase]] = {}
    for case in cases:
        key = orjson.dumps((case.before, case.instance)).decode()
        groups.setdefault(key, []).append(case)
    return tuple(map(tuple, groups.values()))


def _order() -> dict[str, int]:
    return {
        assignor.spec: place for place, assignor in enumerate(all_client_assignors())
    }


def _of_trial(definition: Definition, trial: Trial) -> ShownCase:
    source = definition.examples[trial.example]
    *before, instance = source.documents()
    return ShownCase(
        spec=trial.spec,
        before=tuple(before) if source.remembers else (),
        instance=instance,
        rounds=_answered(instance, trial.rounds or ()),
        category=trial.category,
        detail=trial.detail,
        reason=trial.reason,
        cooperative=trial.cooperative,
        expected=trial.expected,
        needless_moves=trial.needless_moves,
        example=trial.example,
    )


def _of_finding(finding: Finding) -> ShownCase:
    shrunk = finding.shrunk or finding
    instance = shrunk.instance.model_dump(exclude_none=True)
    return ShownCase(
        spec=finding.subject.name,
        before=(),
        instance=instance,
        rounds=_answered(instance, shrunk.rounds),
        category=finding.category,
        detail=finding.detail,
        reason=shrunk.reason,
        cooperative=finding.cooperative,
        expected=shrunk.expected,
        needless_moves=shrunk.needless_moves,
    )


def size_of(instance: Document) -> tuple[int, int]:
    """Return the numbers of members and partitions."""
    partitions = sum(topic["partitions"] for topic in instance["topics"].values())
    return len(instance["members"]), partitions


def _size(finding: Finding) -> tuple[int, int]:
    assert finding.shrunk is not None  # noqa: S101
    return size_of(finding.shrunk.instance.model_dump(exclude_none=True))


def _answered(instance: Document, rounds: Iterable[Any]) -> tuple[AnsweredRound, ...]:
    found: list[AnsweredRound] = []
    current = instance
    for round_ in rounds:
        found.append(
            AnsweredRound(
                instance=current,
                members=round_.members,
                violations=round_.violations or (),
                verdict=round_.verdict,
            )
        )
        if round_.members is not None:
            current = next_round(current, round_.members)
    return tuple(found)
