"""Dependence of differing answers, by new processes with one question each.

The same line is sent to four of them with one hash seed, then to some with other hash
seeds, then in other orders with one hash seed. The first to differ names the
dependence, if it differs again in the same way; otherwise, chance decides per process.
If nothing differs, the earlier questions of the process do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from conformance.clients import Verdict
from conformance.runs.difference import (
    AnswerDifference,
    Dependence,
    SentAnswer,
    same_answers,
)
from conformance.runs.other_processes import FIRST_SEED, Repeatable
from conformance.runs.repeating import reordered
from conformance.runs.rounds import fault_of

Document = dict[str, Any]
Ask = Callable[[bytes, int, int], SentAnswer]
"""Asks a process with a hash seed; the last argument is a number of the process."""

PROCESSES: Final = 4
SEEDS: Final = tuple(range(FIRST_SEED, FIRST_SEED + 6))
ORDERS: Final = 5
AGAIN: Final = 2


def examined(
    subject: Repeatable, difference: AnswerDifference, *, cooperative: bool = False
) -> AnswerDifference:
    """Return the difference with its dependence, shown by new processes.

    Without a dependence if new processes do not answer, or show none.
    """
    rebalance = orjson.loads(difference.first.line)
    found = difference_of_new(subject, rebalance, cooperative=cooperative)
    return found or _by_history(subject, difference)


def difference_of_new(
    subject: Repeatable, rebalance: Document, *, cooperative: bool = False
) -> AnswerDifference | None:
    """Return answers of new processes that differ, or None if they do not."""

    def ask_new(line: bytes, hash_seed: int, _number: int) -> SentAnswer:
        return subject.ask_new(line, hash_seed)

    for dependence in (Dependence.PROCESS, Dependence.HASH_SEED, Dependence.ORDER):
        found = difference_by(dependence, ask_new, rebalance, cooperative=cooperative)
        if found is not None:
            return _confirmed(found, ask_new)
    return None


def difference_by(
    dependence: Dependence, ask: Ask, rebalance: Document, *, cooperative: bool
) -> AnswerDifference | None:
    """Return two valid answers that differ by no more than a dependence, or None."""
    base = orjson.dumps(rebalance)
    askings: Sequence[tuple[bytes, int, int]]
    match dependence:
        case Dependence.PROCESS:
            askings = [(base, FIRST_SEED, number) for number in range(PROCESSES)]
        case Dependence.HASH_SEED:
            askings = [(base, seed, 0) for seed in SEEDS]
        case Dependence.ORDER:
            orders = [reordered(rebalance, number) for number in range(ORDERS)]
            lines = [base, *map(orjson.dumps, orders)]
            askings = [(line, FIRST_SEED, 0) for line in lines]
        case Dependence.HISTORY:
            return None
    first: SentAnswer | None = None
    for line, seed, number in askings:
        sent = ask(line, seed, number)
        if sent.answer.verdict is not Verdict.ANSWERED:
            return None
        is_equal = first is not None and same_answers(first.answer, sent.answer)
        if is_equal or fault_of(rebalance, sent.answer, cooperative=cooperative):
            continue
        if first is None:
            first = sent
        else:
            return AnswerDifference(first=first, second=sent, dependence=dependence)
    return None


def _confirmed(found: AnswerDifference, ask: Ask) -> AnswerDifference:
    """Return the difference, by chance if either side differs from itself."""
    for side in (found.first, found.second):
        for number in range(AGAIN if found.dependence is not Dependence.PROCESS else 0):
            again = ask(side.line, side.hash_seed or 0, PROCESSES + number)
            if again.answer.assignment is not None and not same_answers(
                side.answer, again.answer
            ):
                return AnswerDifference(
                    first=side, second=again, dependence=Dependence.PROCESS
                )
    return found


def _by_history(subject: Repeatable, difference: AnswerDifference) -> AnswerDifference:
    """Compare the sides with new processes, each with its own line and hash seed."""
    for side in (difference.first, difference.second):
        seed = FIRST_SEED if side.hash_seed is None else side.hash_seed
        new = subject.ask_new(side.line, seed)
        if new.answer.verdict is not Verdict.ANSWERED:
            return difference
        if not same_answers(side.answer, new.answer):
            return AnswerDifference(
                first=new, second=side, dependence=Dependence.HISTORY
            )
    return replace(difference, dependence=None)
