"""Draws of the families whose groups have a past: shares, switches, generations."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from conformance.random_rebalances import (
    ShareLimits,
    change_group,
    change_subscriptions,
    claim_over_generations,
    claim_shares,
    disturb_claims,
    draw_different,
    draw_incumbents,
    place_in_racks,
)
from conformance.runs.family_draws import RACKS

Document = dict[str, Any]

SMALL: Final = ShareLimits(members=6, topics=4, partitions=8, subscribed=3)
MIDDLE: Final = ShareLimits(members=12, topics=7, partitions=25, subscribed=3)
DENSE: Final = ShareLimits(members=12, topics=7, partitions=25, subscribed=5)
WIDE: Final = ShareLimits(members=20, topics=8, partitions=40, subscribed=2)
BROAD: Final = ShareLimits(members=20, topics=12, partitions=60, subscribed=3)
NEWCOMERS: Final = 0.4
"""Share of members, and of topics, that were not there before."""
OLD: Final = 9
"""Highest generation before generations start again."""


def draw_shares(rng: Random) -> Document:
    """Draw a group whose members have become more, and seldom its topics."""
    rebalance = draw_different(
        rng, rng.choice((MIDDLE, WIDE, BROAD, BROAD)), group="shares"
    )
    new_topics = rng.choice((0.0, 0.0, NEWCOMERS))
    share_out(rng, rebalance, newcomers=NEWCOMERS, new_topics=new_topics)
    if rng.randrange(4) == 0:
        disturb_claims(rng, rebalance, most=3)
    return rebalance


def draw_switched(rng: Random) -> Document:
    """Draw shares that survive a change of subscription, some of them claimed again."""
    rebalance = draw_different(rng, rng.choice((SMALL, MIDDLE)), group="switched")
    share_out(rng, rebalance, newcomers=rng.choice((0.0, NEWCOMERS)))
    change_subscriptions(rng, rebalance, share=rng.choice((0.25, 0.5)))
    if rng.randrange(2):
        disturb_claims(rng, rebalance, most=3)
    return rebalance


def draw_generations(rng: Random) -> Document:
    """Draw overlapping claims of several generations."""
    rebalance = draw_different(rng, rng.choice((SMALL, MIDDLE)), group="generations")
    strangers = rng.choice((0.0, 0.25))
    claim_over_generations(
        rng, rebalance, generations=rng.randint(2, 3), strangers=strangers
    )
    return rebalance


def draw_zones(rng: Random) -> Document:
    """Draw racks with few replicas and different subscriptions.

    Most groups are not small: more partitions are then far from their owners.
    """
    limits = rng.choice((SMALL, MIDDLE, DENSE, DENSE))
    rebalance = draw_different(rng, limits, group="zones")
    if rng.randrange(2):
        share_out(rng, rebalance, newcomers=NEWCOMERS)
    place_in_racks(rng, rebalance, racks=RACKS, replicas=rng.choice((1, 1, 1, 2)))
    return rebalance


def draw_restarted(rng: Random) -> Document:
    """Draw shares of a high generation, which the leader then remembers."""
    rebalance = draw_different(rng, SMALL, group="restarted")
    share_out(rng, rebalance, newcomers=0.25, generation=rng.randint(5, OLD))
    return rebalance


def restart_generations(rng: Random, claimed: Document) -> Document:
    """Return a later rebalance of a new group with the same members and claims."""
    rebalance = change_group(rng, claimed)
    change_subscriptions(rng, rebalance, share=0.25)
    generation = rng.randint(1, 4)
    for member in rebalance["members"].values():
        if "owned" in member:
            member["generation"] = generation
    return rebalance


def share_out(
    rng: Random,
    rebalance: Document,
    *,
    newcomers: float,
    new_topics: float | None = None,
    generation: int = 1,
) -> None:
    """Let those that were there before claim near-balanced shares of old topics.

    Parameters
    ----------
    newcomers, new_topics : float
        Share of members and of topics that were not there; by default the same.
    """
    if new_topics is None:
        new_topics = newcomers
    claim_shares(
        rng,
        rebalance,
        members=draw_incumbents(rng, list(rebalance["members"]), newcomers),
        topics=draw_incumbents(rng, list(rebalance["topics"]), new_topics),
        generation=generation,
    )
