"""One random rebalance/1 document: a frame, claims, and optional properties."""

from __future__ import annotations

from random import Random

from conformance.random_rebalances.random_claims import draw_claims
from conformance.random_rebalances.subscription_frames import (
    Document,
    DrawLimits,
    draw_frame,
    some_of,
)
from rebalance import INT64_MAX


def draw_rebalance(rng: Random, limits: DrawLimits | None = None) -> Document:
    """Draw a rebalance/1 document within limits.

    Unless the limits exclude it, half of the documents have lag, a third have racks, a
    quarter have capacities, and a quarter have a static member.
    """
    limits = limits or DrawLimits()
    counts, subscriptions = draw_frame(rng, limits)
    members: dict[str, Document] = {
        name: {"subscription": topics} for name, topics in subscriptions.items()
    }
    draw_claims(rng, counts, members)
    topics: dict[str, Document] = {t: {"partitions": n} for t, n in counts.items()}
    if limits.lag and rng.randrange(2):
        _add_lag(rng, topics)
    if limits.racks and rng.randrange(3) == 0:
        _add_racks(rng, topics, members)
    if limits.capacities and rng.randrange(4) == 0:
        for member in members.values():
            member["capacity"] = rng.randint(1, 5)
    identity: Document = {}
    if limits.identities:
        if members and rng.randrange(4) == 0:
            members[min(members)]["instance_id"] = "static-1"
        if rng.randrange(3) == 0:
            identity["id"] = f"r{rng.randrange(3)}"
    head = {"format": "rebalance/1", "group": "g", **identity}
    return {**head, "topics": topics, "members": members}


def _add_lag(rng: Random, topics: dict[str, Document]) -> None:
    # The sum of all lags fits into 64 bits, as instances in columns require.
    most = INT64_MAX // max(1, sum(topic["partitions"] for topic in topics.values()))
    largest = rng.choice((1, 3, 10, 100_000, most))
    for topic in topics.values():
        if rng.randrange(5):
            lags = [rng.randint(0, largest) for _ in range(topic["partitions"])]
            topic["lag"] = lags


def _add_racks(
    rng: Random, topics: dict[str, Document], members: dict[str, Document]
) -> None:
    racks = ["r0", "r1", "r2"]
    for topic in topics.values():
        if rng.randrange(5):
            topic["racks"] = [some_of(rng, racks) for _ in range(topic["partitions"])]
    for member in members.values():
        if rng.randrange(4):
            member["rack"] = rng.choice(racks)
