"""The order of sizes by which one rebalance is smaller than another."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
Size = tuple[int, ...]

_OPTIONAL = ("rack", "instance_id", "capacity", "generation", "owned")


def size_of(rebalance: Document) -> Size:
    """Return the compared values, first to last.

    Members, partitions, topics, claims, and subscriptions; then optional fields,
    different generations, and the sum of the generations.
    """
    topics, members = rebalance["topics"].values(), rebalance["members"].values()
    named = set(rebalance["topics"])
    generations = [member["generation"] for member in members if "generation" in member]
    for member in members:
        named |= {*member["subscription"], *member.get("owned", {})}
    return (
        len(members),
        sum(topic["partitions"] for topic in topics),
        len(named),
        sum(len(numbers) for m in members for numbers in m.get("owned", {}).values()),
        sum(len(member["subscription"]) for member in members),
        sum(field in member for member in members for field in _OPTIONAL)
        + sum(field in topic for topic in topics for field in ("lag", "racks")),
        len(set(generations)),
        sum(generations),
    )
