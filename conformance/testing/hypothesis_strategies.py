"""Strategies of hypothesis for instances, claims, and churn."""

from __future__ import annotations

from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.random_rebalances import (
    DrawLimits,
    draw_churn,
    draw_claims,
    draw_rebalance,
)
from conformance.testing.churn_run import Churn

Instance: TypeAlias = dict[str, Any]
"""A rebalance/1 document (docs/documents.md)."""


def instances(
    *,
    max_members: int = 4,
    max_topics: int = 4,
    max_partitions: int = 3,
    lag: bool = False,
    racks: bool = False,
    capacities: bool = False,
    hostile_names: bool = False,
) -> SearchStrategy[Instance]:
    """Draw instances with at least one member, as rebalance/1 documents.

    Subscriptions are equal, scattered, in chains, or in blocks; claims are absent,
    faithful, uneven, or contradictory: stale, double, on topics that are gone or not
    subscribed to. Small limits find most defects, and find them soon.

    Parameters
    ----------
    max_members, max_topics, max_partitions : int
        At least 1; partitions are per topic.
    lag, racks, capacities : bool
        Whether some instances state these.
    hostile_names : bool
        Whether some names have quotes, blanks, or letters beyond ASCII.
    """
    limits = DrawLimits(
        members=_positive("max_members", max_members),
        topics=_positive("max_topics", max_topics),
        partitions=_positive("max_partitions", max_partitions),
        hostile_names=hostile_names,
        lag=lag,
        racks=racks,
        capacities=capacities,
        identities=False,
    )

    def draw(rng: Random) -> Instance:
        return draw_rebalance(rng, limits)

    return st.builds(draw, _generators()).filter(lambda drawn: bool(drawn["members"]))


def claims(
    instance: Instance | SearchStrategy[Instance] | None = None,
) -> SearchStrategy[Instance]:
    """Draw instances that differ from a given one only in the members' claims.

    Parameters
    ----------
    instance : dict, strategy, or None
        The given instance, or where to draw it from; None: `instances`.
    """
    given = instances() if instance is None else instance
    source = given if isinstance(given, SearchStrategy) else st.just(given)

    def draw(document: Instance, rng: Random) -> Instance:
        counts = {t: topic["partitions"] for t, topic in document["topics"].items()}
        kept = {
            name: {k: v for k, v in member.items() if k not in {"owned", "generation"}}
            for name, member in document["members"].items()
        }
        draw_claims(rng, counts, kept)
        return {**document, "members": kept}

    return st.builds(draw, source, _generators())


def churn(
    *,
    max_steps: int = 6,
    max_members: int = 4,
    max_topics: int = 4,
    max_partitions: int = 3,
) -> SearchStrategy[Churn]:
    """Draw sequences of rebalances of one group (`Churn.run`).

    Members join, leave, return, and change subscriptions; topics are created, grow, and
    are deleted. The limits on size hold for the first state.
    """
    limits = DrawLimits(
        members=_positive("max_members", max_members),
        topics=_positive("max_topics", max_topics),
        partitions=_positive("max_partitions", max_partitions),
        hostile_names=False,
    )
    steps = st.integers(1, _positive("max_steps", max_steps))

    def draw(rng: Random, count: int) -> Churn:
        return Churn(states=tuple(draw_churn(rng, limits, steps=count)))

    return st.builds(draw, _generators(), steps)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{name} is at least 1, not {value}")
    return value


def _generators() -> SearchStrategy[Random]:
    """Draw generators whose choices hypothesis records, so that they shrink."""
    return st.randoms(use_true_random=False, note_method_calls=False)
