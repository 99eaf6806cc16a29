"""Slow reference of ``uniform``, with lists, that follows upstream's Javadoc.

Shares no code with ``heuristics``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

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

MAX_TURNS = 16


def uniform(document: Document) -> Held:
    members = document["members"].values()
    topics = frozenset(document["topics"])
    wanted = {topics & frozenset(m["subscription"]) for m in members}
    return equal(document) if len(wanted) <= 1 else mixed(document)


def equal(document: Document) -> Held:
    """Each member keeps up to its quota, then each in turn is filled up."""
    held, owned = nobody(document), believed(document)
    members = sorted(document["members"], key=java)
    if not members:
        return held
    partitions = [
        (topic, number)
        for topic in topics_in_order(document)
        if wants(document, members[0], topic)
        for number in range(size(document, topic))
    ]
    left = [tp for tp in partitions if all(tp not in flat(o) for o in owned.values())]
    share, n_extra = divmod(len(partitions), len(members))
    quota = {}
    for i, member in enumerate(members):
        mine = flat(owned[member])
        is_late = len(members) - i <= n_extra
        quota[member] = share + int(n_extra > 0 and (len(mine) > share or is_late))
        n_extra -= quota[member] - share
        for topic, number in mine[: quota[member]]:
            give(held, member, topic, number)
        left += mine[quota[member] :]
    for member in members:
        while len(flat(held[member])) < quota[member]:
            give(held, member, *left.pop(0))
    assert not left
    return held


def load(held: Held, member: str) -> int:
    return sum(len(numbers) for numbers in held[member].values())


def takers(document: Document, topic: str) -> list[str]:
    members = sorted(document["members"], key=java)
    return [m for m in members if wants(document, m, topic)]


def ranked(document: Document, held: Held, topic: str) -> list[str]:
    """List subscribers, the fewest partitions first, then by member id."""
    return sorted(takers(document, topic), key=lambda m: load(held, m))


def topics_in_turn(document: Document) -> list[str]:
    """List topics, the most partitions a subscriber first, then fewer subscribers."""

    def rank(topic: str) -> tuple[Fraction, int]:
        n_takers = len(takers(document, topic))
        return Fraction(-size(document, topic), n_takers), n_takers

    listed = [t for t in topics_in_order(document) if takers(document, t)]
    return sorted(listed, key=rank)


def mixed(document: Document) -> Held:
    held = believed(document)
    in_turn = topics_in_turn(document)
    for topic in in_turn:
        order = ranked(document, held, topic)
        for number in range(size(document, topic)):
            if all(number not in mine.get(topic, []) for mine in held.values()):
                least = min(order, key=lambda m: (load(held, m), order.index(m)))
                give(held, least, topic, number)
    n_calm = 0
    for topic in in_turn * MAX_TURNS:
        is_calm = not even(document, held, topic)
        n_calm = n_calm + 1 if is_calm else 0
        if n_calm == len(in_turn):
            break
    return {m: {t: n for t, n in mine.items() if n} for m, mine in held.items()}


def even(document: Document, held: Held, topic: str) -> int:
    """Move the topic's partitions from the most to the fewest; count the moves."""
    order = ranked(document, held, topic)
    before = {m: load(held, m) for m in order}
    rows = {m: list(held[m].get(topic, [])) for m in order}
    moves = 0
    pairs = zip(most(order, before, rows), fewest(order, before), strict=False)
    for (giver, high), (taker, low) in pairs:
        if high - low <= 1:
            break
        number = rows[giver].pop()
        held[giver][topic].remove(number)
        give(held, taker, topic, number)
        moves += 1
    return moves


def fewest(order: list[str], before: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Go through all at the lowest level, then through all one level up, and so on."""
    level = before[order[0]]
    while True:
        yield from [(m, level) for m in order if before[m] <= level]
        level += 1


def most(
    order: list[str], before: dict[str, int], rows: dict[str, list[int]]
) -> Iterator[tuple[str, int]]:
    """Go backwards through all at the highest level, then one down; the empty leave."""
    above, pool = list(order), list[str]()
    level = before[order[-1]]
    while pool or above:
        if not pool:
            level = before[above[-1]]
        while above and before[above[-1]] == level:
            pool.insert(0, above.pop())
        for at in range(len(pool) - 1, -1, -1):
            if rows[pool[at]]:
                yield pool[at], level
            else:
                pool[at] = pool[-1]
                pool.pop()
        level -= 1
