"""Matching of a consumer's callbacks with the assignments in the records.

A classic consumer is called back once per generation, others when their assignment
changes. Both take them up in order, so callbacks are matched with records in order. Of
times, only this is used: a record is written before its callback, and a consumer that
has ended can have missed what was written shortly before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.pipeline.recorded import Pairs
from tests.pipeline.recorded_groups import Called, Given, Life

ENDING_MS = 10_000  # a consumer ends at most this much after what it did not see

SEEN = "seen"
KILLED = "killed before its callback"
LEFT = "left before its callback"
SUPERSEDED = "replaced by the next before its callback"


class Matched(NamedTuple):
    """An assignment in the records, and the callback for it, or why there is none."""

    given: Given
    called: Called | None
    status: str


def matches(life: Life, given: Sequence[Given]) -> Iterator[Matched]:
    """Match the callbacks of a consumer with the assignments in the records.

    Raises
    ------
    AssertionError
        If a callback, or an assignment, is left over without a reason.
    """
    match = change_matches if reports_changes(life) else generation_matches
    return match(life, given)


def reports_changes(life: Life) -> bool:
    """Return whether a consumer is called back only if its assignment changes.

    In the new protocol, all are; in the classic one, kafka-python's are if their group
    is cooperative.
    """
    start = life.start
    if start["protocol"] == "consumer":
        return True
    kind: tuple[str, list[str]] = start["library"], start["assignors"]
    return kind == ("kafka-python", ["cooperative-sticky"])


def generation_matches(life: Life, given: Sequence[Given]) -> Iterator[Matched]:
    """Match each callback of an assignment with the generation that gives it.

    A consumer that joins again without a change gets the same generation again: the
    broker answers it without a rebalance, and writes nothing.
    """
    at = 0
    for called in life.assigned:
        found = _generation_of(called, given, at)
        assert found is not None, f"{life.client}: not in the records: {called}"
        if found < at:
            continue
        for skipped in range(at, found):
            yield _unseen(life, given, skipped)
        yield Matched(given[found], called, SEEN)
        at = found + 1
    for rest in range(at, len(given)):
        yield _unseen(life, given, rest)


def _generation_of(called: Called, given: Sequence[Given], at: int) -> int | None:
    """Return the latest generation before a callback that it can be for."""
    found = [
        n
        for n in range(max(at - 1, 0), len(given))
        if called.held == given[n].held
        and called.number in (None, given[n].number)
        and given[n].at <= called.ms
    ]
    return found[-1] if found else None


def change_matches(life: Life, given: Sequence[Given]) -> Iterator[Matched]:
    """Match the states of a consumer with the changes of its assignment.

    Several callbacks can lead to one assignment. Records that do not change what the
    member has (another epoch, partitions to revoke) need no callback.
    """
    given = _changes(given)
    held = [state.held for state in given]
    at = -1
    callbacks = states(life)
    for n, called in enumerate(callbacks):
        if called.held == (held[at] if at >= 0 else frozenset()):
            continue
        if called.held not in held[at + 1 :]:
            # Half of a change: what it has lost is revoked before it gets the rest.
            goes_on = called.event == "revoke" and n + 1 < len(callbacks)
            goes_on = goes_on and callbacks[n + 1].event == "assign"
            assert goes_on, f"{life.client}: not in the records: {called}"
            continue
        found = held.index(called.held, at + 1)
        for skipped in range(at + 1, found):
            yield _unseen(life, given, skipped)
        yield Matched(given[found], called, SEEN)
        at = found
    for rest in range(at + 1, len(given)):
        yield _unseen(life, given, rest)


def _changes(given: Sequence[Given]) -> list[Given]:
    before = [Given(0, frozenset(), 0), *given]
    return [
        state
        for last, state in zip(before, given, strict=False)
        if state.held != last.held
    ]


def states(life: Life) -> list[Called]:
    """Return the callbacks, without that of leaving and of the loss of everything."""
    return [
        called
        for called in life.called
        if called.event != "lost" and (called.held or called.ms < life.ended_ms)
    ]


def _unseen(life: Life, given: Sequence[Given], at: int) -> Matched:
    one = given[at]
    last = max((called.ms for called in life.called), default=0)
    if at + 1 < len(given) and given[at + 1].at <= max(last, life.ended_ms):
        return Matched(one, None, SUPERSEDED)
    near = one.at >= life.ended_ms - ENDING_MS
    assert near, f"{life.client} was never called back for {one}"
    return Matched(one, None, KILLED if life.ended == "kill" else LEFT)


def follows(found: Sequence[Pairs], held: Sequence[Pairs]) -> Pairs | None:
    """Return the first of ``found`` that is not, in order, in ``held``."""
    at = 0
    for pairs in found:
        try:
            at = held.index(pairs, at)
        except ValueError:
            return pairs
    return None
