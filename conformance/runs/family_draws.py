"""Draws of the families that build on any frame of subscriptions."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from conformance.random_rebalances import (
    UNEVEN_FRAMES,
    DrawLimits,
    change_group,
    claim_again,
    claim_as_first,
    claim_faithfully,
    date_claims,
    document_of_frame,
    draw_frame,
    some_of,
)
from conformance.runs.optimum import claim_optimum

Document = dict[str, Any]
RACKS: Final = ("a", "b", "c")

SMALL: Final = DrawLimits(
    members=5,
    topics=4,
    partitions=4,
    block_partitions=9,
    hostile_names=False,
    gaps=False,
)
MODERATE: Final = replace(
    SMALL, members=16, topics=10, partitions=12, block_partitions=21
)
LARGE: Final = replace(SMALL, members=100, topics=40, partitions=1000)


def _drawn(rng: Random, family: str) -> Document:
    return document_of_frame(draw_frame(rng, _draw_limits(rng)), group=family)


def _draw_limits(rng: Random) -> DrawLimits:
    """Draw small limits in three of four draws, because small findings are read."""
    return MODERATE if rng.randrange(4) == 0 else SMALL


def _claimed(rng: Random, family: str) -> Document:
    """Draw a rebalance in which one subscriber at most claims each partition."""
    rebalance = _drawn(rng, family)
    _claim(rng, rebalance)
    return rebalance


def _claim(rng: Random, rebalance: Document) -> None:
    claim_faithfully(rng, _counts(rebalance), rebalance["members"])
    date_claims(rebalance["members"])


def _counts(rebalance: Document) -> dict[str, int]:
    return {t: about["partitions"] for t, about in rebalance["topics"].items()}


def draw_fresh(rng: Random) -> Document:
    """Draw a new group."""
    return _drawn(rng, "fresh")


def draw_churn(rng: Random) -> Document:
    """Draw an optimum of a group, and one change."""
    rebalance = _drawn(rng, "churn")
    claim_optimum(rebalance)
    return change_group(rng, rebalance)


def draw_joiners(rng: Random) -> Document:
    """Draw one member that owns all that it subscribes to."""
    rebalance = _drawn(rng, "joiners")
    members, topics = rebalance["members"], rebalance["topics"]
    owner = members[rng.choice(sorted(members))]
    if rng.randrange(2):
        owner["subscription"] = sorted(topics)
    for topic in owner["subscription"]:
        owner.setdefault("owned", {})[topic] = list(range(topics[topic]["partitions"]))
    date_claims(members)
    return rebalance


def draw_claims(rng: Random) -> Document:
    """Draw one claim at most per partition."""
    return _claimed(rng, "claims")


def draw_stale(rng: Random) -> Document:
    """Draw second claims, and claims of several generations."""
    rebalance = _claimed(rng, "stale")
    claim_again(rng, _counts(rebalance), rebalance["members"])
    return rebalance


def draw_empty(rng: Random) -> Document:
    """Draw members that subscribe to nothing, and topics without partitions."""
    rebalance = _claimed(rng, "empty")
    for member in rebalance["members"].values():
        kind = rng.randrange(4)
        if kind == 0:
            member["subscription"] = []
        elif kind == 1:
            member["subscription"] = ["missing"]
        if kind < 2:
            member.pop("owned", None)
    if rng.randrange(3) == 0:
        rebalance["topics"][rng.choice(sorted(rebalance["topics"]))]["partitions"] = 0
        _forget_missing(rebalance)
    return rebalance


def draw_deleted(rng: Random) -> Document:
    """Draw claims on topics and partitions that are gone."""
    rebalance = _claimed(rng, "deleted")
    topics = rebalance["topics"]
    for topic in some_of(rng, sorted(topics), least=1):
        if rng.randrange(2):
            del topics[topic]  # still subscribed to, and claimed
        else:
            topics[topic]["partitions"] //= 2
    return rebalance


def draw_left(rng: Random) -> Document:
    """Draw claims on topics that their member has left."""
    rebalance = _claimed(rng, "left")
    for member in rebalance["members"].values():
        if rng.randrange(2):
            kept = some_of(rng, member["subscription"])
            member["subscription"] = sorted(kept)  # the claims stay
    return rebalance


def draw_racks(rng: Random) -> Document:
    """Draw racks of members and replicas."""
    rebalance = _drawn(rng, "racks")
    for topic in rebalance["topics"].values():
        most = rng.randint(1, len(RACKS))
        numbers = range(topic["partitions"])
        topic["racks"] = [sorted(rng.sample(RACKS, most)) for _ in numbers]
    everyone = rng.randrange(2) == 0
    for member in rebalance["members"].values():
        if everyone or rng.randrange(4):
            member["rack"] = rng.choice(RACKS)
    if rng.randrange(2):
        _claim(rng, rebalance)
    return rebalance


def draw_static(rng: Random) -> Document:
    """Draw static members, whose ids have another order."""
    rebalance = _drawn(rng, "static")
    names = sorted(rebalance["members"])
    ids = dict(zip(names, rng.sample(range(len(names)), len(names)), strict=True))
    for name in names:
        if rng.randrange(4):
            rebalance["members"][name]["instance_id"] = f"i{ids[name]}"
    kind = rng.randrange(3)
    if kind == 1:
        claim_optimum(rebalance)
    elif kind == 2:
        _claim(rng, rebalance)
    return rebalance


def draw_chains(rng: Random) -> Document:
    """Draw ladders and blocks of equal level."""
    frame = draw_frame(rng, _draw_limits(rng), UNEVEN_FRAMES)
    rebalance = document_of_frame(frame, group="chains")
    if rng.randrange(4) == 0:
        _claim(rng, rebalance)
    else:
        claim_as_first(rng, _counts(rebalance), rebalance["members"])
        date_claims(rebalance["members"])
    return rebalance


def draw_large(rng: Random) -> Document:
    """Draw about 100 members and 1,000 partitions, after a change of an optimum."""
    n_topics = rng.randint(5, LARGE.topics)
    counts = {f"t{i}": LARGE.partitions // n_topics for i in range(n_topics)}
    is_equal = rng.randrange(2) == 0
    least = n_topics if is_equal else 1
    subscriptions = {
        f"m{i}": sorted(some_of(rng, list(counts), least=least))
        for i in range(LARGE.members)
    }
    rebalance = document_of_frame((counts, subscriptions), group="large")
    claim_optimum(rebalance)
    for _ in range(rng.randint(1, 5)):
        rebalance = change_group(rng, rebalance)
    return rebalance


def _forget_missing(rebalance: Document) -> None:
    counts = _counts(rebalance)
    for member in rebalance["members"].values():
        owned = member.get("owned", {}).items()
        kept = {t: [n for n in ns if n < counts[t]] for t, ns in owned}
        member["owned"] = {t: numbers for t, numbers in kept.items() if numbers}
