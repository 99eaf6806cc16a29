"""Observe a group whose leader should have hung or died.

A leader hangs if the group does not become stable, although its last member has joined,
and the leader's thread is seen in the assignor each time one looks.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from studies.confirmation.broker_groups import LOOK_SECONDS, ReportedGroup
from studies.confirmation.real_group import RealGroup

STUCK_SECONDS: Final = 6.0
CALM_SECONDS: Final = 6.0
QUIET: Final = frozenset({"STABLE", "EMPTY", "DEAD"})
RAISED: Final = "exit code 70"
"""The end of a program of members whose client raises."""
_OF_ASSIGNORS: Final = ("assignor", "balance", "sticky")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The observation: a category of findings, ``no fault``, or ``unclear``."""

    category: str
    outcome: str


def observe(group: RealGroup, seconds: float) -> Observation:
    """Look at a group until a process ends, the group is stable, or time is up."""
    began, spent = time.monotonic(), group.cpu_seconds()
    states: list[tuple[float, ReportedGroup]] = []
    while True:
        if dead := group.ended():
            return death_of(dead[0].end())
        state = group.cluster.describe(group.name)
        passed = time.monotonic() - began
        states.append((passed, state))
        if passed > seconds or (_is_calm(states) and not _was_stuck(states)):
            break
        time.sleep(LOOK_SECONDS)
    timeline = _timeline(states)
    if not _was_stuck(states):
        return Observation(
            category="no fault", outcome=f"No member fails. The group: {timeline}."
        )
    first, second = group.frames(), group.frames()
    busy = [m for m in first if in_assignor(first[m]) and in_assignor(second[m])]
    if not busy:
        outcome = f"Not stable, but no thread is in an assignor: {timeline}."
        return Observation(category="unclear", outcome=outcome)
    who = busy[0]
    # Go's stacks are those of a process, which has all members.
    leader = f"The leader {who}" if len(busy) == 1 else "The leader"
    now = group.cpu_seconds()
    share = (now[who] - spent[who]) / (time.monotonic() - began)
    outcome = (
        f"{leader} does not return from {in_assignor(second[who])}; "
        f"its process takes {share:.0%} of a core. The group: {timeline}."
    )
    return Observation(category="hang", outcome=outcome)


def death_of(cause: str) -> Observation:
    """Return the evidence in the end of a process: with an exit code, there is none.

    The exception is the code by which a program says that its client raised.
    """
    lines = cause.splitlines()
    panic = lines.pop(0) if lines[0].startswith("panic:") else ""
    end = lines[0].split(":")[0]
    is_of_client = bool(panic) or not end.startswith("exit code") or end == RAISED
    words = ", ".join(filter(None, (end, panic)))
    return Observation(
        category="crash" if is_of_client else "unclear",
        outcome=f"The leader's process ends with {words}.",
    )


def in_assignor(frames: Iterable[str]) -> str:
    """Return the innermost frame of an assignor; empty if there is none."""
    for frame in frames:
        if any(word in frame.lower() for word in _OF_ASSIGNORS):
            return frame.rpartition(".internals.")[2]
    return ""


def _is_calm(states: list[tuple[float, ReportedGroup]]) -> bool:
    """Return whether the group has been stable, or empty, for a while."""
    last = states[-1][0]
    recent = [state.state for at, state in states if at > last - CALM_SECONDS]
    return last > CALM_SECONDS and set(recent) <= QUIET


def _was_stuck(states: list[tuple[float, ReportedGroup]]) -> bool:
    """Return whether members waited long for their assignment."""
    waits = [at for at, state in states if state.state == "COMPLETING_REBALANCING"]
    return bool(waits) and waits[-1] - waits[0] > STUCK_SECONDS


def _timeline(states: list[tuple[float, ReportedGroup]]) -> str:
    parts = []
    for short, some in groupby(states, key=lambda pair: pair[1].short):
        at = next(some)[0]
        parts.append(f"{short} after {at:.0f} s")
    return "; ".join(parts)
