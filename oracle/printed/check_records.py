"""Records of check/1: one check of ``conform``."""

from __future__ import annotations

from typing import Literal

from conformance.runs import RepeatRecord
from oracle.printed.printed_record import Members, PrintedRecord
from rebalance import Optional, Rebalance

Result = Literal[
    "hang",
    "crash",
    "error",
    "invalid",
    "unrevoked",
    "restless",
    "nondeterministic",
    "slow",
    "kip54-unbalanced",
    "unbalanced",
    "needless-moves",
    "optimal",
    "unmet",
    "refused",
    "not-run",
]


class RoundAnswer(PrintedRecord):
    """One rebalance that was sent, and its answer: ``members`` or ``error``.

    Attributes
    ----------
    rebalance
        The instance; in later rounds, members claim what they were assigned before.
    members
        Partitions by member and topic, if the answer could be read.
    error
        Why there is no answer that can be read, or none that was awaited, in words.
    """

    rebalance: Rebalance
    members: Optional[Members] = None
    error: Optional[str] = None


class CheckRecord(PrintedRecord):
    """One check of one subject by `conform --json`.

    A subject that was not tested, or not to the end, has one line with the result
    ``not-run``, without ``part`` and ``check``.

    Attributes
    ----------
    format
        Name and version of the format.
    subject
        The command or the client.
    part
        ``corpus``, or the name of a family of random rebalances.
    check
        Scenario and step; or seed, index, and step of a draw.
    result
        The category of the outcome, ``unmet`` if an expectation of the corpus is not
        met, ``nondeterministic`` if repeated answers of a subject that is declared
        deterministic differ, ``refused`` for an expected refusal, or ``not-run``.
    passed
        Whether the result is no finding under the requirement (``--require``).
    reasons
        What is wrong, or how late a slow answer is, in words.
    rounds
        Of findings: what was sent and answered, one entry per round.
    notes
        What an author should know, although it is not wrong: repeated answers differ.
    repeats
        The two answers that differ.
    """

    format: Literal["check/1"] = "check/1"
    subject: str
    part: Optional[str] = None
    check: Optional[str] = None
    result: Result
    passed: bool
    reasons: list[str]
    rounds: Optional[list[RoundAnswer]] = None
    notes: Optional[list[str]] = None
    repeats: Optional[list[RepeatRecord]] = None
