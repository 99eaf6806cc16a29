"""Turn outcomes and counts into records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.runs.categories import Category
from conformance.runs.difference import AnswerDifference, SentAnswer
from conformance.runs.draws import DrawnOutcome, FamilyCounts
from conformance.runs.external import External
from conformance.runs.optimum import proved_optimum
from conformance.runs.rounds import DrivenRebalance, JudgedAnswer
from conformance.runs.run_records import (
    FILE,
    Finding,
    RepeatRecord,
    RoundRecord,
    RunSummary,
    ShrunkRecord,
    SubjectRecord,
    mechanism_counts,
    outcome_counts,
)
from rebalance import AssignmentDocument, Figures, rebalance_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Writes records about one subject.

    Attributes
    ----------
    subject : SubjectRecord
    cooperative : bool
    repeat : str
        Command line that tests the subject, without the options of draws.
    date : str
    oracle : str
        Version of this program.
    deterministic : bool or None
        Whether the subject is declared deterministic; None if answers are not repeated.
    """

    subject: SubjectRecord
    cooperative: bool
    repeat: str
    date: str
    oracle: str
    deterministic: bool | None = None

    def finding(
        self, sighting: DrawnOutcome, shrunk: ShrunkRecord | None = None
    ) -> Finding:
        """Return the record of an outcome."""
        family, outcome = sighting.family, sighting.outcome
        is_drawn = family != FILE
        where = f"--family {family} --seed {sighting.seed} --first {sighting.index}"
        drawn = f"{self.repeat} {where} --count 1"
        return Finding(
            **case_parts(outcome),
            subject=self.subject,
            cooperative=self.cooperative,
            family=family,
            **_present(seed=sighting.seed if is_drawn else None),
            index=sighting.index,
            step=sighting.step,
            category=outcome.category.value,
            detail=outcome.detail,
            **_present(place=outcome.place),
            **_present(shrunk=shrunk),
            command=drawn if is_drawn else f"{self.repeat} --instances FILE",
        )

    def summary(
        self, counts: FamilyCounts, *, seed: int | None, first: int
    ) -> RunSummary:
        """Return the record of the counts of a family."""
        return RunSummary(
            subject=self.subject,
            cooperative=self.cooperative,
            family=counts.family,
            **_present(seed=seed),
            first=first,
            draws=counts.draws,
            rebalances=counts.rebalances,
            answers=counts.answers,
            outcomes=outcome_counts(counts.outcomes),
            mechanisms=mechanism_counts(counts.mechanisms),
            **_repeats_of(counts, self.deterministic),
            needless_moves=counts.needless_moves,
            most_rounds=counts.most_rounds,
            date=self.date,
            oracle=self.oracle,
        )


def subject_record(external: External) -> SubjectRecord:
    """Return the statements of records about a program."""
    client = external.client
    if client is None:
        name = external.program.name
        return SubjectRecord(name=name, command=name)
    return SubjectRecord(
        name=client.spec,
        client=client.client,
        version=client.version,
        assignor=client.assignor,
        language=client.language,
    )


def case_parts(outcome: DrivenRebalance) -> dict[str, Any]:
    """Return the fields of `run_records.CaseRecord`, without those that are absent."""
    rebalance = outcome.rounds[0].rebalance
    figures = outcome.figures
    return _present(
        instance=rebalance_of(rebalance),
        rounds=[_round(round_) for round_ in outcome.rounds],
        reason=outcome.reason,
        figures=None if figures is None else Figures.of_verdict(figures),
        needless_moves=outcome.needless_moves,
        expected=AssignmentDocument.model_validate(proved_optimum(rebalance)),
        repeats=_repeats(outcome),
    )


def _repeats(outcome: DrivenRebalance) -> list[RepeatRecord] | None:
    """Return the two answers, if their difference is the outcome."""
    if outcome.category is not Category.NONDETERMINISTIC:
        return None
    assert outcome.difference is not None  # noqa: S101
    return repeat_records(outcome.difference)


def repeat_records(difference: AnswerDifference) -> list[RepeatRecord]:
    """Return the records of two answers that differ."""
    return [_repeat(difference.first), _repeat(difference.second)]


def _repeat(sent: SentAnswer) -> RepeatRecord:
    assert sent.answer.assignment is not None  # noqa: S101
    return RepeatRecord(
        sent=sent.line.decode(),
        **_present(hash_seed=sent.hash_seed),
        new=sent.is_new,
        members=sent.answer.assignment.members,
    )


def _repeats_of(counts: FamilyCounts, deterministic: bool | None) -> dict[str, Any]:
    if deterministic is None:
        return {}
    return {"repeated": counts.repeated, "deterministic": deterministic}


def _round(answer: JudgedAnswer) -> RoundRecord:
    assignment = answer.answer.assignment
    parts = _present(
        verdict=answer.answer.verdict.value,
        reason=answer.answer.reason,
        members=None if assignment is None else assignment.members,
        violations=list(answer.violations) or None,
        withheld=(answer.figures or {}).get("withheld") or None,
    )
    return RoundRecord(**parts)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
