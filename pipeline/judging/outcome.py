"""Outcome of one rebalance: the contents of its rows beyond the case's own columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from pipeline.cases import Held
from pipeline.evaluation import (
    ACTUAL,
    KIP54,
    OPTIMUM,
    AssignorAnswer,
    Evaluation,
    Failure,
    Least,
    answer_columns,
    least_of,
    needless_lag,
)
from pipeline.judging.checked import checked
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.harm_counts import harm_columns, harm_of
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    Instance,
    Int64,
    Rebalance,
    assignment_of,
)

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actual:
    """Answer of the real client: the partitions of each member, and the assignor."""

    held: Mapping[str, Held]
    assignor: str | None
    cooperative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Answers to evaluate for a rebalance, beside the rebalance itself.

    Attributes
    ----------
    claim_rule : ClaimRule
    assignors : tuple of str
        As `pipeline.evaluation.selection` returns them.
    actual : Actual or None
        None: the real answer is unknown.
    lag_known : bool
        Whether all lags are known; otherwise, no figure of lag is stated.
    """

    claim_rule: ClaimRule
    assignors: tuple[str, ...]
    actual: Actual | None
    lag_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRebalance:
    """Counts of the rebalance, and the answers to it.

    Attributes
    ----------
    topics, partitions : int
        Existing topics with a subscriber, and their partitions.
    owned : int
        Partitions with an owner before.
    answers : tuple of dict
        Columns of ``answers`` that depend on the answer.
    failures : tuple of Failure
        Assignors that raised an exception.
    coded : CodedAnswers or None
        Further answers, evaluated by code.
    harm : int64 (4,) or None
        Of the real answer (`harm_of`), if it is one of ``answers``.
    """

    topics: int
    partitions: int
    owned: int
    answers: tuple[Row, ...]
    failures: tuple[Failure, ...]
    coded: CodedAnswers | None = None
    harm: Int64 | None = None

    def harm_row(self, lasted: pa.Array) -> Row:
        """Return the columns of harm, after a time of one value (`harm_columns`)."""
        if self.harm is None:
            return {}
        found = harm_columns(self.harm[np.newaxis], lasted)
        return {name: values[0].as_py() for name, values in found.items()}

    @property
    def actual(self) -> Row | None:
        """Columns of the real answer."""
        found = (row for row in self.answers if row["assignor"] == ACTUAL)
        of_code = None if self.coded is None else self.coded.actual
        return of_code or next(found, None)


def outcome_of_code(
    coded: CodedAnswers,
    claim_rule: ClaimRule,
    canonical: Callable[[], dict[str, Any]],
    held: Callable[[], Mapping[str, Held]],
) -> JudgedRebalance:
    """Let the judge check its share of the answers to a rebalance.

    Parameters
    ----------
    canonical : function
        Returns the rebalance, subscriptions and claims sorted.
    held : function
        Returns the real answer, which can break rules in ways that no code states.

    Raises
    ------
    DisagreementError
        If the judge disagrees with the computed figures.
    """
    found, answers, harm = coded.found, list[Row](), None
    places = _places_to_judge(coded)
    for row, counts in checked(coded, canonical, places, claim_rule, held):
        answers.append(row)
        harm = harm if counts is None else counts
    found.judged.update(places)
    answers.extend(_refused(coded))
    topics, partitions, owned = found.counts[:3].tolist()
    return JudgedRebalance(
        topics=topics,
        partitions=partitions,
        owned=owned,
        answers=tuple(answers),
        failures=found.failures,
        coded=coded,
        harm=harm,
    )


def _places_to_judge(coded: CodedAnswers) -> list[int]:
    """Return the places of the answers that the judge has still to check."""
    found = coded.found
    judged = (at for at in range(len(found.assignors)) if coded.is_judged(at))
    return sorted(({*judged} - found.judged).union(coded.undecided))


def _refused(coded: CodedAnswers) -> Iterator[Row]:
    """Yield the columns of heuristics that do not apply."""
    for name, why in coded.found.refused.items():
        refused = AssignorAnswer(assignor=name, refused=why)
        yield answer_columns(refused, coded.least, None)


def outcome_of(document: Rebalance, question: Question) -> JudgedRebalance:
    """Evaluate a rebalance by its document; the judge checks every answer.

    Raises
    ------
    InstanceError
        If the document contradicts itself.
    """
    evaluation = Evaluation(document, question.claim_rule)
    found = list(_answers(evaluation, question))
    answers = {
        answer.assignor: answer
        for answer in found
        if isinstance(answer, AssignorAnswer)
    }
    least = least_of(
        answers.get(OPTIMUM), answers.get(KIP54), by_capacity=evaluation.by_capacity
    )
    bound = evaluation.peak_lag_bound if question.lag_known else None
    instance = evaluation.instance
    subscribed = instance.topic_subscribed
    rows = {
        name: answer_columns(answer, least, bound) for name, answer in answers.items()
    }
    harm = None
    if ACTUAL in answers:
        harm = harm_of(evaluation.case, answers[ACTUAL], least)
        lag = _needless_lag(instance, answers[ACTUAL], least)
        rows[ACTUAL]["needless_lag"] = lag if question.lag_known else None
    if all(topic.racks is None for topic in document.topics.values()):
        for row in rows.values():
            row["rack_mismatches"] = None
    return JudgedRebalance(
        topics=int(subscribed.sum()),
        partitions=int(instance.topic_sizes[subscribed].sum()),
        owned=int(np.count_nonzero(instance.owner >= 0)),
        answers=tuple(rows.values()),
        failures=tuple(failure for failure in found if isinstance(failure, Failure)),
        harm=harm,
    )


def _needless_lag(
    instance: Instance, answer: AssignorAnswer, least: Least
) -> int | None:
    """Return the lag of an answer's needless moves; None if it may need them.

    An instance without lag counts as one without partitions: the caller knows.
    """
    assignment, verdict = answer.judged()
    figures = verdict["figures"]
    is_balanced = verdict["verdict"] == "valid" and figures["dec_min_balanced"]
    if least.moves is None or not is_balanced:
        return None
    document = AssignmentDocument.model_construct(members=assignment["members"])
    assignee = assignment_of(instance, document).assignee
    needless = figures["moves"] - least.moves
    lag = np.zeros(0, np.int64) if instance.lag is None else instance.lag
    return needless_lag(lag, instance.owner, assignee, needless)


def _answers(
    evaluation: Evaluation, question: Question
) -> Iterator[AssignorAnswer | Failure]:
    actual = question.actual
    if actual is not None:
        yield evaluation.actual(
            actual.held, assignor=actual.assignor, cooperative=actual.cooperative
        )
    yield from evaluation.answers(question.assignors)
