"""Exact core: dec-min balance, then stickiness, in polynomial time, with a certificate.

`solve` needs only maximum flows and one min-cost flow with costs of -1, 0 and 1 on
(topic, member) pairs, for which `min_cost_flow` has its own kernels. Policies that also
count rack mismatches need general costs: `solver.flow_policies`.
"""

from solver.exact.certificate import (
    load_bounds_of,
    load_value,
    prove,
    shift_prices,
)
from solver.exact.checked_solve import solve_columns
from solver.exact.optimal_face import OptimalFace, optimal_face_of
from solver.exact.reduced_instance import (
    OUTSIDE,
    ReducedInstance,
    reduce_by_capacity,
    reduce_instance,
    subscribed_pairs,
    take_rows,
)
from solver.exact.solve_sticky import solve, solve_without_closed_form

__all__ = [
    "OUTSIDE",
    "OptimalFace",
    "ReducedInstance",
    "load_bounds_of",
    "load_value",
    "optimal_face_of",
    "prove",
    "reduce_by_capacity",
    "reduce_instance",
    "shift_prices",
    "solve",
    "solve_columns",
    "solve_without_closed_form",
    "subscribed_pairs",
    "take_rows",
]
