"""Contents of an assignor's picture: its answer on a rebalance, and an optimum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from heuristics import ASSIGNORS
from heuristics.cooperative_sticky import CooperativeStickyAssignor
from rebalance import (
    Assignment,
    AssignmentDocument,
    Instance,
    assignment_of,
    figures_of,
    instance_of,
    member_lag,
    parse_rebalance,
)
from solver import solve
from solver.objectives import values_of
from solver.policy import parse_policy
from solver.result import Result
from verify import every_assignment

EXAMPLES: Final = Path("docs/examples")
SPECIAL: Final = {"sticky": "chain.json"}
"""Examples of assignors' pictures, if not of the assignor's name."""
POLICIES: Final = {
    "lag-aware": "lag-aware",
    "lag-swaps": "per-topic; peak-lag, stickiness",
}
"""Policies of the optimum, if not `sticky`."""


class StateNote(NamedTuple):
    """A line about a state; a smaller ``merit`` is better; None: not compared."""

    text: str
    of: str = ""
    merit: tuple[int, ...] | None = None

    def is_worse(self, others: Sequence[StateNote]) -> bool:
        """Whether another state's line of the same kind has a smaller ``merit``."""
        if self.merit is None:
            return False
        same = [other.merit for other in others if other.of == self.of]
        return any(other is not None and other < self.merit for other in same)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureState:
    """Holders at one point, and lines about them.

    Attributes
    ----------
    holder : int32 (P,)
        Member; -1: none.
    refused : str or None
        Why there is no assignment.
    """

    title: str
    holder: np.ndarray[tuple[int], np.dtype[np.int32]] | None
    notes: tuple[StateNote, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """An assignor's answer and the optimum.

    Attributes
    ----------
    states : tuple of PictureState
        The answer; for a cooperative assignor, all rounds.
    best : PictureState
        The optimum that is closest to the answer; the first among several.
    """

    assignor: str
    instance: Instance
    states: tuple[PictureState, ...]
    best: PictureState


def example_of(assignor: str) -> Path:
    """Return the path of the rebalance in an assignor's picture."""
    name = SPECIAL.get(assignor)
    return EXAMPLES / (name or f"assignors/{assignor}.json")


def contrast_of(assignor: str, root: Path) -> Contrast:
    """Run an assignor and the solver on the assignor's example."""
    text = (root / example_of(assignor)).read_bytes()
    instance = instance_of(parse_rebalance(text))
    policy = parse_policy(POLICIES.get(assignor, "sticky"))
    outcome = solve(instance, policy)
    states = tuple(_states(assignor, instance))
    best = _nearest(instance, json.loads(text), outcome, states[-1])
    notes = (*_notes(instance, best), StateNote(f"proved: {outcome.policy}"))
    return Contrast(
        assignor=assignor,
        instance=instance,
        states=states,
        best=PictureState(title="the optimum", holder=best.assignee, notes=notes),
    )


def _states(name: str, instance: Instance) -> Iterator[PictureState]:
    assignor = ASSIGNORS[name]
    reason = assignor.refuses(instance)
    if reason is not None:
        yield PictureState(title=name, holder=None, refused=reason)
        return
    if isinstance(assignor, CooperativeStickyAssignor):
        for number, round_ in enumerate(assignor.rounds(instance), 1):
            count = int(round_.withheld.sum())
            notes = (
                (StateNote(f"{count} withheld"),)
                if count
                else _notes(instance, round_.given)
            )
            yield PictureState(
                title=f"{name}, round {number}" if number == 1 else f"round {number}",
                holder=round_.given.assignee,
                notes=notes,
            )
        return
    answer = assignor.assign(instance)
    yield PictureState(
        title=name, holder=answer.assignee, notes=_notes(instance, answer)
    )


def _notes(instance: Instance, answer: Assignment) -> tuple[StateNote, ...]:
    """Describe loads, lags, and moves."""
    loads = answer.loads(instance).tolist()
    even = None if instance.lag is not None else tuple(sorted(loads, reverse=True))
    lines = [StateNote(_listed("loads", loads), "loads", even)]
    if instance.lag is not None:
        lags = member_lag(instance, answer).tolist()
        lines.append(StateNote(_listed("lag", lags), "lag", (max(lags),)))
    if (instance.owner >= 0).any():
        moves = figures_of(instance, answer).moves or 0
        lines.append(StateNote(f"moves {moves}", "moves", (moves,)))
    return tuple(lines)


def _listed(word: str, numbers: Sequence[int]) -> str:
    return f"{word} {', '.join(map(str, numbers))}"


def _nearest(
    instance: Instance,
    document: dict[str, object],
    outcome: Result,
    state: PictureState,
) -> Assignment:
    """Enumerate all assignments; return the optimum that is closest to the answer.

    Raises
    ------
    ValueError
        If the optimum is not proved.
    """
    if outcome.assignment is None or not all(o.is_proved for o in outcome.objectives):
        raise ValueError(f"{instance.group}: not proved")
    if state.holder is None:
        return outcome.assignment
    wanted = _merit(instance, outcome.assignment, outcome)
    answers = (
        assignment_of(instance, AssignmentDocument.model_construct(**assignment))
        for assignment in every_assignment(document)
    )
    equal = [
        answer for answer in answers if _merit(instance, answer, outcome) == wanted
    ]
    return min(equal, key=lambda answer: int((answer.assignee != state.holder).sum()))


def _merit(instance: Instance, answer: Assignment, outcome: Result) -> object:
    """Return the values of the policy's objectives and balance.

    Sorted loads determine dec-min balance, because no example has capacities.
    """
    bounds = instance.topic_offsets
    if outcome.policy.balance.kind.value == "dec-min":
        bounds = bounds[[0, -1]]
    members = len(instance.members)
    loads = [
        sorted(np.bincount(answer.assignee[start:end], minlength=members).tolist())
        for start, end in pairwise(bounds.tolist())
    ]
    return loads, values_of(instance, answer, outcome.policy)
