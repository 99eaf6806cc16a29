"""Blocks of a certificate: topics and members that balance ties to each other.

In every dec-min assignment a partition goes to a subscriber of its topic with the
lowest level (docs/method.md). The connected components of topics and these subscribers
are the blocks: all partitions of the topics go to the members, which get no others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Instance, Int32
from solver.exact import OUTSIDE, OptimalFace, optimal_face_of
from solver.result import Certificate


class Block(NamedTuple):
    """Topics and members of one connected component; rows in ascending order."""

    place: int  # rank of the level, from 0
    topics: list[int]
    members: list[int]


def blocks_of(instance: Instance, certificate: Certificate) -> list[Block]:
    """Return the blocks, the highest level first, then the largest."""
    face = optimal_face_of(instance, certificate)
    parent = list(range(len(instance.topics)))

    def root(topic: int) -> int:
        while parent[topic] != topic:
            parent[topic] = parent[parent[topic]]
            topic = parent[topic]
        return topic

    topic_of_kind: dict[tuple[int, int], int] = {}
    for kind in _kinds(instance, face):
        topics = eligible_topics(instance, face, *kind)
        if topics:
            topic_of_kind[kind] = topics[0]
            for topic in topics[1:]:
                parent[root(topic)] = root(topics[0])
    found: dict[int, Block] = {}
    for topic in np.flatnonzero(face.floor != OUTSIDE).tolist():
        place = int(face.floor[topic])
        found.setdefault(root(topic), Block(place, [], [])).topics.append(topic)
    kinds = zip(instance.member_class.tolist(), face.place.tolist(), strict=True)
    for member, kind in enumerate(kinds):
        if kind in topic_of_kind:
            found[root(topic_of_kind[kind])].members.append(member)
    return sorted(
        found.values(),
        key=lambda block: (-block.place, -len(block.members), block.topics),
    )


def eligible_topics(
    instance: Instance, face: OptimalFace, subscription: int, place: int
) -> list[int]:
    """Return the topics of a subscription class that go to its members of a level."""
    offsets = instance.class_offsets[subscription : subscription + 2].tolist()
    topics: Int32 = instance.class_topics[slice(*offsets)]
    found: list[int] = topics[face.floor[topics] == place].tolist()
    return found


def _kinds(instance: Instance, face: OptimalFace) -> list[tuple[int, int]]:
    """Return the pairs of subscription class and level that members have."""
    inside = face.place != OUTSIDE
    pairs = zip(
        instance.member_class[inside].tolist(), face.place[inside].tolist(), strict=True
    )
    return sorted(set(pairs))
