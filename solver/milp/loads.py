"""``load`` on any set of assignments: the vector of loads, in stages.

Vectors with the largest load first are in the order of how many members reach the
largest value there is, then how many reach the next, and so on: with

    reaching[v] = number of c with s[c] · load[c] >= v,

the least vector has the lexicographically least (reaching[v] for v descending). A stage
takes as many values as one integer holds: sum of base ** i · reaching[v_i], base one
more than the members, is least where they are, the first of them first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from solver.milp.case import Case
from solver.milp.program import Goal, Program, Terms, merged

STAGE_MAX: Final = 2**20
"""Largest sum of a stage: far below where doubles lose an integer."""


@dataclass(slots=True, kw_only=True)
class Ladder:
    """Loads in unary, up to the largest value that matters.

    Attributes
    ----------
    values : list of int
        All s[c] · n there are, up to the top, descending.
    reach : dict of int to terms
        For each value, the sum that counts the members who reach it.
    """

    values: list[int] = field(default_factory=list)
    reach: dict[int, Terms] = field(default_factory=dict)


def ladder_of(case: Case, program: Program, top: int) -> Ladder:
    """Write loads in unary and keep s[c] · load[c] <= top.

    load[c] = sum over n of step[c, n], step[c, n] >= step[c, n + 1], both 0 or 1.
    """
    steps: dict[tuple[int, int], Terms] = {}
    for c in case.members.play:
        unit = case.members.unit(c)
        made = [program.whole(0, 1) for _ in range(top // unit)]
        row: Terms = [(step, -1) for step in made]
        program.equal([*program.load(c), *row], 0)
        for step, following in itertools.pairwise(made):
            program.at_least([(step, 1), (following, -1)], 0)
        steps.update({(c, n): [(step, 1)] for n, step in enumerate(made, 1)})
    values = sorted({case.members.unit(c) * n for c, n in steps}, reverse=True)
    return Ladder(values=values, reach=_reach(case, steps, values))


def _reach(
    case: Case, steps: dict[tuple[int, int], Terms], values: Sequence[int]
) -> dict[int, Terms]:
    """Member c reaches v with its ceil(v ÷ s[c])-th partition."""
    reach: dict[int, Terms] = {}
    for value in values:
        first = [(c, -(-value // case.members.unit(c))) for c in case.members.play]
        reach[value] = [term for at in first for term in steps.get(at, [])]
    return reach


def stages(values: Sequence[int], members: int) -> Iterator[list[int]]:
    """Split the values into runs that one integer holds each."""
    size, whole = 1, members + 1
    while whole * (members + 1) <= STAGE_MAX:
        size, whole = size + 1, whole * (members + 1)
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


def stage_goal(ladder: Ladder, stage: Sequence[int], members: int) -> Goal:
    """Return: sum of base ** i · reaching[v_i], the first value with the largest i."""
    weights = _weights(stage, members)
    parts = zip(weights, (ladder.reach[v] for v in stage), strict=True)
    return Goal(terms=merged(parts))


def _weights(stage: Sequence[int], members: int) -> list[int]:
    return [(members + 1) ** (len(stage) - 1 - i) for i in range(len(stage))]


def counted(vector: Sequence[int], stage: Sequence[int], members: int) -> int:
    """Return that sum for a vector of loads."""
    reaching = [sum(load >= value for load in vector) for value in stage]
    return sum(w * n for w, n in zip(_weights(stage, members), reaching, strict=True))


def reaching_of(total: int, stage: Sequence[int], members: int) -> list[int]:
    """Take such a sum apart again; what no vector has becomes less, never more."""
    digits = []
    for weight in _weights(stage, members):
        digit = min(max(total, 0) // weight, members)
        digits.append(digit)
        total -= digit * weight
    return digits


def least_reaching(
    known: Sequence[tuple[int, int]], value: int, loads: int, members: int
) -> int:
    """Bound how many must reach a value, loads being counts: what is left must go on.

    ``known`` are (value, reaching) above it. The sum of all reaching is ``loads``, and
    below ``value`` no more than all members reach each.
    """
    rest = loads - sum(count for _, count in known)
    above = known[-1][1] if known else 0
    return max(above, rest - (value - 1) * members)


def vector_of(reaching: Sequence[tuple[int, int]], members: int) -> tuple[int, ...]:
    """Write (value, reaching) for values descending as a vector, the rest zeros."""
    vector: list[int] = []
    for value, count in reaching:
        vector += [value] * (count - len(vector))
    return tuple(vector + [0] * (members - len(vector)))
