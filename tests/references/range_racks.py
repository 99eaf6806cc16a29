"""Slow reference of ``range``, including racks, that follows the text of KIP-881.

Shares no code with ``heuristics``. Remaining quotas are recounted at each step.
"""

from __future__ import annotations

from itertools import groupby

from tests.references.heuristics import (
    Held,
    give,
    java,
    members_in_order,
    nobody,
    size,
    wants,
)
from tests.support.shapes import Document


def takers(document: Document, topic: str) -> list[str]:
    return [m for m in members_in_order(document) if wants(document, m, topic)]


def racks_of(document: Document, topic: str, number: int) -> set[str]:
    listed = document["topics"][topic].get("racks")
    return set(listed[number]) if listed else set()


def matches(document: Document, member: str, topic: str, number: int) -> bool:
    """Return whether the member is in the rack; one without a rack is in every rack."""
    rack = document["members"][member].get("rack")
    return not rack or rack in racks_of(document, topic, number)


def needs_racks(document: Document, topic: str) -> bool:
    """Return whether racks are shared, and some partition is not in all of them."""
    near = {document["members"][m].get("rack") for m in takers(document, topic)}
    each = [racks_of(document, topic, n) for n in range(size(document, topic))]
    of_all = set().union(*each)
    shared = (near - {None, ""}) & of_all
    return bool(shared) and any(racks != of_all for racks in each)


def room(document: Document, held: Held, member: str, topic: str) -> int:
    """Count what the member may still get: as many have one more as are left over."""
    everybody = takers(document, topic)
    share, n_extra = divmod(size(document, topic), len(everybody))
    n_over = sum(len(held[m].get(topic, [])) > share for m in everybody)
    has = len(held[member].get(topic, []))
    return max(0, share + (n_over < n_extra) - has)


def is_open(held: Held, topic: str, number: int) -> bool:
    return all(number not in mine.get(topic, []) for mine in held.values())


def give_first(document: Document, held: Held, topic: str, *, near: bool) -> None:
    """Give each taker in turn its first open partitions, maybe only near ones."""
    for member in takers(document, topic):
        found = [
            number
            for number in range(size(document, topic))
            if is_open(held, topic, number)
            and (not near or matches(document, member, topic, number))
        ]
        for number in found[: room(document, held, member, topic)]:
            give(held, member, topic, number)


def give_together(document: Document, held: Held, topics: list[str]) -> None:
    """Give a number of all the topics to the first with room who is near all."""
    for number in range(size(document, topics[0])):
        for member in takers(document, topics[0]):
            if all(
                matches(document, member, topic, number)
                and room(document, held, member, topic)
                for topic in topics
            ):
                for topic in topics:
                    give(held, member, topic, number)
                break


def range_(document: Document) -> Held:
    held = nobody(document)
    topics = [t for t in document["topics"] if takers(document, t)]

    def alike(topic: str) -> tuple[int, list[list[int]]]:
        return size(document, topic), [java(m) for m in takers(document, topic)]

    if any(needs_racks(document, topic) for topic in topics):
        for _, grouped in groupby(sorted(topics, key=alike), key=alike):
            together = list(grouped)
            if len(together) > 1:
                give_together(document, held, together)
            elif needs_racks(document, together[0]):
                give_first(document, held, together[0], near=True)
    for topic in topics:
        give_first(document, held, topic, near=False)
    return held
