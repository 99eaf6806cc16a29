"""Drive a rebalance, and compare the first answer with that of another process.

The other process has another hash seed, and is sent the members, the topics, and the
subscriptions in another order, which has no meaning. Answers that differ, and are both
valid, are not faults of safety; an answer of the other process that is at fault is the
outcome of the rebalance.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

import orjson

from conformance.clients import Verdict
from conformance.runs.categories import Category
from conformance.runs.difference import AnswerDifference, SentAnswer, same_answers
from conformance.runs.other_processes import Repeatable
from conformance.runs.rounds import DrivenRebalance, drive, fault_of
from conformance.runs.subject import Subject
from conformance.runs.timed import OutOfTimeError

Document = dict[str, Any]
_T = TypeVar("_T")


def drive_twice(
    subject: Subject, rebalance: Document, *, cooperative: bool = False
) -> DrivenRebalance:
    """Drive a subject; if it is `Repeatable`, compare its first answer.

    Raises
    ------
    OSError or OutsideError
        If the subject cannot be started or reached.
    """
    outcome = drive(subject, rebalance, cooperative=cooperative)
    first = outcome.rounds[0]
    is_right = first.answer.assignment is not None and not first.violations
    if not isinstance(subject, Repeatable) or not is_right or first.answer.is_late:
        return outcome
    other = reordered(rebalance)
    try:
        again = subject.ask_twin(orjson.dumps(other))
    except OutOfTimeError:
        return outcome
    if again.answer.verdict in {Verdict.SLOW, Verdict.HANG}:
        return outcome  # not known
    sent = SentAnswer(line=orjson.dumps(rebalance), answer=first.answer)
    return _compared(
        outcome, AnswerDifference(first=sent, second=again), other, cooperative
    )


def _compared(
    outcome: DrivenRebalance,
    sides: AnswerDifference,
    other: Document,
    cooperative: bool,
) -> DrivenRebalance:
    """Return the outcome with the difference, or the fault of the second answer."""
    answer = sides.second.answer
    if answer.assignment is not None and same_answers(sides.first.answer, answer):
        return replace(outcome, is_repeated=True)
    fault = fault_of(other, answer, cooperative=cooperative)
    if fault is not None:
        return replace(fault, is_repeated=True, hash_seed=sides.second.hash_seed)
    return replace(outcome, is_repeated=True, difference=sides)


def reordered(rebalance: Document, number: int = 0) -> Document:
    """Return the same rebalance with members, topics, and subscriptions in other order.

    Number 0 is the reverse order, in which every two of them are exchanged. The others
    are drawn; they depend on the rebalance and on the number, and on nothing else.
    """
    digest = zlib.crc32(orjson.dumps(rebalance, option=orjson.OPT_SORT_KEYS))
    rng = Random(f"{digest} {number}")  # noqa: S311 - an order, not a secret

    def other(values: Iterable[_T]) -> list[_T]:
        found = list(values)
        if number == 0:
            found.reverse()
        else:
            rng.shuffle(found)
        return found

    members = {
        name: member | {"subscription": other(member["subscription"])}
        for name, member in other(rebalance["members"].items())
    }
    topics = dict(other(rebalance["topics"].items()))
    return rebalance | {"topics": topics, "members": members}


def as_nondeterministic(outcome: DrivenRebalance) -> DrivenRebalance:
    """Return the difference of an outcome as an outcome of its own."""
    difference = outcome.difference
    assert difference is not None  # noqa: S101
    return replace(
        outcome,
        category=Category.NONDETERMINISTIC,
        detail=difference.detail,
        place=None,
        reason=difference.reason,
    )
