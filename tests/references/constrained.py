"""Constrained sticky as proposed and as first released: slow, on documents.

``kip_615`` follows the KIP's pseudocode; the KIP was rejected, because the algorithm
was added to the existing assignors. ``kafka_9987`` is the release in Kafka 2.6. Neither
defines the order of claims: here, it is by topic and number. Both use only claims of
the newest generation.
"""

from __future__ import annotations

from itertools import chain

from tests.references.heuristics import (
    Held,
    believed,
    flat,
    give,
    java,
    nobody,
    size,
    topics_in_order,
    wants,
)
from tests.support.shapes import Document

TP = tuple[str, int]


class _Group:
    """Members by id, what they own, and all that is to be given."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.members = sorted(document["members"], key=java)
        owned = believed(document, current_only=True)
        self.owned = {m: flat(owned[m]) for m in self.members}
        self.has: dict[str, list[TP]] = {m: [] for m in self.members}
        self.every = [
            (topic, n)
            for topic in topics_in_order(document)
            if wants(document, self.members[0], topic)
            for n in range(size(document, topic))
        ]
        self.floor = len(self.every) // len(self.members)
        self.ceiling = -(-len(self.every) // len(self.members))

    def keep(self) -> None:
        """Let each member keep the first of what it owns, up to the ceiling."""
        for m in self.members:
            self.has[m] = self.owned[m][: self.ceiling]

    def free(self) -> list[TP]:
        taken = set(chain.from_iterable(self.has.values()))
        return [tp for tp in self.every if tp not in taken]

    def with_load(self, load: int) -> list[str]:
        return [m for m in self.members if len(self.has[m]) == load]

    def steal(self, rich: list[str]) -> None:
        """Fill who is still short, one from each of those at the ceiling."""
        for m in self.members:
            while len(self.has[m]) < self.floor:
                self.has[m].append(self.has[rich.pop(0)].pop(0))

    def held(self) -> Held:
        held = nobody(self.document)
        for m, mine in self.has.items():
            for tp in mine:
                give(held, m, *tp)
        return held


def kip_615(document: Document) -> Held:
    """Fill each member in one go, with number 0 of every topic first."""
    group = _Group(document)
    group.keep()
    free = sorted(group.free(), key=lambda tp: (tp[1], java(tp[0])))
    rich = group.with_load(group.ceiling)
    for m in group.members:
        short = max(0, group.floor - len(group.has[m]))
        group.has[m] += free[:short]
        free = free[short:]
    group.steal(rich)
    for tp, m in zip(free, group.with_load(group.floor), strict=False):
        group.has[m].append(tp)
    return group.held()


def kafka_9987(document: Document) -> Held:
    """Go around the members that are short, topic by topic."""
    group = _Group(document)
    group.keep()
    free, rich = group.free(), group.with_load(group.ceiling)
    poor = [m for m in group.members if len(group.owned[m]) == group.floor]
    short = [m for m in group.members if len(group.has[m]) < group.floor]
    while short and free:
        for m in list(short):
            if free:
                group.has[m].append(free.pop(0))
            if len(group.has[m]) == group.floor:
                short.remove(m)
                poor.append(m)
    group.steal(rich)
    for tp, m in zip(free, poor, strict=False):
        group.has[m].append(tp)
    return group.held()
