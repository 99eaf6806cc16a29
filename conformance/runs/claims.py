"""Random claims for a rebalance without claims; each returns the same document."""

from __future__ import annotations

from random import Random
from typing import Any

from conformance.runs.frames import subscribers
from conformance.runs.optimum import proved_optimum

Document = dict[str, Any]


def claim(member: Document, topic: str, number: int) -> None:
    """Add one partition to what a member claims, unless it claims it already."""
    numbers = member.setdefault("owned", {}).setdefault(topic, [])
    if number not in numbers:
        numbers.append(number)


def with_optimum(rebalance: Document, *, generation: int = 1) -> Document:
    """Let every member claim what an optimal assignment gave it."""
    held = proved_optimum(rebalance)["members"]
    for name, member in rebalance["members"].items():
        member["owned"] = {t: sorted(ns) for t, ns in held[name].items() if ns}
        member["generation"] = generation
    return rebalance


def with_random_owners(rng: Random, rebalance: Document) -> Document:
    """Let one random subscriber claim each partition, and nobody some of them."""
    for topic, about in rebalance["topics"].items():
        eligible = subscribers(rebalance, topic)
        for number in range(about["partitions"] if eligible else 0):
            if rng.randrange(8):
                claim(rebalance["members"][rng.choice(eligible)], topic, number)
    return at_one_generation(rebalance)


def with_first_subscriber(rebalance: Document) -> Document:
    """Let the first subscriber claim each topic as a whole: ladders stay uneven."""
    for topic, about in rebalance["topics"].items():
        first, *_ = subscribers(rebalance, topic)
        owner = rebalance["members"][first]
        owner.setdefault("owned", {})[topic] = list(range(about["partitions"]))
    return at_one_generation(rebalance)


def with_more_claims(rng: Random, rebalance: Document) -> Document:
    """Add second claims, and date the claims of members from different generations."""
    members = rebalance["members"]
    for topic, about in rebalance["topics"].items():
        eligible = subscribers(rebalance, topic)
        for number in range(about["partitions"] if eligible else 0):
            if rng.randrange(3) == 0:
                claim(members[rng.choice(eligible)], topic, number)
    oldest = rng.choice((-1, 0, 5))
    for member in members.values():
        member["generation"] = rng.randint(oldest, oldest + 2)
        if rng.randrange(8) == 0:
            del member["generation"]
    return rebalance


def at_one_generation(rebalance: Document, generation: int = 1) -> Document:
    """Date all claims from one generation; who claims nothing is new."""
    for member in rebalance["members"].values():
        if "owned" in member:
            member["generation"] = generation
    return rebalance
