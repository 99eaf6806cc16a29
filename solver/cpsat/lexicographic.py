"""Lexicographic optimization: minimize the objectives in order and fix each one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rebalance import (
    Assignment,
    BoundTerm,
    CertificateProof,
    SearchProof,
    TermsProof,
)
from solver.cpsat.cp_instance import CpInstance
from solver.cpsat.load_vector import LoadVectorSolve
from solver.cpsat.objective_expressions import objective_expression
from solver.cpsat.run_solver import ENGINE, CpRuns
from solver.cpsat.variables import CpProgram, Linear
from solver.objectives import scale_of, value_of
from solver.policy import Objective, Policy, WeightedObjective
from solver.result import (
    KnownBound,
    MiscountError,
    ObjectiveResult,
    Proof,
    Result,
    Status,
    Value,
    certificate_of,
    zero_term,
)

SHARE: Final = 0.8
"""Part of the remaining time that an objective can take while others wait."""


@dataclass(slots=True, kw_only=True)
class LexicographicSolve:
    """The best assignment so far, and the bound of each objective.

    Attributes
    ----------
    best : Assignment or None
        Always allowed.
    least_loads : tuple of int or None
        The dec-min load vector, if known.
    given : mapping of Objective to KnownBound
        From the caller.
    bounds : dict of int to Value
        Proved bounds, by number of the objective.
    """

    cp: CpInstance
    policy: Policy
    runs: CpRuns
    best: Assignment | None
    least_loads: tuple[int, ...] | None
    given: Mapping[Objective, KnownBound]
    bounds: dict[int, Value] = field(default_factory=dict)

    def is_optimal(self) -> bool:
        """Return whether the assignment is known to be optimal without any run."""
        objectives = range(len(self.policy.objectives))
        return self.best is not None and all(map(self._is_least, objectives))

    def run(self, program: CpProgram) -> None:
        """Minimize the objectives in order, starting from the best assignment.

        Raises
        ------
        LimitExceededError
            If a limit is exceeded before the last one is minimized.
        """
        for number in range(len(self.policy.objectives)):
            self.runs.check()
            if not self._minimize(program, number):
                return

    def result(self, *, reason: str | None) -> Result:
        """Return the assignment with its proofs; ``reason``: why not all of it.

        Raises
        ------
        MiscountError
            If a bound is above its value: one of them is wrong.
        """
        if self.best is None:
            return Result(policy=self.policy, status=Status.UNKNOWN, reason=reason)
        numbers = range(len(self.policy.objectives))
        objectives = tuple(map(self._objective_result, numbers))
        proved = all(objective.is_proved for objective in objectives)
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=self.best,
            objectives=objectives,
            certificate=certificate_of(self.given.values()),
            reason=None if proved else reason,
        )

    def _assignment(self) -> Assignment:
        if self.best is None:
            raise LookupError("no assignment yet")
        return self.best

    def _value(self, number: int) -> Value:
        objective = self.policy.objectives[number]
        return value_of(self.cp.instance, self._assignment(), objective)

    def _integer_value(self, number: int) -> int:
        value = self._value(number)
        if isinstance(value, tuple):
            raise TypeError(f"{self.policy.objectives[number]} is a vector")
        return value

    def _is_least(self, number: int) -> bool:
        value = self._value(number)
        if isinstance(value, tuple):
            return value == self.least_loads or not any(value)
        return value == self._known(number).value

    def _known(self, number: int) -> KnownBound:
        """Return the bound that needs no run; of equal ones, the caller's."""
        objective = self.policy.objectives[number]
        bound = trivial_bound(self.cp, objective)
        given = self._given(objective)
        return bound if given is None or given.value < bound.value else given

    def _given(self, objective: WeightedObjective) -> KnownBound | None:
        return None if objective.only is None else self.given.get(objective.only)

    def _minimize(self, program: CpProgram, number: int) -> bool:
        """Minimize and fix an objective; return whether it could be fixed."""
        objective = self.policy.objectives[number]
        is_last = number + 1 == len(self.policy.objectives)
        is_least = self._is_least(number)
        if is_least:
            self.bounds[number] = self._value(number)
            if is_last:
                return True
        if objective.only is Objective.LOAD:
            return self._minimize_load(program, number, is_least=is_least)
        expression = objective_expression(program, objective)
        if (given := self._given(objective)) is not None:
            program.model.add(expression >= given.value)
        if not is_least:
            share = 1.0 if is_last else SHARE
            self._minimize_expression(program, expression, number, share)
        program.model.add(expression <= self._integer_value(number))
        return True

    def _minimize_expression(
        self, program: CpProgram, expression: Linear, number: int, share: float
    ) -> None:
        """Keep the solution unless it is worse; previous objectives are fixed."""
        objective = self.policy.objectives[number]
        before, best = self._integer_value(number), self.best
        program.hint(self.cp.class_counts(self._assignment()))
        found = self.runs.minimize(program, expression, share=share)
        if found.status is Status.INFEASIBLE:
            raise MiscountError(f"{objective}: no solution, yet there is one")
        self.bounds[number] = found.bound
        if found.counts is not None:
            self.best = self.cp.assignment(found.counts)
            if self._integer_value(number) > before:
                self.best = best
        value = self._integer_value(number)
        if found.status is Status.OPTIMAL and found.value != value:
            raise MiscountError(f"{objective}: {found.value}, counted {value}")

    def _minimize_load(
        self, program: CpProgram, number: int, *, is_least: bool
    ) -> bool:
        vector = LoadVectorSolve(
            program=program,
            runs=self.runs,
            counts=self.cp.class_counts(self._assignment()),
            proved=is_least,
        )
        settled = vector.run()
        self.best = self.cp.assignment(vector.counts)
        open_values = len(self.cp.members) - len(settled)
        bound = settled + (0,) * open_values
        self.bounds[number] = max(bound, self.least_loads or ())
        # Fixed only if least: no linear constraint says "no worse than this vector".
        return not open_values

    def _objective_result(self, number: int) -> ObjectiveResult:
        objective, value = self.policy.objectives[number], self._value(number)
        bound, proof = self._proved_bound(number, value)
        if _words(bound) > _words(value):
            raise MiscountError(f"{objective}: proved {bound}, counted {value}")
        return ObjectiveResult(
            of=objective,
            value=value,
            bound=bound,
            scale=scale_of(self.cp.instance, objective),
            proof=proof,
        )

    def _proved_bound(self, number: int, value: Value) -> tuple[Value, Proof | None]:
        """Return the best bound; terms, which anyone can check, before a search."""
        bound = self.bounds.get(number)
        if not isinstance(value, tuple):
            known = self._known(number)
            if not isinstance(bound, int) or known.value >= min(bound, value):
                return known.value, known.proof
            if isinstance(known.proof, CertificateProof):
                return bound, SearchProof(engine=ENGINE)
            known_terms = known.proof.terms or []
            terms = [term for term in known_terms if term.kind != "zero"]
            # model_construct: absent terms are None here, and left out when written.
            return bound, SearchProof.model_construct(
                engine=ENGINE, terms=terms or None
            )
        if not any(value):
            return value, zero_term()
        bound = self.least_loads if bound is None else bound
        if bound is None:
            return (0,) * len(value), None
        return bound, SearchProof(engine=ENGINE)


def trivial_bound(cp: CpInstance, objective: WeightedObjective) -> KnownBound:
    """Return 0, or for peak lag the average: total lag / total capacity, rounded up."""
    kind, value = "zero", 0
    if objective.only is Objective.PEAK_LAG and cp.members:
        kind, value = "average", -(-cp.common * cp.total_lag // sum(cp.capacity))
    terms = [BoundTerm(kind=kind, bound=value)]
    return KnownBound(value=value, proof=TermsProof(terms=terms))


def _words(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
