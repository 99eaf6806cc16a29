"""Answer rebalances under a policy, within limits, until done or interrupted."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event

from oracle.cli.interrupts import run_stoppable
from oracle.cli.limits import Allowed
from rebalance import AssignmentDocument, Instance
from solver import Engine, Policy, solve


@dataclass(frozen=True, slots=True, kw_only=True)
class Solving:
    """A policy, who answers it, and what each rebalance may cost."""

    policy: Policy
    engine: Engine
    allowed: Allowed
    stop: Event = field(default_factory=Event)

    def answer(self, instance: Instance) -> AssignmentDocument:
        """Answer one rebalance; Ctrl-C sets ``stop``, and the best found comes."""
        limits = self.allowed.begin(self.stop)

        def solve_one() -> AssignmentDocument:
            result = solve(instance, self.policy, limits=limits, engine=self.engine)
            return result.to_document(instance)

        return run_stoppable(solve_one, self.stop)
