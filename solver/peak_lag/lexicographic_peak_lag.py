"""Lexicographic solve: peak lag, and stickiness, lag spread and deviation around it.

Each objective is minimized with the values of those before as limits, until one cannot
be proved; those after it keep their trivial bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rebalance import Assignment, CertificateProof, Instance, Int32, SearchProof
from solver.objectives import scale_of, value_of
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import LagInstance, is_searchable
from solver.peak_lag.minimize_peak import MinimizePeak
from solver.peak_lag.restore_owners import restore_owners
from solver.peak_lag.work import Work
from solver.policy import Objective, Policy, WeightedObjective
from solver.result import ObjectiveResult, Proof, Result, Status, zero_term


@dataclass(slots=True, kw_only=True)
class LexicographicPeakLag:
    """The objectives that are solved, and an assignment that solves them.

    Attributes
    ----------
    core : Result or None
        The stickiest dec-min assignment, where the balance is dec-min.
    holder : int32 (P,)
    within : dict of Objective to int
        Values reached so far.
    """

    instance: Instance
    lag_instance: LagInstance
    policy: Policy
    work: Work
    core: Result | None
    holder: Int32 = field(init=False)
    within: dict[Objective, int] = field(default_factory=dict)

    def solve(self) -> Result:
        """Minimize one objective after the other, until one cannot be proved."""
        stickiest: Int32 | None = None
        if self.core is not None:
            assignee = self.core.require_assignment().assignee
            stickiest = self.lag_instance.to_holder(assignee)
        starts_sticky = self.policy.objectives[0].only is Objective.STICKINESS
        if stickiest is not None and starts_sticky:
            self.holder = stickiest
        else:
            self.holder = construct_greedily(self.lag_instance)
        bounds: list[tuple[int, Proof]] = []
        is_proved = True
        for of in self.policy.objectives:
            objective = of.measures[0]
            if not is_proved:
                bounds.append(self._trivial_bound(objective))
            elif objective is Objective.PEAK_LAG:
                bounds.append(self._minimize_peak())
            else:
                if set(self.within) == {Objective.PEAK_LAG} and (
                    objective is Objective.STICKINESS
                ):
                    self._restore_owners(stickiest)
                bounds.append(self._search(of))
            if is_proved:
                self.within[objective] = self._value(of)
                is_proved = self._value(of) == bounds[-1][0]
        return self._result(bounds)

    def _minimize_peak(self) -> tuple[int, Proof]:
        known = bound_peak_lag(self.instance, self.lag_instance, self.work)
        found = MinimizePeak(
            lag_instance=self.lag_instance,
            holder=self.holder,
            bound=known.value,
            work=self.work,
            moves=self.within.get(Objective.STICKINESS),
        )
        found.run()
        self.holder = found.holder
        return found.bound, known.with_term(found.packing).proof(
            found.bound, found.engine
        )

    def _restore_owners(self, stickiest: Int32 | None) -> None:
        peak = self.within[Objective.PEAK_LAG]
        self.holder = restore_owners(
            self.lag_instance, self.holder, stickiest, peak, self.work
        )

    def _search(self, of: WeightedObjective) -> tuple[int, Proof]:
        """Minimize an objective by CP-SAT if the program is small; return its bound."""
        objective, value = of.measures[0], self._value(of)
        bound, proof = self._trivial_bound(objective)
        searchable = is_searchable(self.lag_instance)
        if value == bound or not searchable or self.work.exceeded() is not None:
            return bound, proof
        # Imported when needed: CP-SAT takes a second to load.
        from solver.peak_lag.peak_lag_program import ENGINE, improve  # noqa: PLC0415

        holder, raised = improve(
            self.lag_instance,
            self.holder,
            objective,
            value=value,
            bound=bound,
            within=self.within,
            work=self.work,
            effort=math.inf,
        )
        self.holder = self.holder if holder is None else holder
        return (
            (raised, SearchProof(engine=ENGINE)) if raised > bound else (bound, proof)
        )

    def _trivial_bound(self, objective: Objective) -> tuple[int, Proof]:
        """Return the bound of an objective that needs no work."""
        if objective is Objective.STICKINESS and self.core is not None:
            bound = self.core.objectives[0].bound
            assert isinstance(bound, int)  # noqa: S101
            return bound, CertificateProof()
        return 0, zero_term()

    def _value(self, of: WeightedObjective) -> int:
        value = value_of(self.instance, self._assignment(), of)
        assert isinstance(value, int)  # noqa: S101 - only ``load`` is a vector
        return value

    def _assignment(self) -> Assignment:
        assignee = self.lag_instance.to_assignee(self.instance, self.holder)
        return Assignment(assignee=assignee)

    def _result(self, bounds: list[tuple[int, Proof]]) -> Result:
        objectives = tuple(
            ObjectiveResult(
                of=of,
                value=self._value(of),
                bound=bound,
                scale=scale_of(self.instance, of),
                proof=proof,
            )
            for of, (bound, proof) in zip(self.policy.objectives, bounds, strict=True)
        )
        proved = all(one.is_proved for one in objectives)
        searchable = is_searchable(self.lag_instance)
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=self._assignment(),
            objectives=objectives,
            certificate=None if self.core is None else self.core.certificate,
            reason=None if proved else self.work.reason(is_searchable=searchable),
        )
