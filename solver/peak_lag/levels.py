"""Level after level of a lag policy: what each reached, and what it cannot beat."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import Int32
from rebalance.documents import CertificateProof, SearchProof
from solver.objectives import scale_of, value_of
from solver.peak_lag.asking import ask
from solver.peak_lag.deal import deal
from solver.peak_lag.evidence import evidence_of, sharpened
from solver.peak_lag.hands import peak_with
from solver.peak_lag.lower import lower
from solver.peak_lag.question import ENGINE, Goal, Question, fits
from solver.peak_lag.regain import regained
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work
from solver.policy import Policy
from solver.result import ObjectiveResult, Proof, Result, Status, zero_term


@dataclass(slots=True, kw_only=True)
class Ladder:
    """The levels that are settled, and an assignment that settles them.

    Attributes
    ----------
    core : Answer or None
        The stickiest dec-min assignment, where moves count and it is of use.
    """

    instance: Instance
    setting: Setting
    policy: Policy
    work: Work
    core: Result | None
    holder: Int32 = field(init=False)
    within: dict[Goal, int] = field(default_factory=dict)
    bounds: list[tuple[int, Proof | None]] = field(default_factory=list)

    def climb(self) -> Result:
        """Settle level after level, until one cannot be."""
        goals = [Goal(level.measures[0].value) for level in self.policy.objectives]
        self.holder = self._start(goals)
        is_proved = True
        for goal in goals:
            if not is_proved:
                self.bounds.append(self._trivial(goal))
                continue
            bound, proof = self._settle(goal)
            self.bounds.append((bound, proof))
            value = self._value(goal)
            self.within[goal] = value
            is_proved = value == bound
        return self._outcome()

    def _start(self, goals: list[Goal]) -> Int32:
        if goals[0] is Goal.MOVES and self.core is not None:
            return self.setting.holders(self.core.require_assignment().assignee)
        return deal(self.setting)

    def _settle(self, goal: Goal) -> tuple[int, Proof | None]:
        if goal is Goal.PEAK:
            return self._settle_peak()
        bound, proof = self._trivial(goal)
        if goal is Goal.MOVES:
            self._regain()
        value = self._value(goal)
        if value == bound or not fits(self.setting) or self.work.exceeded() is not None:
            return bound, proof
        question = Question(goal=goal, beat=value, bound=bound, within=self.within)
        found = ask(self.setting, self.holder, question, self.work, np.inf)
        if found.holder is not None:
            self.holder = found.holder
        if found.bound <= bound:
            return bound, proof
        return found.bound, SearchProof(engine=ENGINE)

    def _settle_peak(self) -> tuple[int, Proof | None]:
        known = evidence_of(self.instance, self.setting, self.work)
        reached = self._peak()
        if reached > known.bound and self.work.exceeded() is None:
            known = sharpened(known, self.instance, self.setting, self.work, reached)
        moves = self.within.get(Goal.MOVES)
        found = lower(self.setting, self.holder, known.bound, self.work, moves=moves)
        self.holder = found.holder
        known = known.joined(found.packing)
        return found.bound, known.proof(found.bound, found.engine)

    def _peak(self) -> int:
        return int(peak_with(self.setting.room, self.holder))

    def _regain(self) -> None:
        """Give back to owners what the peak allows; the flow core's answer may help."""
        if set(self.within) == {Goal.PEAK}:  # it knows of no other level before
            peak = self.within[Goal.PEAK]
            self.holder = regained(
                self.setting, self.holder, self.core, peak, self.work
            )

    def _trivial(self, goal: Goal) -> tuple[int, Proof | None]:
        """Return what holds of a level before anything is done for it."""
        if goal is Goal.MOVES and self.core is not None:
            bound = self.core.objectives[0].bound
            assert isinstance(bound, int)  # noqa: S101
            return bound, CertificateProof()
        return 0, zero_term()

    def _value(self, goal: Goal) -> int:
        level = next(
            one for one in self.policy.objectives if one.measures[0].value == goal.value
        )
        value = value_of(self.instance, self._assignment(), level)
        if isinstance(value, tuple):  # no goal here is a vector
            raise TypeError(goal)
        return value

    def _assignment(self) -> Assignment:
        return Assignment(assignee=self.setting.column(self.instance, self.holder))

    def _outcome(self) -> Result:
        assignment = self._assignment()
        objectives = tuple(
            ObjectiveResult(
                of=level,
                value=value_of(self.instance, assignment, level),
                bound=bound,
                scale=scale_of(self.instance, level),
                proof=proof,
            )
            for level, (bound, proof) in zip(
                self.policy.objectives, self.bounds, strict=True
            )
        )
        proved = all(one.is_proved for one in objectives)
        reason = None
        if not proved:
            reason = self.work.reason(fits=fits(self.setting))
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=assignment,
            objectives=objectives,
            certificate=None if self.core is None else self.core.certificate,
            reason=reason,
        )
