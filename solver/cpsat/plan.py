"""An assignment as a program tells it: how many of each kind go to each member."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rebalance import Assignment
from rebalance.claims import NOBODY, Int64
from solver.cpsat.problem import Problem

Plan = list[dict[int, int]]
"""Of each kind: member to number of partitions, where there are any."""


def plan_of(problem: Problem, assignment: Assignment) -> Plan:
    """Count an assignment by kinds."""
    holder = _dense_holders(problem, assignment)
    plan: Plan = []
    for start, end in pairwise(problem.first.tolist()):
        found, counts = np.unique(holder[start:end], return_counts=True)
        plan.append(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    return plan


def assignment_of(problem: Problem, plan: Plan) -> Assignment:
    """Hand real partitions out: within a kind lower numbers to earlier members."""
    assignee = np.full(problem.instance.n_partitions, NOBODY, dtype=np.int32)
    for start, given in zip(problem.first.tolist(), plan, strict=False):
        at = start
        for member, count in sorted(given.items()):
            assignee[problem.rows[at : at + count]] = problem.members[member]
            at += count
    return Assignment(assignee=assignee)


def pool_counts(problem: Problem, assignment: Assignment) -> list[dict[int, int]]:
    """Count of each pool how many partitions each member holds."""
    holder = _dense_holders(problem, assignment)
    width = max(1, len(problem.members))
    pool = np.repeat(problem.columns[:, 0], np.diff(problem.first))
    keys, counts = np.unique(pool * width + holder, return_counts=True)
    found: list[dict[int, int]] = [{} for _ in problem.pools]
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        found[key // width][key % width] = count
    return found


def _dense_holders(problem: Problem, assignment: Assignment) -> Int64:
    """Return the member in play that holds each of ``problem.rows``."""
    number = np.full(len(problem.instance.members) + 1, NOBODY, dtype=np.int64)
    number[list(problem.members)] = np.arange(len(problem.members))
    return np.asarray(number[assignment.assignee[problem.rows]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a plan adds up to; hints for derived variables come from here.

    Attributes
    ----------
    loads, lags : list of int, one a member
    pool_loads, pool_lags : list of dict, one a pool
        Member to partitions, and to records, of the pool.
    kept : int
        Partitions that stay with their owner.
    """

    kept: int
    loads: list[int]
    lags: list[int]
    pool_loads: list[dict[int, int]]
    pool_lags: list[dict[int, int]]

    @classmethod
    def of(cls, problem: Problem, plan: Plan) -> Tally:
        """Add a plan up."""
        members, pools = len(problem.members), len(problem.pools)
        kinds = list(problem.kinds)
        tally = cls(
            kept=sum(g.get(k.owner, 0) for k, g in zip(kinds, plan, strict=True)),
            loads=[0] * members,
            lags=[0] * members,
            pool_loads=[{} for _ in range(pools)],
            pool_lags=[{} for _ in range(pools)],
        )
        for kind, given in zip(kinds, plan, strict=True):
            for member, count in given.items():
                lag = kind.lag * count
                tally.loads[member] += count
                tally.lags[member] += lag
                held = tally.pool_loads[kind.pool]
                held[member] = held.get(member, 0) + count
                behind = tally.pool_lags[kind.pool]
                behind[member] = behind.get(member, 0) + lag
        return tally
