"""Answers and instances for the tests of the integer programs in PuLP."""

from __future__ import annotations

from solver import Limits, Result, parse_policy
from solver.milp import solve
from tests.solver.routes import instance
from tests.support.shapes import Document, member, rebalance


def answer(document: Document, text: str) -> Result:
    return solve(instance(document), parse_policy(text), limits=Limits())


def values(outcome: Result) -> list[int | list[int]]:
    """Return the values as brute force writes them."""
    return [
        list(objective.value) if isinstance(objective.value, tuple) else objective.value
        for objective in outcome.objectives
    ]


def knotty(members: int = 20, partitions: int = 200) -> Document:
    """Twenty topics held by few: far from solved in a second."""
    topics = {f"t{i}": partitions // 20 for i in range(20)}
    wants = {
        m: [f"t{i}" for i in range(20) if (7 * i + 3 * m * m + i * m) % 20 < 9]
        for m in range(members)
    }
    owned: dict[int, dict[str, list[int]]] = {m: {} for m in wants}
    for topic, count in topics.items():
        takers = [m for m, wanted in wants.items() if topic in wanted][:4]
        for number in range(count if takers else 0):
            taker = takers[number * number % len(takers)]
            owned[taker].setdefault(topic, []).append(number)
    return rebalance(
        dict(topics), {f"m{m:02d}": member(w, owned[m]) for m, w in wants.items()}
    )
