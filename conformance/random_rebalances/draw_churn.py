"""Random churn: states of one group in sequence, each a small change from the last.

Members join, leave, return, and change their subscriptions; topics are created, grow,
and are deleted. The states have no claims: these follow from the assignor's own answers
(`conformance.testing.Churn`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Final

from conformance.random_rebalances.subscription_frames import (
    Document,
    DrawLimits,
    draw_frame,
    some_of,
)


def draw_churn(
    rng: Random, limits: DrawLimits | None = None, *, steps: int = 5
) -> list[Document]:
    """Draw the states of a group, as rebalance/1 documents without claims.

    Parameters
    ----------
    limits : DrawLimits or None
        Of the first state; changes can add one member or topic each.
    steps : int
        Number of states, at least 1. The first one has at least one member.
    """
    counts, subscriptions = draw_frame(rng, limits or DrawLimits())
    state: Document = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {name: {"partitions": count} for name, count in counts.items()},
        "members": {name: {"subscription": t} for name, t in subscriptions.items()},
    }
    if not state["members"]:
        _join(rng, state, {})
    states, departed = [state], dict[str, Document]()
    while len(states) < steps:
        state = copy.deepcopy(state)
        rng.choice(CHANGES)(rng, state, departed)
        states.append(state)
    return states


def _join(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Add a member with the subscription of another, or with a new one."""
    members: dict[str, Document] = state["members"]
    like = rng.choice(sorted(members)) if members and rng.randrange(2) else None
    topics = list(state["topics"])
    wanted = members[like]["subscription"] if like else some_of(rng, topics)
    members[_unused("joined-", members)] = {"subscription": list(wanted)}


def _leave(rng: Random, state: Document, departed: dict[str, Document]) -> None:
    """Remove a member, unless it is the last one."""
    members: dict[str, Document] = state["members"]
    if len(members) > 1:
        name = rng.choice(sorted(members))
        departed[name] = members.pop(name)


def _return(rng: Random, state: Document, departed: dict[str, Document]) -> None:
    """Bring back a member that left; it still claims what it owned (KIP-341)."""
    if departed:
        name = rng.choice(sorted(departed))
        state["members"][name] = departed.pop(name)
    else:
        _join(rng, state, departed)


def _resubscribe(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    name = rng.choice(sorted(state["members"]))
    state["members"][name] = {"subscription": some_of(rng, list(state["topics"]))}


def _grow(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Add partitions to a topic: Kafka cannot remove any."""
    if state["topics"]:
        topic = state["topics"][rng.choice(sorted(state["topics"]))]
        topic["partitions"] += rng.randint(1, 2)


def _create(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Create a topic to which some members subscribe."""
    name = _unused("created-", state["topics"])
    state["topics"][name] = {"partitions": rng.randint(1, 3)}
    for member in some_of(rng, sorted(state["members"])):
        state["members"][member]["subscription"].append(name)


def _delete(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Delete a topic; members still subscribe to it (KAFKA-7962), and claim it."""
    if state["topics"]:
        del state["topics"][rng.choice(sorted(state["topics"]))]


CHANGES: Final[tuple[Callable[[Random, Document, dict[str, Document]], None], ...]] = (
    _join,
    _join,
    _leave,
    _leave,
    _return,
    _resubscribe,
    _grow,
    _create,
    _delete,
)


def _unused(prefix: str, taken: Document) -> str:
    return next(n for i in range(len(taken) + 1) if (n := f"{prefix}{i}") not in taken)
