"""The levels of a policy, one by one: each is proved, then held, then the next."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance import Instance
from rebalance.documents import BoundTerm, SearchProof, TermsProof
from solver.milp import cbc, highs
from solver.milp.backend import Backend
from solver.milp.case import Case
from solver.milp.loads import (
    counted,
    ladder_of,
    least_reaching,
    reaching_of,
    stage_goal,
    stages,
    vector_of,
)
from solver.milp.objectives import goal_of
from solver.milp.program import Goal, Program
from solver.milp.search import Incumbent, minimize
from solver.milp.terms import ZERO, plain_terms, terms_of
from solver.objectives import scale_of
from solver.policy import BalanceKind, Objective, WeightedObjective
from solver.result import ObjectiveResult, Proof, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What is known of a level: nothing allowed has less than ``bound``, and why."""

    bound: Value
    terms: list[BoundTerm]
    searched: bool
    reason: str | None = None


def reach_levels(
    case: Case, program: Program, best: Incumbent
) -> tuple[tuple[ObjectiveResult, ...], str | None]:
    """Minimize level by level; stop at the first that is not proved, and say why."""
    achieved: list[ObjectiveResult] = []
    for at, level in enumerate(case.policy.objectives):
        last = at + 1 == len(case.policy.objectives)
        if level.only is Objective.LOAD:
            reached = _reach_load(case, program, best, at, last=last)
        else:
            reached = _reach_number(case, program, best, at)
        achieved.append(_achieved(case, level, best.values[at], reached))
        if not achieved[-1].is_proved:
            rest = unproved(case.instance, best, at + 1, case)
            return (*achieved, *rest), reached.reason
    return tuple(achieved), None


def unproved(
    instance: Instance, best: Incumbent, start: int, case: Case | None
) -> list[ObjectiveResult]:
    """Return levels from ``start`` on with the bounds that need no program."""
    found = []
    for level, value in list(zip(best.policy.objectives, best.values, strict=True))[
        start:
    ]:
        terms: list[BoundTerm] = []
        bound: Value = (0,) * len(value) if isinstance(value, tuple) else 0
        if not isinstance(value, tuple):
            terms = plain_terms(instance, level)
            if case is not None:
                terms = terms_of(level, case.kinds, case.members)
            bound = max(term.bound for term in terms)
        found.append(
            ObjectiveResult(
                of=level,
                value=value,
                bound=bound,
                scale=scale_of(instance, level),
                proof=TermsProof(terms=_telling(terms)) if terms else None,
            )
        )
    return found


def _reach_number(case: Case, program: Program, best: Incumbent, at: int) -> Reached:
    """Minimize a level that is one integer; stop at once where a term meets it."""
    level = case.policy.objectives[at]
    terms = terms_of(level, case.kinds, case.members)
    least = max(term.bound for term in terms)
    goal = _goal(case, program, level)
    if best.values[at] != least:
        program.hold_at_least(goal, goal.sum_from(least))
        step = minimize(case, program, goal, best)
        reason = step.reason
        value = best.values[at]
        bound = least if step.bound is None else max(least, step.bound)
        if isinstance(value, int) and bound > value:
            bound = least  # refuted by an assignment that has been checked
    else:
        bound, reason = least, None
    value = best.values[at]
    if value == bound and isinstance(value, int):
        program.hold_at_most(goal, goal.sum_at(value))
    return Reached(bound=bound, terms=terms, searched=bound > least, reason=reason)


def _goal(case: Case, program: Program, level: WeightedObjective) -> Goal:
    scale = scale_of(case.instance, level)
    weights = [
        (
            weight
            * (scale // scale_of(case.instance, WeightedObjective.of(objective))),
            objective,
        )
        for weight, objective in level.terms
    ]
    return goal_of(program, case.members, weights)


def _reach_load(
    case: Case, program: Program, best: Incumbent, at: int, *, last: bool
) -> Reached:
    """Minimize the vector of loads, stage by stage."""
    vector = _vector(best, at)
    forced = case.policy.balance.kind is BalanceKind.DEC_MIN or _is_forced(case, vector)
    if not vector or not vector[0] or (forced and last):
        return Reached(bound=vector, terms=[], searched=True)
    if case.policy.balance.kind is BalanceKind.DEC_MIN:
        return Reached(bound=vector, terms=[], searched=True)
    members = len(vector)
    known: list[tuple[int, int]] = []
    ladder = ladder_of(case, program, vector[0])
    for stage in stages(ladder.values, members):
        goal = stage_goal(ladder, stage, members)
        if not forced:
            step = minimize(case, program, goal, best)
            vector = _vector(best, at)
            bound = 0 if step.bound is None else step.bound
            now = counted(vector, stage, members)
            if bound != now:
                digits = reaching_of(bound if bound < now else 0, stage, members)
                least = vector_of([*known, *zip(stage, digits, strict=True)], members)
                return Reached(
                    bound=min(least, vector),
                    terms=[],
                    searched=True,
                    reason=step.reason,
                )
        program.hold_at_most(goal, counted(vector, stage, members))
        known += [(value, sum(n >= value for n in vector)) for value in stage]
    return Reached(bound=vector, terms=[], searched=True)


def _vector(best: Incumbent, at: int) -> tuple[int, ...]:
    value = best.values[at]
    return value if isinstance(value, tuple) else (value,)


def _is_forced(case: Case, vector: tuple[int, ...]) -> bool:
    """Tell whether no vector of so many counts can be less, by counting alone."""
    if case.members.common != 1 or not vector:
        return False
    known: list[tuple[int, int]] = []
    for value in range(vector[0], 0, -1):
        count = sum(n >= value for n in vector)
        if count != least_reaching(known, value, sum(vector), len(vector)):
            return False
        known.append((value, count))
    return True


def _achieved(
    case: Case, level: WeightedObjective, value: Value, reached: Reached
) -> ObjectiveResult:
    proof: Proof | None = None
    if reached.searched:
        engine = engine_of(case.backend)
        told = [term for term in reached.terms if term.kind != ZERO.kind]
        proof = SearchProof(engine=engine)
        if told:
            proof = SearchProof(engine=engine, terms=told)
    elif reached.terms:
        proof = TermsProof(terms=_telling(reached.terms))
    return ObjectiveResult(
        of=level,
        value=value,
        bound=reached.bound,
        scale=scale_of(case.instance, level),
        proof=proof,
    )


def _telling(terms: list[BoundTerm]) -> list[BoundTerm]:
    """Return the terms that say more than nothing, or the one that says it."""
    return [term for term in terms if term.bound > 0] or terms[:1]


def engine_of(backend: Backend) -> str:
    """Return the name and version that a proof by search carries."""
    return cbc.version() if backend is Backend.CBC else highs.version()
