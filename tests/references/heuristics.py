"""Slow references of the published algorithms, on documents, partition by partition.

They follow the texts of the sources (Javadoc, KIPs, the lag assignor's README) and
share no code with ``heuristics``; differential tests compare both.
"""

from __future__ import annotations

from tests.support.shapes import Document

Held = dict[str, dict[str, list[int]]]


def java(text: str) -> list[int]:
    """Return a key that sorts as ``String.compareTo`` does."""
    raw = text.encode("utf-16-be")
    return [256 * high + low for high, low in zip(raw[::2], raw[1::2], strict=True)]


def members_in_order(document: Document) -> list[str]:
    """Static members by instance id, then the others by member id (KIP-345)."""
    members = document["members"]
    static = [m for m in members if members[m].get("instance_id") is not None]
    dynamic = [m for m in members if m not in static]
    by_instance = sorted(
        static, key=lambda m: (java(members[m]["instance_id"]), java(m))
    )
    return by_instance + sorted(dynamic, key=java)


def topics_in_order(document: Document) -> list[str]:
    return sorted(document["topics"], key=java)


def wants(document: Document, member: str, topic: str) -> bool:
    return topic in document["members"][member]["subscription"]


def size(document: Document, topic: str) -> int:
    count: int = document["topics"][topic]["partitions"]
    return count


def nobody(document: Document) -> Held:
    return {member: {} for member in document["members"]}


def give(held: Held, member: str, topic: str, number: int) -> None:
    held[member].setdefault(topic, []).append(number)
    held[member][topic].sort()


def round_robin(document: Document) -> Held:
    held = nobody(document)
    circle = members_in_order(document)
    for topic in topics_in_order(document):
        if not any(wants(document, m, topic) for m in circle):
            continue
        for number in range(size(document, topic)):
            while not wants(document, circle[0], topic):
                circle.append(circle.pop(0))
            give(held, circle[0], topic, number)
            circle.append(circle.pop(0))
    return held


def lag_aware(document: Document) -> Held:
    held = nobody(document)
    for topic, about in document["topics"].items():
        lag = about.get("lag") or [0] * about["partitions"]
        takers = [m for m in document["members"] if wants(document, m, topic)]
        if not takers:
            continue
        for number in sorted(range(len(lag)), key=lambda n: (-lag[n], n)):

            def burden(member: str) -> tuple[int, int, list[int]]:
                mine = held[member].get(topic, [])  # noqa: B023
                return len(mine), sum(lag[n] for n in mine), java(member)  # noqa: B023

            give(held, min(takers, key=burden), topic, number)
    return held


def believed(document: Document, *, current_only: bool = False) -> Held:
    """Resolve the claims, partition by partition, by the rules of the documents."""
    owned = nobody(document)
    members = document["members"]
    generation = {m: members[m].get("generation", -1) for m in members}
    newest_of_all = max(generation.values(), default=-1)
    for topic in document["topics"]:
        for number in range(size(document, topic)):
            claimants = [
                m
                for m in members
                if number in members[m].get("owned", {}).get(topic, [])
                and wants(document, m, topic)
                and not (current_only and generation[m] < newest_of_all)
            ]
            newest = max((generation[m] for m in claimants), default=-1)
            left = [m for m in claimants if generation[m] == newest]
            if len(left) == 1:
                give(owned, left[0], topic, number)
    return owned


def flat(held: dict[str, list[int]]) -> list[tuple[str, int]]:
    """List partitions by topic, then number."""
    return [(t, n) for t in sorted(held, key=java) for n in sorted(held[t])]


def constrained_sticky(document: Document, *, current_only: bool = False) -> Held:
    """Walk through KIP-615's steps with lists."""
    owned = believed(document, current_only=current_only)
    members = sorted(document["members"], key=java)
    if not members:
        return {}
    unassigned = [
        (topic, number)
        for topic in topics_in_order(document)
        if wants(document, members[0], topic)
        for number in range(size(document, topic))
    ]
    min_quota, expected_over = divmod(len(unassigned), len(members))
    max_quota = min_quota + 1
    held = nobody(document)
    under, exactly, n_over = [], [], 0
    for member in members:
        mine = sorted(flat(owned[member]), key=lambda tp: (tp[1], java(tp[0])))
        if len(mine) < min_quota:
            under.append(member)
        elif len(mine) >= max_quota and n_over < expected_over:
            n_over += 1
            mine = mine[:max_quota]
        else:
            mine = mine[:min_quota]
            exactly.append(member)
        for topic, number in mine:
            give(held, member, topic, number)
            unassigned.remove((topic, number))
    while under and unassigned:
        for member in list(under):
            give(held, member, *unassigned.pop(0))
            if len(flat(held[member])) == min_quota:
                under.remove(member)
                exactly.append(member)
    for topic, number in unassigned:
        give(held, exactly.pop(0), topic, number)
    return held
