"""Small rebalances, all their assignments, and programs with one of them fixed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
from ortools.sat.python import cp_model

from rebalance import Assignment, Instance
from solver.cpsat.face import Face, open_face
from solver.cpsat.plan import plan_of
from solver.cpsat.problem import Looks, Problem, problem_of
from solver.cpsat.program import Program
from tests.shapes import Document, rebalance
from tests.solver.routes import instance
from tests.strategies import Limits as Size
from tests.strategies import draw_rebalance

EVERYTHING = Looks(topics=True, owners=True, lags=True, racks=True)
ASSIGNMENTS_MAX = 300


def drawn(seed: int, size: Size | None = None) -> Document:
    """Draw a rebalance with small lags in every topic and few assignments."""
    rng = Random(seed)  # noqa: S311
    while True:
        size = size or Size(members=3, topics=3, partitions=2)
        document = draw_rebalance(rng, size)
        for topic in document["topics"].values():
            topic["lag"] = [rng.randint(0, 9) for _ in range(topic["partitions"])]
        if 1 < len(list(assignments(instance(document)))) <= ASSIGNMENTS_MAX:
            return document


def assignments(laid_out: Instance) -> Iterator[Assignment]:
    """Go through all allowed assignments; none if there are too many."""
    takers: list[list[int]] = [[] for _ in laid_out.topics]
    for member in range(len(laid_out.members)):
        for topic in laid_out.topics_of(member).tolist():
            takers[topic].append(member)
    seats = [takers[topic] or [-1] for topic in laid_out.partition_topic.tolist()]
    if np.prod([float(len(one)) for one in seats]) > ASSIGNMENTS_MAX:
        return
    for chosen in product(*seats):
        yield Assignment(assignee=np.array(chosen, dtype=np.int32))


def problem_for(document: Document, looks: Looks = EVERYTHING) -> Problem:
    return problem_of(instance(document), looks)


def program_for(problem: Problem, face: Face | None = None) -> Program:
    return Program(problem, face or open_face(problem))


def lets_in(program: Program, assignment: Assignment) -> bool:
    """Tell whether a program holds with its choices fixed to an assignment."""
    model = program.model.clone()
    plan = plan_of(program.problem, assignment)
    for row, given in zip(program.x, plan, strict=True):
        if not given.keys() <= row.keys():
            return False
        for member, variable in row.items():
            fixed = model.get_int_var_from_proto_index(variable.index)
            model.add(fixed == given.get(member, 0))
    return cp_model.CpSolver().solve(model) == cp_model.OPTIMAL


def lagging(*lags: int, members: int = 2, **more: int) -> Document:
    """Return one topic with these lags, wanted by so many members."""
    people = {f"m{i}": {"subscription": ["t"], **more} for i in range(members)}
    return rebalance({"t": {"partitions": len(lags), "lag": list(lags)}}, people)
