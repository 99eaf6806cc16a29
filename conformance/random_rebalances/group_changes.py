"""Random changes of a group between two rebalances: members, subscriptions, topics.

Each changes a rebalance/1 document in place, with or without claims; ``departed`` holds
the members that have left, with their claims.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from conformance.random_rebalances.subscription_frames import Document, some_of

Change = Callable[[Random, Document, dict[str, Document]], None]


def change_group(rng: Random, rebalance: Document) -> Document:
    """Return the group after one of `COMMON_CHANGES`."""
    after = copy.deepcopy(rebalance)
    rng.choice(COMMON_CHANGES)(rng, after, {})
    return after


def join(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Add a member or two, subscribed as another member is, or at random."""
    members: dict[str, Document] = state["members"]
    for _ in range(rng.randint(1, 2)):
        likeness = rng.choice(sorted(members)) if members else None
        if likeness is None or rng.randrange(4) == 0:
            wanted = sorted(some_of(rng, list(state["topics"]), least=1))
        else:
            wanted = list(members[likeness]["subscription"])
        names = (f"m{i}" for i in range(10 * len(members) + 10))
        name = rng.choice([name for name in names if name not in members])
        members[name] = {"subscription": wanted}


def leave(rng: Random, state: Document, departed: dict[str, Document]) -> None:
    """Remove a member or two, but not the last one."""
    members: dict[str, Document] = state["members"]
    for _ in range(rng.randint(1, 2)):
        if len(members) > 1:
            name = rng.choice(sorted(members))
            departed[name] = members.pop(name)


def come_back(rng: Random, state: Document, departed: dict[str, Document]) -> None:
    """Add a member that left; it still claims its last partitions (KIP-341)."""
    absent = sorted(departed.keys() - state["members"].keys())
    if absent:
        name = rng.choice(absent)
        state["members"][name] = departed.pop(name)
    else:
        join(rng, state, departed)


def resubscribe(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Change the subscription of one member; it gives up the topics that it leaves."""
    member = state["members"][rng.choice(sorted(state["members"]))]
    member["subscription"] = sorted(some_of(rng, list(state["topics"]), least=1))
    if "owned" in member:
        owned = member["owned"].items()
        member["owned"] = {t: ns for t, ns in owned if t in member["subscription"]}


def grow(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Add partitions to a topic: Kafka cannot remove any."""
    if state["topics"]:
        topic = state["topics"][rng.choice(sorted(state["topics"]))]
        topic["partitions"] += rng.randint(1, 3)


def create(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Create a topic to which some members subscribe."""
    topics = state["topics"]
    names = (f"created-{i}" for i in range(len(topics) + 1))
    name = next(name for name in names if name not in topics)
    topics[name] = {"partitions": rng.randint(1, 3)}
    for member in some_of(rng, sorted(state["members"])):
        state["members"][member]["subscription"].append(name)


def delete(rng: Random, state: Document, _departed: dict[str, Document]) -> None:
    """Delete a topic; members still subscribe to it (KAFKA-7962), and claim it."""
    if state["topics"]:
        del state["topics"][rng.choice(sorted(state["topics"]))]


def stay(_rng: Random, _state: Document, _departed: dict[str, Document]) -> None:
    """Change nothing: a member joined again, and nothing has to move."""


COMMON_CHANGES: Final[Sequence[Change]] = (
    join,
    join,
    leave,
    leave,
    resubscribe,
    grow,
    stay,
)
"""After these, every claim is one that a member of a real group can have."""

ALL_CHANGES: Final[Sequence[Change]] = (
    *COMMON_CHANGES,
    come_back,
    come_back,
    create,
    delete,
)
