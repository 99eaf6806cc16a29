"""Random groups with different subscriptions whose members own near-balanced shares.

Several loads of such a group coincide, and few members can take a partition, which is
where local searches for balance go in circles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from conformance.random_rebalances.subscription_frames import (
    Document,
    document_of_frame,
    some_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLimits:
    """Largest numbers of members, topics, partitions per topic, topics per member."""

    members: int
    topics: int
    partitions: int
    subscribed: int


def draw_different(rng: Random, limits: ShareLimits, *, group: str) -> Document:
    """Draw a group without claims whose members subscribe to a few topics each.

    Most topics are small, because a small one is soon without a partition to give.
    """
    sizes = (3, 9, limits.partitions)
    counts = {
        f"t{i}": rng.randint(1, min(rng.choice(sizes), limits.partitions))
        for i in range(rng.randint(2, limits.topics))
    }
    most = min(limits.subscribed, len(counts))
    subscriptions = {
        f"m{i}": rng.sample(list(counts), rng.randint(1, most))
        for i in range(rng.randint(2, limits.members))
    }
    return document_of_frame((counts, subscriptions), group=group)


def claim_shares(
    rng: Random,
    rebalance: Document,
    *,
    members: Sequence[str],
    topics: Sequence[str],
    generation: int = 1,
) -> None:
    """Let these members claim near-balanced shares of these topics.

    Each partition goes to a subscriber with the least load, topics with the fewest
    subscribers first.
    """
    group = rebalance["members"]
    subscribers = {
        topic: [name for name in members if topic in group[name]["subscription"]]
        for topic in topics
    }
    loads = dict.fromkeys(members, 0)
    for name in members:
        group[name]["owned"] = {}
        group[name]["generation"] = generation
    order = rng.sample(list(topics), len(topics))
    for topic in sorted(order, key=lambda topic: len(subscribers[topic])):
        able = subscribers[topic]
        for number in range(rebalance["topics"][topic]["partitions"] if able else 0):
            least = min(loads[name] for name in able)
            owner = rng.choice([name for name in able if loads[name] == least])
            loads[owner] += 1
            group[owner]["owned"].setdefault(topic, []).append(number)


def draw_incumbents(rng: Random, names: Sequence[str], newcomers: float) -> list[str]:
    """Draw the names that were there before; at least one of them."""
    there = [name for name in names if rng.random() >= newcomers]
    return there or [rng.choice(list(names))]


def disturb_claims(rng: Random, rebalance: Document, *, most: int) -> None:
    """Let members lose a claim, some to another subscriber, at most so many."""
    members = rebalance["members"]
    for _ in range(rng.randint(0, most)):
        giver = members[rng.choice(sorted(members))]
        owned = giver.get("owned")
        if not owned:
            continue
        topic = rng.choice(sorted(owned))
        number = owned[topic].pop()
        if not owned[topic]:
            del owned[topic]
        able = [
            member
            for _, member in sorted(members.items())
            if topic in member["subscription"]
            and number not in member.get("owned", {}).get(topic, ())
        ]
        if able and rng.randrange(2):
            taker = rng.choice(able)
            taker.setdefault("owned", {}).setdefault(topic, []).append(number)
            taker["generation"] = giver.get("generation", 1)


def change_subscriptions(rng: Random, rebalance: Document, *, share: float) -> None:
    """Let some members subscribe to other topics; their claims survive.

    One member at least leaves a topic that it claims, if there is another topic.
    """
    topics = sorted(rebalance["topics"])
    owners = [m for _, m in sorted(rebalance["members"].items()) if m.get("owned")]
    if owners:
        owner = rng.choice(owners)
        left = rng.choice(sorted(owner["owned"]))
        others = [topic for topic in topics if topic != left]
        if others:
            kept = [topic for topic in owner["subscription"] if topic != left]
            owner["subscription"] = kept or [rng.choice(others)]
    for _, member in sorted(rebalance["members"].items()):
        if rng.random() < share and not (owners and member is owner):
            most = max(1, min(len(topics), len(member["subscription"]) + 1))
            member["subscription"] = rng.sample(topics, rng.randint(1, most))


def claim_over_generations(
    rng: Random, rebalance: Document, *, generations: int, strangers: float
) -> None:
    """Let some members claim anew in each generation; claims of the others grow old.

    Parameters
    ----------
    generations : int
        Number of generations, the first of which is 1.
    strangers : float
        Share of members that took part without a subscription to a topic that they
        have left since.
    """
    members = rebalance["members"]
    for generation in range(1, generations + 1):
        present = some_of(rng, sorted(members), least=1)
        claims: dict[str, dict[str, list[int]]] = {name: {} for name in present}
        for topic, about in rebalance["topics"].items():
            able = [
                name
                for name in present
                if topic in members[name]["subscription"] or rng.random() < strangers
            ]
            for number in range(about["partitions"] if able else 0):
                if rng.randrange(8):
                    claims[rng.choice(able)].setdefault(topic, []).append(number)
        for name in present:
            members[name] |= {"owned": claims[name], "generation": generation}


def place_in_racks(
    rng: Random, rebalance: Document, *, racks: Sequence[str], replicas: int
) -> None:
    """Place members and few replicas in racks, so that few members are near each."""
    for topic in rebalance["topics"].values():
        topic["racks"] = [
            sorted(rng.sample(racks, rng.randint(1, replicas)))
            if rng.randrange(8)
            else []
            for _ in range(topic["partitions"])
        ]
    is_everyone = rng.randrange(2) == 0
    for _, member in sorted(rebalance["members"].items()):
        if is_everyone or rng.randrange(5):
            member["rack"] = rng.choice(racks)
