"""Changes of a group between two rebalances: members, subscriptions, topics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from conformance.runs.frames import some

Document = dict[str, Any]


def changed(rng: Random, rebalance: Document) -> Document:
    """Return the group after one random change, or after none."""
    after = copy.deepcopy(rebalance)
    rng.choice(_CHANGES)(rng, after)
    return after


def join(rng: Random, rebalance: Document) -> None:
    """Add a member, or several, subscribed as another member is or at random."""
    members, topics = rebalance["members"], list(rebalance["topics"])
    for _ in range(rng.randint(1, 2)):
        likeness = rng.choice(sorted(members)) if members else None
        if likeness is None or rng.randrange(4) == 0:
            subscription = sorted(some(rng, topics, least=1))
        else:
            subscription = list(members[likeness]["subscription"])
        members[_new_name(rng, members)] = {"subscription": subscription}


def leave(rng: Random, rebalance: Document) -> None:
    """Remove a member, or several, but not the last one."""
    members = rebalance["members"]
    for _ in range(rng.randint(1, 2)):
        if len(members) > 1:
            del members[rng.choice(sorted(members))]


def resubscribe(rng: Random, rebalance: Document) -> None:
    """Change what one member subscribes to; it gives up the topics that it leaves."""
    member = rebalance["members"][rng.choice(sorted(rebalance["members"]))]
    member["subscription"] = sorted(some(rng, list(rebalance["topics"]), least=1))
    owned = member.get("owned", {})
    member["owned"] = {t: ns for t, ns in owned.items() if t in member["subscription"]}


def grow(rng: Random, rebalance: Document) -> None:
    """Add partitions to a topic."""
    topic = rebalance["topics"][rng.choice(sorted(rebalance["topics"]))]
    topic["partitions"] += rng.randint(1, 3)


def stay(rng: Random, rebalance: Document) -> None:
    """Change nothing: a member joined again, and nothing has to move."""


_CHANGES: Final[Sequence[Callable[[Random, Document], None]]] = (
    join,
    join,
    leave,
    leave,
    resubscribe,
    grow,
    stay,
)


def _new_name(rng: Random, members: Document) -> str:
    while True:
        name = f"m{rng.randrange(10 * len(members) + 10)}"
        if name not in members:
            return name
