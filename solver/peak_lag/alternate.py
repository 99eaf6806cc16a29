"""Alternate CP-SAT, which solves the whole policy, and local search for peak lag.

CP-SAT proves most small instances at once; on others, the improvements by local search
in between make it much quicker. Each run has twice the effort of the one before. Where
the peak meets its bound, nothing is left for local search: one run has all the effort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from typing import Final

from rebalance import Assignment, Instance, InstanceError, Int32
from solver.objectives import scale_of, value_of
from solver.peak_lag.bounds import PeakLagBound
from solver.peak_lag.minimize_peak import MinimizePeak
from solver.peak_lag.restore_owners import restore_owners
from solver.peak_lag.work import Work
from solver.policy import Objective, Policy
from solver.result import (
    KnownBound,
    ObjectiveResult,
    Proof,
    Result,
    Status,
    certificate_of,
    zero_term,
)

FIRST_SEARCH: Final = 0.25
"""Effort of the first run of CP-SAT, in addition to that of building its program."""

Bounds = Mapping[Objective, KnownBound]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySearch:
    """Solve a policy with CP-SAT, from an assignment and known bounds."""

    instance: Instance
    policy: Policy
    work: Work

    def stated(self, best: Assignment, bounds: Bounds, reason: str) -> Result:
        """Return an assignment with the proofs that follow from known bounds."""
        trivial = KnownBound(value=0, proof=zero_term())
        objectives = []
        for of in self.policy.objectives:
            known = bounds.get(of.measures[0], trivial)
            objective = ObjectiveResult(
                of=of,
                value=value_of(self.instance, best, of),
                bound=known.value,
                scale=scale_of(self.instance, of),
                proof=known.proof,
            )
            objectives.append(objective)
        proved = all(objective.is_proved for objective in objectives)
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=best,
            objectives=tuple(objectives),
            certificate=certificate_of(bounds.values()),
            reason=None if proved else reason,
        )

    def searched(
        self, best: Assignment, bounds: Bounds, effort: float = inf
    ) -> Result | None:
        """Let CP-SAT go on for some effort; None if it cannot add up the sums."""
        from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

        try:
            return cpsat.solve(
                self.instance,
                self.policy,
                limits=self.work.limits_within(effort),
                hint=best,
                known_bounds=bounds,
                spent=self.work.spent,
            )
        except InstanceError:
            return None

    def settled(
        self, best: Assignment, bounds: Bounds, *, is_searchable: bool
    ) -> Result:
        """Return the proofs, or let CP-SAT search for the rest if that is small."""
        reason = self.work.reason(is_searchable=is_searchable)
        result = self.stated(best, bounds, reason)
        is_over = result.status is Status.OPTIMAL or self.work.exceeded() is not None
        if is_over or not is_searchable:
            return result
        return self.searched(best, bounds) or result


@dataclass(slots=True, kw_only=True)
class Alternate:
    """Minimize peak lag and the policy's other objectives.

    Attributes
    ----------
    known : PeakLagBound
        The terms of the lower bound.
    stickiest : int32 (P,) or None
        Holders with the fewest moves, if known.
    is_stickiness_next : bool
        Whether stickiness follows peak lag.
    by_swaps : bool
        Whether swaps bring the stickiest assignment under a peak first.
    bounds : dict of Objective to KnownBound
        At first without that of peak lag.
    """

    search: PolicySearch
    known: PeakLagBound
    minimize: MinimizePeak
    stickiest: Int32 | None
    is_stickiness_next: bool
    by_swaps: bool
    bounds: dict[Objective, KnownBound]

    def run(self) -> Result:
        """Return the best assignment, proved or when a limit is met."""
        minimize = self.minimize
        minimize.start()
        self._take_proved_bound()
        is_open = minimize.moves is None and minimize.peak > minimize.bound
        if minimize.is_searchable and is_open:
            result = self._alternate()
            if result is not None:
                return result
            minimize.is_searchable = False
        if not minimize.is_searchable:
            minimize.enumerate_small()
            minimize.search_rounds()
            self._take_proved_bound()
        return self.search.settled(
            self._assignment(), self.bounds, is_searchable=minimize.is_searchable
        )

    def _alternate(self) -> Result | None:
        """Alternate until a proof or a limit; None if CP-SAT rejects the sums."""
        from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

        minimize, work = self.minimize, self.minimize.work
        building = cpsat.building_effort(self.search.instance, self.search.policy)
        best = self._assignment()
        result = self._stated(best)
        for turn in count():
            if result.status is Status.OPTIMAL:
                return result
            if work.exceeded() is not None:
                return replace(result, reason=work.reason(is_searchable=True))
            effort = building + FIRST_SEARCH * 2**turn
            found = self.search.searched(best, self.bounds, effort)
            if found is None or found.status is Status.OPTIMAL:
                return found
            work.spent += effort
            result, best = found, found.require_assignment()
            self._learn(found)
            before = minimize.peak, minimize.bound
            if turn == 0:
                minimize.enumerate_small()
                self._take_proved_bound()
            minimize.search_round(turn)
            if minimize.peak < before[0]:
                best = self._assignment()
            if (minimize.peak, minimize.bound) != before:
                result = self._stated(best)
        raise AssertionError("count() does not end")

    def _stated(self, best: Assignment) -> Result:
        reason = self.minimize.work.reason(is_searchable=True)
        return self.search.stated(best, self.bounds, reason)

    def _learn(self, result: Result) -> None:
        """Take the assignment and the bound on peak lag, the first objective."""
        peak, assignment = result.objectives[0], result.require_assignment()
        assert isinstance(peak.bound, int)  # noqa: S101 - only ``load`` is a vector
        self._take_bound(peak.bound, peak.proof)
        self.minimize.keep(self.minimize.lag_instance.to_holder(assignment.assignee))

    def _take_proved_bound(self) -> None:
        known, bound = self.known.with_term(self.minimize.packing), self.minimize.bound
        self._take_bound(bound, known.proof(bound))

    def _take_bound(self, bound: int, proof: Proof | None) -> None:
        """Take a bound on peak lag if it is larger than the one known."""
        known = self.bounds.get(Objective.PEAK_LAG)
        if proof is not None and (known is None or known.value < bound):
            self.bounds[Objective.PEAK_LAG] = KnownBound(value=bound, proof=proof)
            self.minimize.bound = bound

    def _assignment(self) -> Assignment:
        """Return the best peak, with as few moves as are quickly found."""
        lag_instance, holder = self.minimize.lag_instance, self.minimize.holder
        if self.is_stickiness_next:
            peak, work = self.minimize.peak, self.minimize.work
            holder = restore_owners(
                lag_instance,
                holder,
                self.stickiest,
                peak,
                work,
                by_swaps=self.by_swaps,
            )
        assignee = lag_instance.to_assignee(self.search.instance, holder)
        return Assignment(assignee=assignee)
