"""Exact core: dec-min balance, then stickiness, with a certificate."""

from solver.exact.certificate import (
    CertificateCheck,
    LoadBounds,
    load_bounds_of,
    load_value,
    prove,
)
from solver.exact.optimal_face import Face, face, face_of
from solver.exact.reduced_instance import (
    OUTSIDE,
    ReducedInstance,
    reduce_by_capacity,
    reduce_instance,
)
from solver.exact.solve import solve, solve_by_flow

__all__ = [
    "OUTSIDE",
    "CertificateCheck",
    "Face",
    "LoadBounds",
    "ReducedInstance",
    "face",
    "face_of",
    "load_bounds_of",
    "load_value",
    "prove",
    "reduce_by_capacity",
    "reduce_instance",
    "solve",
    "solve_by_flow",
]
