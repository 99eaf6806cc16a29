"""Random share groups, and their changes: more members than partitions, too.

Subscriptions are equal in half of the groups, because Kafka's assignor balances those
otherwise than mixed ones. The last answer is the target assignment before the next.
"""

from __future__ import annotations

from random import Random
from typing import Any

Document = dict[str, Any]


def draw_share_group(rng: Random) -> Document:
    """Return a new group as a rebalance/1 document, without a target assignment."""
    topics = {f"t{n}": {"partitions": rng.choice((1, 1, 2, 3, 5, 8))} for n in range(4)}
    if rng.randrange(6) == 0:
        topics["t3"] = {"partitions": 0}
    members: Document = {}
    wanted = _wanted(rng, topics)
    is_equal = rng.randrange(2) == 0
    for n in range(rng.choice((1, 2, 3, 5, 8, 13, 30))):
        mine = wanted if is_equal else _wanted(rng, topics)
        members[f"m{n:02}"] = {"subscription": mine}
    return {
        "format": "rebalance/1",
        "group": "share",
        "topics": topics,
        "members": members,
    }


def change_share_group(rng: Random, group: Document, held: Document) -> Document:
    """Return the group after one to three changes; ``held`` is its last answer."""
    topics = {name: {**topic} for name, topic in group["topics"].items()}
    members = {
        name: {"subscription": member["subscription"], "owned": held.get(name, {})}
        for name, member in group["members"].items()
    }
    for _ in range(rng.randint(1, 3)):
        _change(rng, topics, members)
    kept = {
        name: member
        | {"owned": {t: ns for t, ns in member.get("owned", {}).items() if t in topics}}
        for name, member in members.items()
    }
    return group | {"topics": topics, "members": kept}


def _change(rng: Random, topics: Document, members: Document) -> None:
    match rng.randrange(8):
        case 0 | 1 | 2:
            like = members[rng.choice(sorted(members))]["subscription"]
            wanted = _wanted(rng, topics) if rng.randrange(4) == 0 else like
            for _ in range(rng.choice((1, 1, 4))):
                name = f"n{rng.randrange(10**6):06}"
                members[name] = {"subscription": wanted}
        case 3 | 4:
            for name in rng.sample(sorted(members), k=min(2, len(members) - 1)):
                del members[name]
        case 5:
            members[rng.choice(sorted(members))]["subscription"] = _wanted(rng, topics)
        case 6:
            wanted = _wanted(rng, topics)  # as after a new release of all members
            for member in members.values():
                member["subscription"] = wanted
        case 7:
            name = rng.choice(sorted(topics))
            if rng.randrange(3) == 0 and len(topics) > 1:
                del topics[name]  # members can still subscribe to it
            else:
                topics[name]["partitions"] += rng.randint(1, 3)


def _wanted(rng: Random, topics: Document) -> list[str]:
    names = sorted(topics)
    if rng.randrange(12) == 0:
        return ["missing"] if rng.randrange(2) else []
    return sorted(rng.sample(names, k=rng.randint(1, len(names))))
