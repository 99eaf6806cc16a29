"""The kernel that solves and checks in one call, against the separate steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from rebalance import Assignment, Instance
from solver import Certificate, solve
from solver.exact import (
    prove,
    reduce_instance,
    solve_columns,
    solve_without_closed_form,
)
from tests.solver.routes import instance
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import SHAPES, Document, shape
from tests.support.strategies import LARGER, SMALL, TINY, rebalances, seeded_rebalance


def check_agrees(laid_out: Instance) -> None:
    """Assert that answer, certificate, and check are those of separate steps.

    Where one class is in play, the closed form breaks ties in its own way, and both
    prove as much.
    """
    laid_out = replace(laid_out, capacity=None)
    assignee, level, price, *check = solve_columns(
        laid_out.topic_offsets,
        laid_out.member_class,
        laid_out.class_offsets,
        laid_out.class_topics,
        laid_out.owner,
    )
    assignment = Assignment(assignee=assignee)
    assert tuple(check) == prove(
        laid_out, assignment, Certificate(level=level, price=price)
    )
    steps, answer = solve_without_closed_form(laid_out), solve(laid_out)
    assert answer.status is steps.status
    assert answer.objectives == steps.objectives
    certificate = steps.require_certificate()
    assert np.array_equal(level, certificate.level)
    if reduce_instance(laid_out).class_size.size > 1:
        assert np.array_equal(assignee, steps.require_assignment().assignee)
        assert np.array_equal(price, certificate.price)
    found = answer.require_certificate()
    assert np.array_equal(assignee, answer.require_assignment().assignee)
    assert np.array_equal(level, found.level)
    assert np.array_equal(price, found.price)


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes(name: str) -> None:
    check_agrees(instance(shape(name)))


def test_drawn_groups() -> None:
    for limits in (TINY, SMALL, LARGER):
        for seed in seeds(max(INSTANCES // 10, 200)):
            check_agrees(instance(seeded_rebalance(seed, limits)))


@given(rebalances(SMALL))
def test_equal_subscriptions(document: Document) -> None:
    for member in document["members"].values():
        member["subscription"] = sorted(document["topics"])
    check_agrees(instance(document))
