"""Needless moves of franz-go, which a rule for conflicting claims explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

import verify
from conformance import SHAPES, corpus
from conformance.clients import client_assignor
from conformance.runs import (
    FAMILIES,
    FILE,
    Category,
    drive,
    external_client,
    proved_optimum,
)
from studies.findings.matrix import CONFLICTING
from tests.support.shapes import Document, member, rebalance

Held = dict[str, Any]
DRAWS = 300
SECONDS = 30.0


def as_honored(document: Document, held: Held) -> Document:
    """Drop, of several claims on a partition, those that an answer does not honor."""
    claimants: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name, entry in document["members"].items():
        for topic, numbers in (entry.get("owned") or {}).items():
            for number in numbers if topic in entry["subscription"] else ():
                claimants[topic, number].append(name)
    kept = deepcopy(document)
    for (topic, number), names in claimants.items():
        honored = [n for n in names if number in held.get(n, {}).get(topic, ())]
        for name in names if len(names) > 1 else ():
            if name not in honored[:1]:
                kept["members"][name]["owned"][topic].remove(number)
    return kept


def moves_above(document: Document, held: Held) -> int:
    """Return how many more moves an answer has than the optimum."""
    answer = {"format": "assignment/1", "members": held}
    moves: int = verify.judge(document, answer)["figures"]["moves"]
    return moves - int(proved_optimum(document)["figures"]["moves"])


def test_a_claim_that_is_not_honored_is_dropped() -> None:
    two = rebalance(
        {"t": 1}, {"a": member(["t"], {"t": [0]}, 2), "b": member(["t"], {"t": [0]}, 1)}
    )
    held = {"a": {}, "b": {"t": [0]}}
    assert moves_above(two, held) == 1
    kept = as_honored(two, held)
    assert kept["members"]["a"]["owned"] == {"t": []}
    assert moves_above(kept, held) == 0


def drawn() -> Iterator[Document]:
    """Yield the rebalances of the families that the page names."""
    for family in CONFLICTING:
        if family == FILE:  # the corpus, which follows
            continue
        for index in range(DRAWS):
            yield FAMILIES[family].first(1, index)
    for scenario in corpus():
        for step in scenario.steps:
            if len(step.rebalance["members"]) < 100:
                yield step.rebalance


@pytest.mark.heavy
def test_a_claim_rule_explains_the_needless_moves_of_franz_go() -> None:
    """Counted against the claims that the answers honor, none is needless."""
    client = external_client(client_assignor("franz-go@1.22.2/sticky"), seconds=SECONDS)
    subject = client.start_impatient(SECONDS)
    total = 0
    try:
        for document in drawn():
            outcome = drive(subject, document, cooperative=False)
            if outcome.category is not Category.NEEDLESS_MOVES:
                continue
            total += outcome.needless_moves or 0
            assert SHAPES["double-claims"](document)
            assert outcome.rounds[0].answer.assignment is not None
            held = outcome.rounds[0].answer.assignment.members
            assert moves_above(as_honored(document, held), held) == 0
    finally:
        subject.close()
    assert total > 100  # Go's maps: not the same in every run
