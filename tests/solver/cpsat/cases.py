"""Small rebalances, all their assignments, and programs with one of them fixed.

Tests of the constraints reach into the package: each compares one constraint with an
enumeration of all assignments.

Reaches into `solver.cpsat` to compare programs with every assignment.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
from ortools.sat.python import cp_model

from rebalance import Assignment, Instance
from solver.cpsat.balance_region import CpRegion, open_region
from solver.cpsat.cp_instance import (
    CpInstance,
    CpTotals,
    Distinctions,
    cp_instance_of,
)
from solver.cpsat.variables import CpProgram
from tests.solver.routes import instance
from tests.support.shapes import Document, rebalance
from tests.support.strategies import Limits as Size
from tests.support.strategies import draw_rebalance

EVERYTHING = Distinctions(topics=True, owners=True, lags=True, racks=True)
ASSIGNMENTS_MAX = 300


def drawn(seed: int, size: Size | None = None) -> Document:
    """Draw a rebalance with small lags in every topic and few assignments."""
    rng = Random(seed)  # noqa: S311
    while True:
        size = size or Size(members=3, topics=3, partitions=2)
        document = draw_rebalance(rng, size, seed=seed)
        for topic in document["topics"].values():
            topic["lag"] = [rng.randint(0, 9) for _ in range(topic["partitions"])]
        if 1 < len(list(assignments(instance(document)))) <= ASSIGNMENTS_MAX:
            return document


def assignments(laid_out: Instance) -> Iterator[Assignment]:
    """Yield all valid assignments; none if there are too many."""
    subscribers: list[list[int]] = [[] for _ in laid_out.topics]
    for member in range(len(laid_out.members)):
        for topic in laid_out.topics_of(member).tolist():
            subscribers[topic].append(member)
    eligible = [subscribers[t] or [-1] for t in laid_out.partition_topic.tolist()]
    if np.prod([float(len(members)) for members in eligible]) > ASSIGNMENTS_MAX:
        return
    for chosen in product(*eligible):
        yield Assignment(assignee=np.array(chosen, dtype=np.int32))


def cp_instance(
    document: Document, distinctions: Distinctions = EVERYTHING
) -> CpInstance:
    return cp_instance_of(instance(document), distinctions)


def totals_of(cp: CpInstance, assignment: Assignment) -> CpTotals:
    return CpTotals.of(cp, cp.class_counts(assignment))


def program_for(cp: CpInstance, region: CpRegion | None = None) -> CpProgram:
    return CpProgram(cp, region or open_region(cp))


def allows(program: CpProgram, assignment: Assignment) -> bool:
    """Return whether a program is feasible with its choices fixed to an assignment."""
    model = program.model.clone()
    counts = program.cp.class_counts(assignment)
    for row, given in zip(program.x, counts, strict=True):
        if not given.keys() <= row.keys():
            return False
        for member, variable in row.items():
            fixed = model.get_int_var_from_proto_index(variable.index)
            model.add(fixed == given.get(member, 0))
    return cp_model.CpSolver().solve(model) == cp_model.OPTIMAL


def lagging(*lags: int, members: int = 2, **more: int) -> Document:
    """Return one topic with these lags, to which all members subscribe."""
    people = {f"m{i}": {"subscription": ["t"], **more} for i in range(members)}
    return rebalance({"t": {"partitions": len(lags), "lag": list(lags)}}, people)
