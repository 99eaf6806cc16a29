"""Peak lag within a budget, and then the fewest moves: an engine for small groups.

CP-SAT goes first, and most of the time that is all. What it leaves open is settled by a
choice of hands where the group is small enough, else by CP-SAT for as long as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rebalance import Assignment, Instance
from rebalance.documents import SearchProof, TermsProof
from solver import cpsat
from solver.budget.choice import NAME, Choice
from solver.exact import solve as solve_core
from solver.limits import Limits
from solver.objectives import check_policy, values_of
from solver.peak_lag.evidence import Evidence, evidence_of, sharpened
from solver.peak_lag.setting import setting_of
from solver.peak_lag.work import Work
from solver.policy import BalanceKind, Objective, Policy
from solver.result import ObjectiveResult, Result, Status, Value, zero_term

_BALANCES: Final = {BalanceKind.NONE, BalanceKind.PER_TOPIC, BalanceKind.DEC_MIN}
_FIRST_EFFORT: Final = 1.0  # of CP-SAT, before hands are looked at


def can_answer(policy: Policy) -> bool:
    """Tell whether `solve` is made for a policy: peak lag, maybe moves, a budget."""
    goals = [level.only for level in policy.objectives]
    return (
        policy.max_moves is not None
        and policy.balance.kind in _BALANCES
        and goals in ([Objective.PEAK_LAG], [Objective.PEAK_LAG, Objective.STICKINESS])
    )


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Answer a policy that `can_answer` accepts.

    Raises
    ------
    InstanceError
        If the policy cannot be asked of this instance.
    """
    check_policy(instance, policy)
    effort = limits.effort
    first = _FIRST_EFFORT if effort is None else min(effort, _FIRST_EFFORT)
    outcome = cpsat.solve(instance, policy, limits=replace(limits, effort=first))
    if outcome.status is Status.INFEASIBLE or limits.exceeded():
        return outcome
    question = _Question(instance=instance, policy=policy, limits=limits)
    if outcome.status is Status.OPTIMAL:
        return question.by_terms(outcome)
    if outcome.assignment is not None:
        outcome = question.settled(outcome, outcome.assignment)
    if outcome.status is Status.OPTIMAL or limits.exceeded() or effort is not None:
        return outcome
    hint = outcome.assignment
    return cpsat.solve(instance, policy, limits=limits, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    instance: Instance
    policy: Policy
    limits: Limits

    def by_terms(self, known: Result) -> Result:
        """Let terms speak for a bound where they reach it, rather than a search."""
        peak, *others = known.objectives
        evidence = self._evidence(_number(peak.value))
        if evidence is None or evidence.bound < _number(peak.bound):
            return known
        peak = replace(peak, proof=TermsProof(terms=list(evidence.terms)))
        return replace(known, objectives=(peak, *others))

    def settled(self, known: Result, best: Assignment) -> Result:
        """Go on from what is known, by hands; the same again if that is too much."""
        peak = known.objectives[0]
        evidence = self._evidence(_number(peak.value))
        if evidence is None:
            return known
        budget = self.policy.max_moves or 0
        choice = Choice(self.instance, self.policy.balance, _number(peak.value))
        bound = max(_number(peak.bound), evidence.bound)
        value = _number(peak.value)
        work = Work(limits=self.limits)
        if choice.is_small:
            reached = choice.least(budget, bound, value, work)
            bound, value = reached.bound, reached.value
            if reached.assignee is not None:
                best = Assignment(assignee=reached.assignee)
        bounds = [bound]
        if len(self.policy.objectives) > 1:
            bounds.append(0)
            if bound == value and choice.is_small:
                best, bounds[1] = self._fewest(choice, best, value, work)
        return self._outcome(known, best, bounds, evidence, work)

    def _fewest(
        self, choice: Choice, best: Assignment, peak: int, work: Work
    ) -> tuple[Assignment, int]:
        """Lower the budget until the peak is out of reach; return the least moves."""
        while (moves := self._moves(best)) > 0 and work.exceeded() is None:
            held, is_settled = choice.within(moves - 1, peak, work)
            if held is None:
                return best, moves if is_settled else 0
            best = Assignment(assignee=choice.column(held))
        return best, 0

    def _moves(self, assignment: Assignment) -> int:
        return _number(values_of(self.instance, assignment, self.policy)[1])

    def _evidence(self, reached: int) -> Evidence | None:
        setting = setting_of(self.instance, self.policy.balance)
        if setting is None:
            return None
        work = Work(limits=self.limits)
        known = evidence_of(self.instance, setting, work)
        return sharpened(known, self.instance, setting, work, reached)

    def _outcome(
        self,
        known: Result,
        best: Assignment,
        bounds: list[int],
        evidence: Evidence,
        work: Work,
    ) -> Result:
        values = values_of(self.instance, best, self.policy)
        proofs = [evidence.proof(bounds[0], _engine(known.objectives[0], bounds[0]))]
        proofs += [
            SearchProof(engine=NAME) if bound else zero_term() for bound in bounds[1:]
        ]
        objectives = tuple(
            ObjectiveResult(
                of=of, value=value, bound=bound, scale=one.scale, proof=proof
            )
            for of, value, bound, one, proof in zip(
                self.policy.objectives,
                values,
                bounds,
                known.objectives,
                proofs,
                strict=True,
            )
        )
        proved = all(one.is_proved for one in objectives)
        certificate = None
        if self.policy.balance.kind is BalanceKind.DEC_MIN:
            certificate = solve_core(self.instance).certificate
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=best,
            objectives=objectives,
            certificate=certificate,
            reason=None if proved else work.reason(fits=False),
        )


def _engine(known: ObjectiveResult, bound: int) -> str:
    """Name who proved a bound: the search before, unless the bound is higher now."""
    if known.bound == bound and isinstance(known.proof, SearchProof):
        return known.proof.engine
    return NAME


def _number(value: Value) -> int:
    if isinstance(value, tuple):  # no level here is a vector
        raise TypeError(value)
    return value
