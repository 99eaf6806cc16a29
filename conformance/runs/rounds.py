"""One rebalance from its claims to a stable state, every answer judged.

An eager assignor answers once. Under cooperative rebalancing (KIP-429), each member
keeps its assigned partitions that it still owned, revokes the rest, and joins again
with its assigned partitions as its claim; the rounds end when no member has to revoke.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

import verify
from conformance.clients import Answer, Verdict
from conformance.runs.categories import Category
from conformance.runs.difference import AnswerDifference
from conformance.runs.optimum import least_moves, moves_bound
from conformance.runs.subject import Subject

Document = dict[str, Any]

MOST_ROUNDS: Final = 16
"""Rounds after which a group is restless.

Two are enough for an assignor that computes one target: the first revokes the
partitions that have to move, the second assigns it. Kafka's own needs three for a few
groups, because it computes a new target per round.
"""

_FAILURES: Final[Mapping[Verdict, Category]] = {
    Verdict.HANG: Category.HANG,
    Verdict.SLOW: Category.SLOW,
    Verdict.CRASH: Category.CRASH,
    Verdict.ERROR: Category.ERROR,
    Verdict.INVALID: Category.INVALID,
}
_EXCEPTION: Final = re.compile(r"[\w.$]*(?:Error|Exception|Throwable|Failure)\b")
_RULES: Final = (  # the first that is violated names the outcome
    "assigned-twice",
    "unknown-member",
    "unknown-partition",
    "unsubscribed",
    "unassigned",
    "missing-member",
    "unrevoked",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """One answer; ``figures`` and ``violations`` are those of its own instance."""

    rebalance: Document
    answer: Answer
    violations: Sequence[Document] = ()
    figures: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenRebalance:
    """A rebalance that was driven to its end.

    Attributes
    ----------
    rounds : tuple of JudgedAnswer
        At least one; several only under cooperative rebalancing.
    category : Category
    detail : str
        Detail that distinguishes faults of one category: the rule that is violated, the
        exception, the signal. Empty where nothing does.
    place : str or None
        Where in the client it failed, if that is known.
    reason : str or None
        In words.
    figures : mapping or None
        Figures of the stable state, counted against the claims of the first round;
        None if it was not reached.
    needless_moves : int or None
        Moves beyond those of the optimum; None unless dec-min balanced.
    is_repeated : bool
        Whether the first answer was compared with that of another process.
    difference : AnswerDifference or None
        The two answers, if they differ.
    hash_seed : int or None
        Of the other process, if it is its answer that is at fault.
    """

    rounds: tuple[JudgedAnswer, ...]
    category: Category
    detail: str = ""
    place: str | None = None
    reason: str | None = None
    figures: Mapping[str, Any] | None = None
    needless_moves: int | None = None
    is_repeated: bool = False
    difference: AnswerDifference | None = None
    hash_seed: int | None = None

    @property
    def held(self) -> Mapping[str, Mapping[str, Sequence[int]]] | None:
        """The assignment of the stable state, None if it was not reached."""
        assignment = self.rounds[-1].answer.assignment
        return (
            None if self.figures is None or assignment is None else assignment.members
        )


def drive(
    subject: Subject,
    rebalance: Document,
    *,
    cooperative: bool = False,
    fewest: Callable[[Document], int] = least_moves,
) -> DrivenRebalance:
    """Send a rebalance, and under cooperative rebalancing the rounds that follow.

    The judge counts claims by ``newest-claim`` (KIP-341). ``fewest`` returns the fewest
    moves to dec-min balance, if `moves_bound` is not reached.

    Raises
    ------
    OSError or OutsideError
        If the subject cannot be started or reached.
    """
    rounds: list[JudgedAnswer] = []
    current, first = rebalance, verify.case_of(rebalance)
    while len(rounds) < (MOST_ROUNDS if cooperative else 1):
        case = verify.case_of(current) if rounds else first
        one, verdict = _judged_round(subject, current, case, cooperative=cooperative)
        rounds.append(one)
        if verdict is None or verdict["violations"]:
            return _fault(tuple(rounds))
        held = _held(one)
        waits = cooperative and verdict["figures"]["withheld"] > 0
        if not cooperative or not (waits or revokes(current, held)):
            return _at_rest(tuple(rounds), first, verdict, fewest)
        current = next_round(current, held)
    reason = f"members still revoke after {MOST_ROUNDS} rounds"
    return DrivenRebalance(
        rounds=tuple(rounds), category=Category.RESTLESS, reason=reason
    )


def revokes(rebalance: Document, held: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a member has to revoke a claim, and therefore joins again.

    Claims on partitions that do not exist or are not subscribed to were revoked before
    (KIP-429), unless the answer withholds it, which `drive` sees by itself.
    """
    topics = rebalance["topics"]
    for name, member in rebalance["members"].items():
        mine = held.get(name, {})
        for topic, numbers in member.get("owned", {}).items():
            if topic not in topics or topic not in member["subscription"]:
                continue
            end = topics[topic]["partitions"]
            claimed = {number for number in numbers if number < end}
            if not claimed.issubset(mine.get(topic, ())):
                return True
    return False


