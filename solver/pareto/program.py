"""The cheapest loads within a budget of moves, as an integer program for CP-SAT.

    keep(t, c)    partitions of topic t that stay with c, at most what c owns of it
    give(t, c)    partitions of topic t that c gets beside them
    reach(c, v)   1 if the load of c is v or more

The v-th partition of every member costs price(v), and prices never decrease.

Loads need not be larger than the largest in some plan that moves nothing: from any
plan, transfers lead there one by one that keep what is kept and take from a member
above that largest load to give to one below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ortools.sat.python import cp_model

from solver.limits import LimitExceededError, Limits
from solver.pareto.counts import Counts, Pair, Plan
from solver.pareto.running import search

Variables = dict[Pair, cp_model.IntVar]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheapest:
    """What a search found.

    Attributes
    ----------
    plan : Plan or None
        The best found.
    bound : int or None
        No plan within the budget costs less; None: that is not known.
    """

    plan: Plan | None
    bound: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A model under construction."""

    counts: Counts
    top: int
    limits: Limits
    model: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    keep: Variables = field(default_factory=dict)
    give: Variables = field(default_factory=dict)
    reach: dict[int, list[cp_model.IntVar]] = field(default_factory=dict)


def cheapest(
    counts: Counts,
    budget: int,
    prices: Sequence[int],
    excess: Sequence[int],
    *,
    limits: Limits,
    hint: Plan,
) -> Cheapest:
    """Search the plan that costs least.

    Parameters
    ----------
    prices
        Of the first, second, ... partition of a member; no load is larger.
    excess
        What lies above 0, 1, 2, ... at least: known before, and of help.
    hint
        Where to begin.
    """
    program = Program(counts=counts, top=len(prices), limits=limits)
    try:
        give_all(program)
        keep_enough(program, budget)
        count_loads(program)
        exceed(program, excess)
        program.model.minimize(_cost(program, prices))
        program.limits.check()
        _begin_at(program, hint)
    except LimitExceededError:
        return Cheapest(plan=None, bound=None)
    asked = [*program.keep.values(), *program.give.values()]
    found = search(program.model, asked, limits)
    plan = None if found.values is None else _plan(program, found.values)
    return Cheapest(plan=plan, bound=found.bound)


def give_all(program: Program) -> None:
    """Give away each topic: Σ_c keep(t, c) + give(t, c) = partitions of t."""
    counts, model = program.counts, program.model
    for topic, supply in counts.supply.items():
        program.limits.check()
        taken: list[cp_model.IntVar] = []
        for c in counts.takers[topic]:
            own = counts.own.get((topic, c), 0)
            if own:
                program.keep[topic, c] = model.new_int_var(0, own, "")
                taken.append(program.keep[topic, c])
            if supply > own:
                program.give[topic, c] = model.new_int_var(0, supply - own, "")
                taken.append(program.give[topic, c])
        model.add(sum(taken) == supply)


def keep_enough(program: Program, budget: int) -> None:
    """Move at most the budget: Σ keep(t, c) ≥ owned − budget."""
    least = program.counts.owned - budget
    if program.keep and least > 0:
        program.model.add(sum(program.keep.values()) >= least)


def count_loads(program: Program) -> None:
    """Tie loads to thresholds: Σ_t keep + give = Σ_v reach(c, v), v without gaps."""
    held: dict[int, list[cp_model.IntVar]] = {}
    for one in (program.keep, program.give):
        for (_, c), variable in one.items():
            held.setdefault(c, []).append(variable)
    for c, variables in sorted(held.items()):
        program.limits.check()
        reach = [program.model.new_bool_var("") for _ in range(program.top)]
        program.reach[c] = reach
        program.model.add(sum(variables) == sum(reach))
        for lower, higher in pairwise(reach):
            program.model.add_implication(higher, lower)


def exceed(program: Program, excess: Sequence[int]) -> None:
    """Say what is known: Σ_c Σ_{v > t} reach(c, v) ≥ least excess above t."""
    for threshold, least in enumerate(excess[: program.top]):
        if least:
            program.limits.check()
            reaches = program.reach.values()
            above = [one for reach in reaches for one in reach[threshold:]]
            program.model.add(cp_model.LinearExpr.sum(above) >= least)


def _cost(program: Program, prices: Sequence[int]) -> cp_model.LinearExprT:
    """Return Σ_c Σ_v price(v) · reach(c, v)."""
    reached = [one for reach in program.reach.values() for one in reach]
    return cp_model.LinearExpr.weighted_sum(reached, [*prices] * len(program.reach))


def _plan(program: Program, values: Sequence[int]) -> Plan:
    plan: dict[Pair, int] = {}
    for pair, n in zip((*program.keep, *program.give), values, strict=True):
        if n:
            plan[pair] = plan.get(pair, 0) + n
    return plan


def _begin_at(program: Program, hint: Plan) -> None:
    own, loads = program.counts.own, program.counts.loads(hint)
    for pair, variable in program.keep.items():
        program.model.add_hint(variable, min(hint.get(pair, 0), own[pair]))
    for pair, variable in program.give.items():
        program.model.add_hint(variable, max(0, hint.get(pair, 0) - own.get(pair, 0)))
    for c, reach in program.reach.items():
        for v, variable in enumerate(reach):
            program.model.add_hint(variable, loads[c] > v)
