"""The case that a page shows: an instance, the answers to it, and the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.clients import all_client_assignors
from conformance.findings import Definition, Trial
from conformance.runs import Finding, next_round
from rebalance import AssignmentDocument

Document = dict[str, Any]
Held = Mapping[str, Mapping[str, Sequence[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One round: the instance of the round, and the answer or what came instead."""

    instance: Document
    members: Held | None
    violations: Sequence[Document]
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a page shows.

    Attributes
    ----------
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
    rounds: tuple[Answered, ...]
    category: str | None
    detail: str
    reason: str | None
    cooperative: bool
    expected: AssignmentDocument | None
    needless_moves: int | None


def case_of(
    definition: Definition, trials: Iterable[Trial], findings: Iterable[Finding]
) -> Case:
    """Return the smallest example that an assignor shows, or the smallest record.

    Of several assignors, the first of the registry is shown: the newest version.
    """
    order = {one.spec: place for place, one in enumerate(all_client_assignors())}
    seen = [one for one in trials if one.shows and one.rounds]
    if seen:
        sizes = [size_of(one.documents()[-1]) for one in definition.examples]
        best = min(
            seen,
            key=lambda one: (
                sizes[one.example],
                one.example,
                order.get(one.spec, len(order)),
            ),
        )
        return _of_trial(definition, best)
    recorded = [one for one in findings if one.shrunk and one.shrunk.instance.members]
    if recorded:
        return _of_finding(
            min(
                recorded,
                key=lambda one: (_size(one), order.get(one.subject.name, len(order))),
            )
        )
    *before, instance = definition.examples[0].documents()
    return Case(
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


def _of_trial(definition: Definition, trial: Trial) -> Case:
    source = definition.examples[trial.example]
    *before, instance = source.documents()
    return Case(
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
    )


def _of_finding(finding: Finding) -> Case:
    shrunk = finding.shrunk or finding
    instance = shrunk.instance.model_dump(exclude_none=True)
    return Case(
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


def _answered(instance: Document, rounds: Iterable[Any]) -> tuple[Answered, ...]:
    found: list[Answered] = []
    current = instance
    for one in rounds:
        found.append(
            Answered(
                instance=current,
                members=one.members,
                violations=one.violations or (),
                verdict=one.verdict,
            )
        )
        if one.members is not None:
            current = next_round(current, one.members)
    return tuple(found)
