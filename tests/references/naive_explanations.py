"""Slow, plain counts of assignments, which share no code with what they check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import verify
from oracle.explanation import Explanation, explain
from solver import parse_policy, solve
from tests.support.shapes import Document

Spot = tuple[str, int]
Held = dict[Spot, str]  # partition -> member


def explained(
    document: Document, assignment: Document | None = None, policy: str = "sticky"
) -> Explanation:
    """Explain without limits."""
    return explain(document, assignment, parse_policy(policy), solve)


def held_by(assignment: Mapping[str, Any]) -> Held:
    """Return the member of each partition."""
    return {
        (topic, number): name
        for name, topics in assignment["members"].items()
        for topic, numbers in topics.items()
        for number in numbers
    }


def members_in(held: Held, document: Document) -> Document:
    """Return member -> topic -> partitions, of all members."""
    members: Document = {name: {} for name in document["members"]}
    for (topic, number), name in held.items():
        members[name].setdefault(topic, []).append(number)
    return members


class Naive:
    """One rebalance: owners, and all balanced assignments by enumeration."""

    def __init__(self, document: Document) -> None:
        self.document = document
        case = verify.case_of(document)
        self.owner: Held = {
            (topic, number): name
            for (name, topic), numbers in case.owned.items()
            for number in numbers
        }
        self.in_play = list(case.in_play)

    def capacity(self, name: str) -> int:
        found: int = self.document["members"][name].get("capacity", 1)
        return found

    def loads(self, held: Held) -> dict[str, int]:
        return {
            name: sum(1 for member in held.values() if member == name)
            for name in self.document["members"]
        }

    def vector(self, held: Held) -> list[Fraction]:
        """Return the loads ÷ capacity of members in play, largest first."""
        loads = self.loads(held)
        ratios = (Fraction(loads[name], self.capacity(name)) for name in self.in_play)
        return sorted(ratios, reverse=True)

    def score(self, held: Held) -> int:
        loads = list(self.loads(held).values())
        return sum(abs(a - b) for i, a in enumerate(loads) for b in loads[:i])

    def moves(self, held: Held) -> int:
        return sum(held[spot] != owner for spot, owner in self.owner.items())

    def lag(self, held: Held, name: str) -> int:
        topics = self.document["topics"]
        return sum(
            topics[topic]["lag"][number]
            for (topic, number), member in held.items()
            if member == name and "lag" in topics[topic]
        )

    def peak(self, held: Held) -> Fraction:
        ratios = (Fraction(self.lag(held, m), self.capacity(m)) for m in self.in_play)
        return max(ratios, default=Fraction(0))

    def every(self) -> Iterator[Held]:
        """Yield every valid assignment; raises TooLarge if there are too many."""
        for assignment in verify.every_assignment(self.document):
            yield held_by(assignment)

    def balanced(self) -> list[Held]:
        """Return all dec-min assignments."""
        every = list(self.every())
        vectors = [self.vector(held) for held in every]
        least = min(vectors)
        return [h for h, vector in zip(every, vectors, strict=True) if vector == least]


def apply(held: Held, transfers: list[Any]) -> Held:
    """Apply the transfers of a statement; each giver holds what it gives."""
    changed = dict(held)
    for transfer in transfers:
        spot = transfer.topic, transfer.partition
        assert changed[spot] == transfer.giver
        changed[spot] = transfer.to
    return changed
