"""Claims that no balanced assignment keeps together, read from a certificate's prices.

The members of a block whose price is at least some value form a set S. A claim whose
owner is in S and eligible can stay within S only where there is room: together the
members of S hold at most ``room`` partitions, and ``others``, which only they can hold,
take part of it. So at least claims + others - room of the claims leave S. The engine's
prices select the sets for which this is tight (docs/explain.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Bools, Instance, Int64
from solver.exact import OUTSIDE, OptimalFace, optimal_face_of
from solver.explanation.blocks import Block, eligible_topics
from solver.result import Certificate


class Crowd(NamedTuple):
    """Members that claim more than they can keep together."""

    block: Block
    members: list[int]
    claims: int  # partitions of which one of them is owner, and eligible
    others: int  # without an eligible owner, that only they can hold
    room: int  # the most that they hold together in a balanced assignment

    @property
    def leaving(self) -> int:
        """At least so many of the claims go to other members."""
        return self.claims + self.others - self.room


class Outranked(NamedTuple):
    """Claims on a topic that goes to members with a lower level than their owner."""

    member: int
    topic: int
    partitions: list[int]  # rows


def crowds_of(
    instance: Instance, certificate: Certificate, blocks: list[Block]
) -> list[Crowd]:
    """Return the crowded sets of members, those with the most to leave first.

    The prices of the certificate count moves alone (`Certificate.weights` is None).
    """
    face = optimal_face_of(instance, certificate)
    price = np.asarray(certificate.price, np.int64)
    eligible = _has_eligible_owner(instance, face)
    topic = instance.partition_topic
    n_topics = len(instance.topics)
    open_count = np.bincount(topic[~eligible], minlength=n_topics)
    cheapest = _cheapest(instance, face, price)
    rows = np.argsort(topic[eligible], kind="stable")
    claim_topic = topic[eligible][rows]
    claim_price = price[instance.owner[eligible]][rows]
    ends = np.searchsorted(claim_topic, np.arange(n_topics + 1)).tolist()
    found = []
    for block in blocks:
        members = np.array(block.members)
        topics = np.array(block.topics)
        slices = [claim_price[ends[t] : ends[t + 1]] for t in block.topics]
        paid = np.concatenate(slices)
        extra = int(instance.topic_sizes[topics].sum() - face.low[members].sum())
        for least in np.unique(price[members])[:0:-1].tolist():
            inside = members[price[members] >= least]
            more = np.count_nonzero(face.high[inside] > face.low[inside])
            crowd = Crowd(
                block,
                inside.tolist(),
                int(np.count_nonzero(paid >= least)),
                int(open_count[topics[cheapest[topics] >= least]].sum()),
                int(face.low[inside].sum()) + min(extra, int(more)),
            )
            if crowd.leaving > 0:
                found.append(crowd)
    return sorted(found, key=lambda crowded: (-crowded.leaving, len(crowded.members)))


def outranked_claims(instance: Instance, certificate: Certificate) -> list[Outranked]:
    """Return the claims that balance itself forbids, per member and topic."""
    face = optimal_face_of(instance, certificate)
    owned = instance.owner != NOBODY
    rows = np.flatnonzero(owned & ~_has_eligible_owner(instance, face))
    found: dict[tuple[int, int], Outranked] = {}
    for row in rows.tolist():
        pair = int(instance.owner[row]), int(instance.partition_topic[row])
        found.setdefault(pair, Outranked(*pair, [])).partitions.append(row)
    return sorted(
        found.values(),
        key=lambda outranked: (-len(outranked.partitions), outranked[:2]),
    )


def _has_eligible_owner(instance: Instance, face: OptimalFace) -> Bools:
    """Return whether the owner has the lowest level of the subscribers, bool (P,)."""
    floor = face.floor[instance.partition_topic]
    owned = instance.owner != NOBODY
    place = np.append(face.place, OUTSIDE)[instance.owner]  # the last for `NOBODY`
    return np.asarray(owned & (place == floor))


def _cheapest(instance: Instance, face: OptimalFace, price: Int64) -> Int64:
    """Return the least price of an eligible member, per topic, int64 (T,)."""
    least = np.full(len(instance.topics), np.iinfo(np.int64).max)
    kinds: dict[tuple[int, int], int] = {}
    places = zip(instance.member_class.tolist(), face.place.tolist(), strict=True)
    for kind, paid in zip(places, price.tolist(), strict=True):
        kinds[kind] = min(paid, kinds.get(kind, paid))
    for (subscription, place), paid in kinds.items():
        topics = eligible_topics(instance, face, subscription, place)
        least[topics] = np.minimum(least[topics], paid)
    return least
