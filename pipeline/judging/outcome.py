"""Outcome of one rebalance: the contents of its rows beyond the case's own columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from heuristics import ASSIGNORS
from pipeline.cases import Held
from pipeline.evaluation import (
    ACTUAL,
    ALWAYS,
    KIP54,
    OPTIMUM,
    Answer,
    Evaluation,
    Failure,
    Least,
    answer_columns,
    least_of,
    needless_lag,
)
from pipeline.judging.answer_texts import NamedAnswers, assignment_texts
from pipeline.judging.checked import checked
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instances import CaseInstance
from pipeline.judging.rebalance_code import code_of
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    Instance,
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
    max_partitions : int
        Larger rebalances are rejected.
    are_optima_judged : bool
        Whether the judge checks every real answer and every optimum.
    """

    claim_rule: ClaimRule
    assignors: tuple[str, ...]
    actual: Actual | None
    lag_known: bool
    max_partitions: int
    are_optima_judged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedQuestion:
    """How the answers to a code are judged.

    Attributes
    ----------
    is_round : bool
        Whether the real answer is judged as a cooperative round.
    lag_known, claim_rule, are_optima_judged
        As in `Question`.
    canonical : function
        Returns the rebalance as `CaseInstance.canonical`.
    held : function
        Returns the real answer, which can break rules in ways that no code states.
    """

    is_round: bool
    lag_known: bool
    claim_rule: ClaimRule
    are_optima_judged: bool
    canonical: Callable[[], dict[str, Any]]
    held: Callable[[], Mapping[str, Held]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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
    """

    topics: int
    partitions: int
    owned: int
    answers: tuple[Row, ...]
    failures: tuple[Failure, ...]
    coded: CodedAnswers | None = None

    @property
    def actual(self) -> Row | None:
        """Columns of the real answer."""
        found = (row for row in self.answers if row["assignor"] == ACTUAL)
        of_code = None if self.coded is None else self.coded.actual
        return of_code or next(found, None)


def outcome_by_code(
    instance: CaseInstance, question: Question, known: EvaluatedCodes
) -> Outcome | None:
    """Evaluate a rebalance by its code; None if only its document can be evaluated.

    Raises
    ------
    DisagreementError
        If the judge disagrees with the computed figures.
    """
    actual = question.actual
    code = code_of(
        instance.plain,
        None if actual is None else actual.held,
        cooperative=actual is not None and actual.cooperative,
        lag_known=instance.lag_known,
        max_partitions=instance.max_partitions,
    )
    heuristics = tuple(name for name in ASSIGNORS if name in question.assignors)
    found = None if code is None else known.of(code, heuristics)
    if code is None or found is None:
        return None
    named = NamedAnswers(
        code=code,
        found=found,
        group=instance.plain["group"],
        identity=instance.plain.get("id"),
        client=None if actual is None else actual.assignor,
    )
    (texts,) = assignment_texts([named])
    about = CodedQuestion(
        is_round=actual is not None and actual.cooperative,
        lag_known=instance.lag_known,
        claim_rule=question.claim_rule,
        are_optima_judged=question.are_optima_judged,
        canonical=lambda: instance.canonical,
        held=lambda: {} if actual is None else actual.held,
    )
    return outcome_of_code(named, texts, about)


def outcome_of_code(
    named: NamedAnswers, texts: list[str], question: CodedQuestion
) -> Outcome:
    """Let the judge check its share of the answers to a rebalance.

    Parameters
    ----------
    texts
        Of the answers (`assignment_texts`).

    Raises
    ------
    DisagreementError
        If the judge disagrees with the computed figures.
    """
    code, found = named.code, named.found
    is_always = [
        found.is_sampled or (question.are_optima_judged and name in ALWAYS)
        for name in found.assignors
    ]
    coded = CodedAnswers(
        code=code,
        found=found,
        texts=texts,
        is_judged=is_always,
        is_round=question.is_round,
        lag_known=question.lag_known,
    )
    places = {place for place, is_checked in enumerate(is_always) if is_checked}
    places = (places - found.judged).union(coded.undecided)
    answers = list[Row]()
    if places:
        answers += checked(
            coded,
            question.canonical,
            sorted(places),
            question.claim_rule,
            question.held,
        )
        found.judged.update(places)
    for name, why in found.refused.items():
        refused = Answer(assignor=name, refused=why)
        answers.append(answer_columns(refused, coded.least, None))
    topics, partitions, owned = found.counts[:3].tolist()
    return Outcome(
        topics=topics,
        partitions=partitions,
        owned=owned,
        answers=tuple(answers),
        failures=found.failures,
        coded=coded,
    )


def outcome_of(document: Rebalance, question: Question) -> Outcome:
    """Evaluate a rebalance by its document; the judge checks every answer.

    Raises
    ------
    InstanceError
        If the document contradicts itself.
    """
    evaluation = Evaluation(document, question.claim_rule)
    found = list(_answers(evaluation, question))
    answers = {
        answer.assignor: answer for answer in found if isinstance(answer, Answer)
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
    if ACTUAL in answers:
        lag = _needless_lag(instance, answers[ACTUAL], least)
        rows[ACTUAL]["needless_lag"] = lag if question.lag_known else None
    if all(topic.racks is None for topic in document.topics.values()):
        for row in rows.values():
            row["rack_mismatches"] = None
    return Outcome(
        topics=int(subscribed.sum()),
        partitions=int(instance.topic_sizes[subscribed].sum()),
        owned=int(np.count_nonzero(instance.owner >= 0)),
        answers=tuple(rows.values()),
        failures=tuple(failure for failure in found if isinstance(failure, Failure)),
    )


def _needless_lag(instance: Instance, answer: Answer, least: Least) -> int | None:
    """Return the lag of an answer's needless moves; None if it may need them."""
    assignment, verdict = answer.judged()
    figures = verdict["figures"]
    is_balanced = verdict["verdict"] == "valid" and figures["dec_min_balanced"]
    if instance.lag is None or least.moves is None or not is_balanced:
        return None
    document = AssignmentDocument.model_construct(members=assignment["members"])
    assignee = assignment_of(instance, document).assignee
    needless = figures["moves"] - least.moves
    return needless_lag(instance.lag, instance.owner, assignee, needless)


def _answers(evaluation: Evaluation, question: Question) -> Iterator[Answer | Failure]:
    actual = question.actual
    if actual is not None:
        yield evaluation.actual(
            actual.held, assignor=actual.assignor, cooperative=actual.cooperative
        )
    yield from evaluation.answers(question.assignors)
