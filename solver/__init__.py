"""The best assignment for a rebalance under a policy, with its proofs."""

from solver.engines import Engine, solve
from solver.kernels import (
    SAMPLES,
    compiled_kernels,
    kernels_are_compiled,
    load_kernels,
    requested_kernels,
)
from solver.limits import DEFAULT_EFFORT, Limits
from solver.objectives import common_capacity, values_of
from solver.policy import (
    NAMED,
    STICKY,
    Balance,
    BalanceKind,
    Objective,
    Policy,
    WeightedObjective,
    no_balance,
    parse_policy,
)
from solver.result import Certificate, MiscountError, ObjectiveResult, Result, Status

__all__ = [
    "DEFAULT_EFFORT",
    "NAMED",
    "SAMPLES",
    "STICKY",
    "Balance",
    "BalanceKind",
    "Certificate",
    "Engine",
    "Limits",
    "MiscountError",
    "Objective",
    "ObjectiveResult",
    "Policy",
    "Result",
    "Status",
    "WeightedObjective",
    "common_capacity",
    "compiled_kernels",
    "kernels_are_compiled",
    "load_kernels",
    "no_balance",
    "parse_policy",
    "requested_kernels",
    "solve",
    "values_of",
]
