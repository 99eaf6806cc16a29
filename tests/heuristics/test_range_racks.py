"""Range for members and replicas with racks (KIP-881), against the slow walk."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.heuristics.routes import assigned, faults, without_racks
from tests.references.range_racks import needs_racks, range_
from tests.support import last_drawn
from tests.support.shapes import Document
from tests.support.strategies import Limits, seeded_rebalance


def with_more_racks(document: Document, seed: int) -> Document:
    """Draw more racks, and more topics of equal size."""
    rng = Random(seed)  # noqa: S311
    names = ["", "a", "b", "c", "d"][rng.randrange(2) : rng.randint(3, 5)]
    fixed = rng.randint(1, 9)
    topics = {}
    for topic, about in document["topics"].items():
        count = fixed if rng.randrange(2) else about["partitions"]
        racks = [rng.sample(names, rng.randrange(1, len(names))) for _ in range(count)]
        topics[topic] = {"partitions": count, "racks": racks}
    members = {
        m: member | ({"rack": rng.choice(names)} if rng.randrange(5) else {})
        for m, member in document["members"].items()
    }
    changed: Document = document | {"topics": topics, "members": members}
    last_drawn.note(changed, seed)
    return changed


def drawn(count: int) -> Iterator[Document]:
    limits = Limits(members=6, topics=5, partitions=9)
    for seed in range(count):
        yield with_more_racks(seeded_rebalance(seed, limits), seed)


def test_on_rebalances_with_many_racks() -> None:
    n_moved = 0
    for document in drawn(250):
        held = assigned("range", document)
        assert held == range_(document)
        assert faults(document, held) == []
        n_moved += held != assigned("range", without_racks(document))
    assert n_moved > 75


def test_racks_matter_in_enough_drawn_instances() -> None:
    needing = sum(any(needs_racks(d, t) for t in d["topics"]) for d in drawn(250))
    assert needing > 150
