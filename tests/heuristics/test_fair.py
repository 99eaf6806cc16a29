"""KIP-54's alternatives: fair without stickiness, sticky without moves."""

from __future__ import annotations

import json

import numpy as np

import verify
from heuristics import ASSIGNORS
from rebalance import NOBODY, Assignment, Instance, document_of, to_json
from tests.heuristics.routes import faults, instance
from tests.support.shapes import Document, member, rebalance


def agrees(document: Document) -> None:
    laid_out = instance(document)
    fair = ASSIGNORS["fair"].assign(laid_out)
    fairest = ASSIGNORS["fairest-sticky"].assign(laid_out)
    for name, assignment in (("fair", fair), ("fairest-sticky", fairest)):
        held = document_of(laid_out, assignment, assignor=name).members
        assert faults(document, held) == []
    assert transfers(laid_out, fair, np.ones(laid_out.n_partitions, np.bool_)) == []
    owned = laid_out.owner != NOBODY
    assert (fairest.assignee[owned] == laid_out.owner[owned]).all()
    assert transfers(laid_out, fairest, ~owned) == []
    forgotten = {
        name: {key: about[key] for key in about if key not in ("owned", "generation")}
        for name, about in document["members"].items()
    }
    again = ASSIGNORS["fair"].assign(instance(document | {"members": forgotten}))
    assert fair.assignee.tolist() == again.assignee.tolist()


def transfers(
    laid_out: Instance, assignment: Assignment, movable: np.ndarray
) -> list[int]:
    """List partitions that a subscriber with two fewer could have."""
    held = assignment.assignee
    load = np.bincount(held[held != NOBODY], minlength=len(laid_out.members))
    wants = [set(laid_out.topics_of(m).tolist()) for m in range(len(laid_out.members))]
    return [
        p
        for p in np.flatnonzero(movable & (held != NOBODY)).tolist()
        for m, topics in enumerate(wants)
        if laid_out.partition_topic[p] in topics and load[m] < load[held[p]] - 1
    ]


def test_without_claims_fair_is_sticky() -> None:
    """Mixed subscriptions; equal ones go sticky's constrained path."""
    document = rebalance(
        {"s": {"partitions": 5}, "t": {"partitions": 4}},
        {"a": member(["s"]), "b": member(["s", "t"]), "c": member(["t"])},
    )
    laid_out = instance(document)
    fair, sticky = (
        assignor.assign(laid_out).assignee.tolist()
        for assignor in (ASSIGNORS["fair"], ASSIGNORS["sticky"])
    )
    assert fair == sticky


def test_a_late_member_receives_nothing_from_fairest_sticky() -> None:
    document = rebalance(
        {"t": {"partitions": 4}},
        {"a": member(["t"], {"t": [0, 1, 2, 3]}), "b": member(["t"])},
    )
    laid_out = instance(document)
    fairest = ASSIGNORS["fairest-sticky"].assign(laid_out)
    assert fairest.assignee.tolist() == [0, 0, 0, 0]
    answer = document_of(laid_out, fairest, assignor="fairest-sticky")
    verdict = verify.judge(document, json.loads(to_json(answer)))
    assert verdict["verdict"] == "valid"
    assert verdict["figures"]["moves"] == 0
    assert verdict["figures"]["dec_min_balanced"] is False
