"""Outcome of one rebalance that a third-party assignor received."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import orjson

import verify
from conformance.clients.fault_place import MOST
from rebalance import AssignmentDocument, DocumentError, parse_assignment, to_json


class Verdict(Enum):
    """Outcome of a rebalance for a client."""

    ANSWERED = "answered"
    ERROR = "error"  # the assignor raised
    INVALID = "invalid"  # no assignment/1, or one that violates a rule
    HANG = "hang"  # no answer; see `patience`
    SLOW = "slow"  # no answer in time, and not awaited any longer
    CRASH = "crash"  # the process ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An assignment if one could be read.

    Attributes
    ----------
    reason : str or None
        Why there is none, or why it is invalid; how late it is, if it is late.
    is_late : bool
        Whether the assignment came after the limit in seconds.
    place : str or None
        Where in the client it failed, if that is known.
    line : str or None
        Output of the program that is neither an assignment nor an error.
    """

    verdict: Verdict
    assignment: AssignmentDocument | None = None
    reason: str | None = None
    is_late: bool = False
    place: str | None = None
    line: str | None = field(default=None, compare=False)


def read_answer(line: bytes) -> Answer:
    """Parse an adapter's line: an ``assignment/1``, or ``{"error": "why"}``.

    An error can have a ``place``: the function and the line that raised it.
    """
    if line.startswith(b'{"error":'):
        return _failure(line)
    try:
        assignment = parse_assignment(line)
    except DocumentError as error:
        return _unreadable(line, error)
    return Answer(verdict=Verdict.ANSWERED, assignment=assignment)


def _failure(line: bytes) -> Answer:
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _unreadable(line, error)
    place = said.get("place")
    return Answer(
        verdict=Verdict.ERROR,
        reason=str(said["error"]),
        place=place[:MOST] if isinstance(place, str) and place else None,
    )


def _unreadable(line: bytes, error: Exception) -> Answer:
    said = line.decode(errors="replace")
    return Answer(verdict=Verdict.INVALID, reason=str(error), line=said)


def judged(answer: Answer, rebalance: bytes, *, cooperative: bool = False) -> Answer:
    """Judge an answer; an invalid one becomes ``INVALID``, with its violations.

    Parameters
    ----------
    answer : Answer
        Any answer; one without an assignment is returned unchanged.
    rebalance : bytes
        The ``rebalance/1`` document that it answers.
    cooperative : bool
        Whether it is a round of cooperative rebalancing.
    """
    if answer.assignment is None:
        return answer
    instance = verify.read_rebalance(rebalance)
    case = verify.case_of(instance)
    given = verify.read_assignment(to_json(answer.assignment))
    verdict = verify.judge_case(case, given, cooperative=cooperative)
    if verdict["verdict"] == "valid":
        return answer
    reason = str(verdict["violations"][0])
    return Answer(verdict=Verdict.INVALID, assignment=answer.assignment, reason=reason)
