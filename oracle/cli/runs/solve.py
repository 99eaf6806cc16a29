"""Solve under a policy, within limits, until done or interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from threading import Event
from typing import Final

from oracle.cli.input.given_group import given_input
from oracle.cli.options.limit_options import Allowed
from oracle.cli.options.solve import SolveOptions
from oracle.cli.printing.terminal import complain
from oracle.cli.runs.answer_documents import AnswerDocument, answer_all
from oracle.cli.runs.interrupts import run_stoppable
from rebalance import Instance, kernels_are_interpreted
from solver import (
    Engine,
    Policy,
    Result,
    kernels_are_compiled,
    load_kernels,
    parse_policy,
    solve,
)

NOT_COMPILED: Final = (
    "compiling kernels, once per installation, which takes minutes; in a checkout, "
    "make setup does so too"
)


def solve_all(options: SolveOptions) -> None:
    """Run ``solve``; as `oracle.cli.runs.answer_documents.answer_all`."""
    solving = Solving(
        policy=parse_policy(options.policy),
        engine=Engine(options.engine),
        allowed=options.allowed,
    )
    answer_all(
        given_input(options.file, options.choice, options.max_partitions),
        solving.answer,
        options,
        stop=solving.stop,
        progress=f"solving ({options.policy})",
        warn=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Solving:
    """A policy, an engine, and the limits per rebalance."""

    policy: Policy
    engine: Engine
    allowed: Allowed
    stop: Event = field(default_factory=Event)

    def answer(self, instance: Instance) -> AnswerDocument:
        """Solve one rebalance; Ctrl-C sets ``stop`` and returns the best found."""
        self._load_kernels()
        limits = self.allowed.begin(self.stop)

        def solve_one() -> AnswerDocument:
            result = solve(instance, self.policy, limits=limits, engine=self.engine)
            return AnswerDocument(
                assignment=result.written_assignment(instance),
                about=result.about(instance),
            )

        return run_stoppable(solve_one, self.stop)

    def _load_kernels(self) -> None:
        """Load compiled kernels before the clock starts; report missing ones."""
        report_missing_kernels()
        if self.allowed.time_limit is not None:
            load_kernels(self.policy)


def solver_within(
    allowed: Allowed, stop: Event
) -> Callable[[Instance, Policy], Result]:
    """Return a function that solves within the limits; Ctrl-C sets ``stop``."""

    def solve_one(instance: Instance, policy: Policy) -> Result:
        limits = allowed.begin(stop)
        return run_stoppable(lambda: solve(instance, policy, limits=limits), stop)

    return solve_one


@cache
def report_missing_kernels() -> None:
    """Look for compiled kernels once per process, not once per rebalance."""
    if not kernels_are_interpreted() and not kernels_are_compiled():
        complain(NOT_COMPILED)
