"""Random terms of bounds, with the rebalances to which they refer."""

from __future__ import annotations

from random import Random

from tests.support.shapes import Document
from tests.support.strategies import TINY, Limits, draw_rebalance

KINDS = ("average", "crowd", "topic-crowd", "packing")


def drawn(rng: Random, limits: Limits = TINY, *, seed: object = None) -> Document:
    """Return a rebalance that always has some lag; ``seed`` is noted for a failure."""
    document = draw_rebalance(rng, limits, seed=seed)
    top = rng.choice((1, 3, 10, 100))
    for topic in document["topics"].values():
        topic["lag"] = [rng.randint(0, top) for _ in range(topic["partitions"])]
    return document


def drawn_term(rng: Random, document: Document) -> Document:
    """Return a term of any kind without its bound."""
    members, topics = sorted(document["members"]), sorted(document["topics"])
    kind = rng.choice(KINDS)
    term: Document = {"kind": kind}
    if kind == "average" and rng.randrange(2):
        term["members"] = rng.sample(members, rng.randint(0, len(members)))
    if kind in {"crowd", "topic-crowd"} and rng.randrange(6):
        lags = [lag for t in document["topics"].values() for lag in t["lag"]]
        term["at_least"] = rng.choice([*lags, 0, 1])
    if kind == "packing":
        term["steps"] = drawn_steps(rng, document)
    if rng.randrange(3) == 0:
        term["topics"] = rng.sample(topics, rng.randint(0, len(topics)))
    return term


def drawn_steps(rng: Random, document: Document) -> list[list[int]]:
    """Return weights of lags in steps, which need not be in order."""
    lags = [lag for topic in document["topics"].values() for lag in topic["lag"]]
    top = rng.choice((1, 3, 20))
    starts = (rng.choice([*lags, 0, 1]) for _ in range(rng.randint(0, 4)))
    return [[start, rng.randint(0, top)] for start in starts]


def drawn_sum_term(rng: Random, document: Document) -> Document:
    """Return a term for sums of moves and mismatches without its bound."""
    if rng.randrange(2):
        return {"kind": "separate"}
    sizes = rng.choice(((1, 1), (3, 20)))
    weight = {
        objective: rng.randint(0, sizes[0]) for objective in ("stickiness", "rack")
    }
    names = sorted(document["members"])
    price = {
        topic: {name: rng.randint(-sizes[1], sizes[1]) for name in names}
        for topic in document["topics"]
        if rng.randrange(3)
    }
    return {"kind": "prices", "weight": weight, "price": price}