def next_round(
    rebalance: Document, held: Mapping[str, Mapping[str, Sequence[int]]]
) -> Document:
    """Return the same group, in which each member claims its assigned partitions."""
    generation = next_generation(rebalance)
    members = {
        name: member
        | {
            "owned": {t: sorted(ns) for t, ns in held.get(name, {}).items() if ns},
            "generation": generation,
        }
        for name, member in rebalance["members"].items()
    }
    return rebalance | {"members": members}


def next_generation(rebalance: Document) -> int:
    """Return the generation after the newest one that a member states."""
    stated = [member.get("generation", -1) for member in rebalance["members"].values()]
    return max(stated, default=-1) + 1


def _judged_round(
    subject: Subject, rebalance: Document, case: verify.Case, *, cooperative: bool
) -> tuple[JudgedAnswer, Document | None]:
    """Ask and judge; only the members of the answer count, not its claims."""
    answer = subject.answer(orjson.dumps(rebalance))
    return _judged(rebalance, answer, case, cooperative=cooperative)


def fault_of(
    rebalance: Document, answer: Answer, *, cooperative: bool
) -> DrivenRebalance | None:
    """Return the outcome of a first answer that is at fault; None if it is valid."""
    case = verify.case_of(rebalance)
    judged, verdict = _judged(rebalance, answer, case, cooperative=cooperative)
    if verdict is None or verdict["violations"]:
        return _fault((judged,))
    return None


def _judged(
    rebalance: Document, answer: Answer, case: verify.Case, *, cooperative: bool
) -> tuple[JudgedAnswer, Document | None]:
    if answer.assignment is None:
        return JudgedAnswer(rebalance=rebalance, answer=answer), None
    given = {"members": answer.assignment.members}
    verdict = verify.judge_case(case, given, cooperative=cooperative)
    one = JudgedAnswer(
        rebalance=rebalance,
        answer=answer,
        violations=verdict["violations"],
        figures=verdict["figures"],
    )
    return one, verdict


def _held(answer: JudgedAnswer) -> Mapping[str, Mapping[str, Sequence[int]]]:
    assert answer.answer.assignment is not None  # noqa: S101
    return answer.answer.assignment.members


def _fault(rounds: tuple[JudgedAnswer, ...]) -> DrivenRebalance:
    last = rounds[-1]
    if last.violations:
        broken = {violation["rule"] for violation in last.violations}
        first = min(broken, key=_RULES.index)
        example = next(
            violation for violation in last.violations if violation["rule"] == first
        )
        category = Category.UNREVOKED if first == "unrevoked" else Category.INVALID
        reason = ", ".join(f"{key} {value}" for key, value in example.items())
        return DrivenRebalance(
            rounds=rounds, category=category, detail=first, reason=reason
        )
    category = _FAILURES[last.answer.verdict]
    reason = last.answer.reason or ""
    return DrivenRebalance(
        rounds=rounds,
        category=category,
        detail=_detail(category, reason),
        place=last.answer.place,
        reason=reason,
    )


def _detail(category: Category, reason: str) -> str:
    """Reduce a reason to the words that do not depend on the instance."""
    first = reason.partition("\n")[0]
    if category in {Category.HANG, Category.SLOW}:
        return ""
    if category is Category.CRASH:
        return first.partition(":")[0]
    if category is Category.INVALID:
        return "unreadable"
    named = _EXCEPTION.search(first)
    return named[0] if named else re.sub(r"\d+", "#", first)[:80]


def _at_rest(
    rounds: tuple[JudgedAnswer, ...],
    case: verify.Case,
    verdict: Document,
    fewest: Callable[[Document], int],
) -> DrivenRebalance:
    """Classify a valid stable state; ``case`` is that of the first round."""
    if len(rounds) > 1:
        verdict = verify.judge_case(case, {"members": _held(rounds[-1])})
    figures = {name: n for name, n in verdict["figures"].items() if name != "withheld"}
    needless = None
    if not figures["kip54_balanced"]:
        category = Category.KIP54_UNBALANCED
    elif not figures["dec_min_balanced"]:
        category = Category.UNBALANCED
    else:
        needless = figures["moves"] - moves_bound(case, figures["loads"])
        if needless:  # the bound is not always reached
            needless = figures["moves"] - fewest(rounds[0].rebalance)
        category = Category.NEEDLESS_MOVES if needless else Category.OPTIMAL
    reason = _in_words(category, verdict, needless)
    late = [round_.answer.reason for round_ in rounds if round_.answer.is_late]
    if late:
        category, reason = Category.SLOW, late[0]
    return DrivenRebalance(
        rounds=rounds,
        category=category,
        reason=reason,
        figures=figures,
        needless_moves=needless,
    )


def _in_words(
    category: Category, verdict: Document, needless: int | None
) -> str | None:
    evidence = verdict["evidence"]
    if category is Category.KIP54_UNBALANCED:
        one = evidence["kip54_balanced"]
        where = f"{one['topic']}:{one['partition']} from {one['member']} to {one['to']}"
        return f"a transfer of {where} evens them out"
    if category is Category.UNBALANCED:
        chain = " → ".join(evidence["dec_min_balanced"])
        return f"the chain {chain} evens out its ends"
    if category is Category.NEEDLESS_MOVES:
        more = "1 move" if needless == 1 else f"{needless} moves"
        return f"{more} more than the optimum needs"
    return None
