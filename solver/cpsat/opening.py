"""Before anything is minimized: where the balance lets partitions sit, and a start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.cpsat.balance import least_rank
from solver.cpsat.face import (
    Face,
    dec_min_face,
    kip54_face,
    open_face,
    per_topic_face,
)
from solver.cpsat.plan import Plan, pool_counts
from solver.cpsat.problem import Looks, Problem, problem_of
from solver.cpsat.search import Search
from solver.cpsat.start import starts, staying
from solver.objectives import values_of
from solver.policy import BalanceKind, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is known before the search.

    Attributes
    ----------
    face : Face or None
        None: a limit struck before it was known.
    start : Assignment or None
        The best of the cheap ones that are allowed.
    least_loads : tuple of int or None
        The dec-min vector of loads, if known: no assignment has a lesser one.
    """

    face: Face | None
    start: Assignment | None
    least_loads: tuple[int, ...] | None = None


def open_problem(
    instance: Instance, policy: Policy, search: Search, hint: Assignment | None
) -> Opening:
    """Find the face of the balance, and something to start from."""
    looks = Looks(topics=Looks.of(policy).topics, owners=True)
    problem = problem_of(instance, looks)
    found = list(starts(problem, policy.balance))
    face, least = _face(problem, policy, found, search)
    if face is None:
        return Opening(face=None, start=None)
    if policy.balance.kind is not BalanceKind.PER_TOPIC:
        found.append(staying(problem))
    if hint is not None:
        found.insert(0, hint)
    best: Assignment | None = None
    for one in found:
        if is_allowed(problem, policy, face, one) and (
            best is None
            or values_of(instance, one, policy) < values_of(instance, best, policy)
        ):
            best = one
    return Opening(face=face, start=best, least_loads=least)


def is_allowed(
    problem: Problem, policy: Policy, face: Face, assignment: Assignment
) -> bool:
    """Count whether an assignment meets face, balance and budget."""
    instance = problem.instance
    given = np.zeros(instance.n_partitions, dtype=np.bool_)
    given[problem.rows] = True
    if not np.array_equal(assignment.assignee != NOBODY, given):
        return False
    in_play = np.zeros(len(instance.members), dtype=np.bool_)
    in_play[list(problem.members)] = True
    if not in_play[assignment.assignee[given]].all():
        return False
    counts = pool_counts(problem, assignment)
    if not face.holds(counts):
        return False
    owned = instance.owner != NOBODY
    moves = int((owned & (instance.owner != assignment.assignee)).sum())
    if policy.max_moves is not None and moves > policy.max_moves:
        return False
    return _is_balanced(problem, policy, counts)


def _is_balanced(
    problem: Problem, policy: Policy, counts: list[dict[int, int]]
) -> bool:
    """Count KIP-54 balance, or the spread; other balances are their face."""
    loads = [0] * len(problem.members)
    for held in counts:
        for member, n in held.items():
            loads[member] += n
    if policy.balance.kind is BalanceKind.KIP54:
        return all(
            loads[holder] <= 1 + min(loads[m] for m in pool.subscribers)
            for pool, held in zip(problem.pools, counts, strict=True)
            for holder in held
        )
    if policy.balance.most is not None and loads:
        values = [u * n for u, n in zip(problem.units, loads, strict=True)]
        return max(values) - min(values) <= policy.balance.most * problem.common
    return True


def _face(
    problem: Problem, policy: Policy, found: list[Assignment], search: Search
) -> tuple[Face | None, tuple[int, ...] | None]:
    """Return the face of the balance, and the dec-min loads where they are known."""
    match policy.balance.kind:
        case BalanceKind.PER_TOPIC:
            return per_topic_face(problem), None
        case BalanceKind.DEC_MIN:
            for counts in _counts_of(problem, found, search):
                face = dec_min_face(problem, counts)
                if face is not None:
                    return face, _vector(problem, counts)
            return None, None
        case BalanceKind.KIP54:
            face = kip54_face(problem)
        case _:
            face = open_face(problem)
    for counts in (pool_counts(problem, one) for one in found):
        if dec_min_face(problem, counts) is not None:
            return face, _vector(problem, counts)
    return face, None


def _counts_of(
    problem: Problem, found: list[Assignment], search: Search
) -> Iterator[list[dict[int, int]]]:
    """Count the starts by pool; if none will do, ask the program for one that does."""
    for one in found:
        yield pool_counts(problem, one)
    bare = problem_of(problem.instance, Looks(topics=problem.looks.topics))
    plan = least_rank(bare, found, search)
    if plan is not None:
        yield _by_pool(bare, plan)


def _by_pool(problem: Problem, plan: Plan) -> list[dict[int, int]]:
    """Add a plan up by pools."""
    counts: list[dict[int, int]] = [{} for _ in problem.pools]
    for kind, given in zip(problem.kinds, plan, strict=True):
        for member, n in given.items():
            counts[kind.pool][member] = counts[kind.pool].get(member, 0) + n
    return counts


def _vector(problem: Problem, counts: list[dict[int, int]]) -> tuple[int, ...]:
    values = [0] * len(problem.members)
    for held in counts:
        for member, n in held.items():
            values[member] += n * problem.units[member]
    return tuple(sorted(values, reverse=True))
