"""The face of all dec-min assignments: exactly those are on it."""

from __future__ import annotations

import numpy as np

import verify
from rebalance import Instance, Int32
from solver import solve
from solver.exact import OptimalFace, optimal_face_of
from tests.references import naive_judge as naive
from tests.solver.flow_policies.routes import drawn
from tests.solver.routes import instance
from tests.support.shapes import Document, member, rebalance
from verify import TooLarge


def face_of(laid_out: Instance) -> OptimalFace:
    """Return the face of the dec-min assignments of an instance."""
    return optimal_face_of(laid_out, solve(laid_out).require_certificate())


def is_on(found: OptimalFace, laid_out: Instance, assignee: Int32) -> bool:
    """Return whether a complete valid assignment is in a face."""
    given = assignee >= 0
    place = found.place[assignee[given]]
    loads = np.bincount(assignee[given], minlength=len(laid_out.members))
    beyond = np.zeros(found.extra.size, np.int64)
    inside = found.place >= 0
    np.add.at(beyond, found.place[inside], (loads - found.low)[inside])
    seated = place == found.floor[laid_out.partition_topic[given]]
    within = (found.low <= loads) & (loads <= found.high)
    return bool(seated.all() and within.all() and (beyond == found.extra).all())


def column(laid_out: Instance, answer: Document) -> Int32:
    assignee = np.full(laid_out.n_partitions, -1, np.int32)
    for name, held in answer["members"].items():
        for topic, numbers in held.items():
            start = laid_out.topic_offsets[laid_out.topics.index(topic)]
            assignee[start + np.array(numbers)] = laid_out.members.index(name)
    return assignee


def test_exactly_the_dec_min_assignments_are_on_it() -> None:
    met = {True: 0, False: 0}
    for seed in range(120):
        document = drawn(seed)
        laid_out = instance(document)
        found, best = face_of(laid_out), verify.best(document, lag=False)
        try:
            every = list(verify.every_assignment(document))[:300]
        except TooLarge:
            continue
        for answer in every:
            least = naive.is_dec_min(document, answer, best)
            assert is_on(found, laid_out, column(laid_out, answer)) == least, seed
            met[least] += 1
    assert min(met.values()) > 300


def test_members_and_topics_without_each_other_are_outside() -> None:
    document = rebalance(
        {"t": 3, "empty": 0, "alone": 1},
        {"a": member(["t", "empty"]), "b": member(["empty"]), "c": member(["t"])},
    )
    found = face_of(instance(document))
    assert found.place.tolist() == [0, -1, 0]
    assert found.floor.tolist() == [-1, -1, 0]  # alone, empty, t
    assert (found.low.tolist(), found.high.tolist()) == ([1, 0, 1], [2, 0, 2])
    assert found.extra.tolist() == [1]


def test_nothing_at_all() -> None:
    found = face_of(instance(rebalance({}, {})))
    assert [column.size for column in found] == [0] * 5
