"""Structure-aware steps: each yields candidates that removing parts cannot reach.

Members and topics are merged, topics are truncated, several topics at a time, and
subscriptions, generations, and claims become equal or go for a whole generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, Final

from conformance.shrinking.removable_parts import only_partitions

Document = dict[str, Any]
Step = Callable[[Document], Iterator[Document]]


def merged_members(rebalance: Document) -> Iterator[Document]:
    """Let one member have the subscriptions and claims of two; its fields stay."""
    for kept, gone in permutations(sorted(rebalance["members"]), 2):
        mine, theirs = rebalance["members"][kept], rebalance["members"][gone]
        wanted = dict.fromkeys([*mine["subscription"], *theirs["subscription"]])
        merged = mine | {"subscription": list(wanted)}
        if "owned" in mine or "owned" in theirs:
            merged["owned"] = _united(mine.get("owned", {}), theirs.get("owned", {}))
        yield _with_members(rebalance, {kept: merged}, without=gone)


def merged_topics(rebalance: Document) -> Iterator[Document]:
    """Rename a topic to another one, which has the partitions of the larger, or both.

    In the second case, the partitions of the renamed topic come behind the others.
    """
    for kept, gone in permutations(sorted(rebalance["topics"]), 2):
        mine, theirs = (rebalance["topics"][topic] for topic in (kept, gone))
        if mine["partitions"] >= theirs["partitions"]:
            yield _renamed_topic(rebalance, gone, kept, mine, shift=0)
        if set(mine) == set(theirs):
            both = {field: mine[field] + theirs[field] for field in mine}
            yield _renamed_topic(
                rebalance, gone, kept, both, shift=int(mine["partitions"])
            )


def shorter_topics(rebalance: Document) -> Iterator[Document]:
    """Truncate all topics, or one or two of them: by halves, quarters, and so on."""
    sizes = {t: int(about["partitions"]) for t, about in rebalance["topics"].items()}
    names = sorted(topic for topic, size in sizes.items() if size)
    largest = max(sizes.values(), default=0)
    groups = [(name,) for name in names] + list(combinations(names, 2))
    for some in ([tuple(names)] if len(names) > 2 else []) + groups:
        yield from _truncated(rebalance, some, sizes)
    divisor = 2
    while divisor <= largest:
        yield _resized(rebalance, {t: -(-size // divisor) for t, size in sizes.items()})
        divisor *= 2


def without_a_generation(rebalance: Document) -> Iterator[Document]:
    """Drop the claims and the generation of all members of a generation."""
    members = rebalance["members"]
    for generation in _stated_generations(members):
        dropped = {
            name: {k: v for k, v in member.items() if k not in ("owned", "generation")}
            for name, member in members.items()
            if member.get("generation") == generation
        }
        yield _with_members(rebalance, dropped)


def equal_generations(rebalance: Document) -> Iterator[Document]:
    """Give the members of one generation the number of a lower one."""
    members = rebalance["members"]
    for lower, higher in combinations(_stated_generations(members), 2):
        changed = {
            name: member | {"generation": lower}
            for name, member in members.items()
            if member.get("generation") == higher
        }
        yield _with_members(rebalance, changed)


def equal_subscriptions(rebalance: Document) -> Iterator[Document]:
    """Give all members the subscription of one, or one that of another."""
    members = rebalance["members"]
    for name in sorted(members):
        same = {"subscription": list(members[name]["subscription"])}
        yield _with_members(
            rebalance, {m: member | same for m, member in members.items()}
        )
    for name, other in permutations(sorted(members), 2):
        same = {"subscription": list(members[other]["subscription"])}
        yield _with_members(rebalance, {name: members[name] | same})


def without_claims(rebalance: Document) -> Iterator[Document]:
    """Drop all claims of a member, or all claims on a topic."""
    members = rebalance["members"]
    for name in sorted(members):
        if members[name].get("owned"):
            yield _with_members(rebalance, {name: members[name] | {"owned": {}}})
    claimed = {
        topic for member in members.values() for topic in member.get("owned", {})
    }
    for topic in sorted(claimed):
        changed = {}
        for name, member in members.items():
            if topic in member.get("owned", {}):
                left = {t: ns for t, ns in member["owned"].items() if t != topic}
                changed[name] = member | {"owned": left}
        yield _with_members(rebalance, changed)


STRUCTURE: Final[Sequence[Step]] = (
    merged_members,
    merged_topics,
    shorter_topics,
    without_a_generation,
    without_claims,
    equal_subscriptions,
    equal_generations,
)


def exchanged_subscriptions(rebalance: Document) -> Iterator[Document]:
    """Exchange the subscriptions of two members."""
    members = rebalance["members"]
    for name, other in combinations(sorted(members), 2):
        mine, theirs = (members[m]["subscription"] for m in (name, other))
        if mine != theirs:
            yield _with_members(
                rebalance,
                {
                    name: members[name] | {"subscription": theirs},
                    other: members[other] | {"subscription": mine},
                },
            )


def exchanged_names(rebalance: Document) -> Iterator[Document]:
    """Exchange the names of two members."""
    members = rebalance["members"]
    for name, other in combinations(sorted(members), 2):
        yield _with_members(rebalance, {name: members[other], other: members[name]})


def passed_claims(rebalance: Document) -> Iterator[Document]:
    """Pass a claim to another member that subscribes to the topic."""
    members = rebalance["members"]
    for name, other in permutations(sorted(members), 2):
        for topic, numbers in sorted(members[name].get("owned", {}).items()):
            mine = members[other].get("owned", {}).get(topic, [])
            if topic not in members[other]["subscription"]:
                continue
            for number in (n for n in sorted(numbers) if n not in mine):
                left = [n for n in numbers if n != number]
                owned = members[name]["owned"] | {topic: left}
                given = members[other].get("owned", {}) | {topic: [*mine, number]}
                yield _with_members(
                    rebalance,
                    {
                        name: members[name]
                        | {"owned": {t: ns for t, ns in owned.items() if ns}},
                        other: members[other] | {"owned": given},
                    },
                )


def another_subscription(rebalance: Document) -> Iterator[Document]:
    """Let a member subscribe to one more topic, or to one instead of another."""
    for name, member in sorted(rebalance["members"].items()):
        wanted = member["subscription"]
        for topic in (t for t in sorted(rebalance["topics"]) if t not in wanted):
            yield _with_members(
                rebalance, {name: member | {"subscription": [*wanted, topic]}}
            )
            for left in wanted:
                rest = [t for t in wanted if t != left]
                yield _with_members(
                    rebalance, {name: member | {"subscription": [*rest, topic]}}
                )


SIDEWAYS: Final[Sequence[Step]] = (
    exchanged_subscriptions,
    exchanged_names,
    passed_claims,
    another_subscription,
)
"""Steps to rebalances that are not smaller, from which smaller ones can be reached."""


def _stated_generations(members: Mapping[str, Document]) -> list[int]:
    """Return the generations of the members, each once, lowest first."""
    stated = (member for member in members.values() if "generation" in member)
    return sorted({int(member["generation"]) for member in stated})


def _truncated(
    rebalance: Document, topics: Sequence[str], sizes: Mapping[str, int]
) -> Iterator[Document]:
    """Remove the last partitions of each topic, as many of each: many, then few."""
    amount = max(sizes[topic] for topic in topics) // 2
    while amount:
        kept = {topic: max(sizes[topic] - amount, 0) for topic in topics}
        yield _resized(rebalance, dict(sizes) | kept)
        amount //= 2


def _resized(rebalance: Document, sizes: Mapping[str, int]) -> Document:
    """Keep the first partitions of each topic; claims on the others go."""
    kept = [(topic, n) for topic, size in sizes.items() for n in range(size)]
    return only_partitions(rebalance, kept)


def _renamed_topic(
    rebalance: Document, gone: str, kept: str, merged: Document, *, shift: int
) -> Document:
    topics = {t: about for t, about in rebalance["topics"].items() if t != gone}
    members = {}
    for name, member in rebalance["members"].items():
        wanted = [kept if topic == gone else topic for topic in member["subscription"]]
        members[name] = member | {"subscription": list(dict.fromkeys(wanted))}
        if "owned" in member:
            others = {t: ns for t, ns in member["owned"].items() if t != gone}
            moved = [n + shift for n in member["owned"].get(gone, ())]
            members[name]["owned"] = _united(others, {kept: moved} if moved else {})
    return rebalance | {"topics": topics | {kept: merged}, "members": members}


def _united(
    mine: Mapping[str, Sequence[int]], theirs: Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:
    topics = dict.fromkeys([*mine, *theirs])
    return {t: sorted({*mine.get(t, ()), *theirs.get(t, ())}) for t in topics}


def _with_members(
    rebalance: Document, changed: Mapping[str, Document], without: str | None = None
) -> Document:
    """Return the rebalance with other members, in their former order."""
    members = {
        name: changed.get(name, member)
        for name, member in rebalance["members"].items()
        if name != without
    }
    return rebalance | {"members": members}
