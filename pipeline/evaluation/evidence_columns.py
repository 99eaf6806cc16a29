"""The judge's evidence against the balances, computed from columns of an instance.

The kernels return exactly the transfer and the chain of `verify.balance` for members
without capacities, ties included: members and topics are in the order of their names,
so the first by name has the least index. The columns are those of an `Instance`: M
members, P partitions, T topics, K classes, of which no two list the same topics; a
class can be without members. ``load`` counts the partitions that each member is
assigned, all of topics to which it subscribes; a partition can be withheld (`NOBODY`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from rebalance import NOBODY, Int32, Int64, kernel

Transfer = tuple[int, int, int, int]
"""Member, topic, number of the partition within the topic, and receiver."""


@kernel
def first_transfer(
    assignee: Int32,
    load: Int64,
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> Transfer:
    """Return the first transfer, by member and topic, that KIP-54 asks for.

    Capacities do not affect it.

    Parameters
    ----------
    assignee : int32 (P,)
    load : int64 (M,)
    topic_offsets : int64 (T+1,)
    member_class : int32 (M,)
    class_offsets : int64 (K+1,)
    class_topics : int32

    Returns
    -------
    tuple of int
        The least number that the member holds of the topic, and the first subscriber
        of least load. The member is `NOBODY` if the assignment is KIP-54 balanced.
    """
    topics = topic_offsets.size - 1
    emptiest = np.full(topics, NOBODY, np.int32)  # of the subscribers
    receivers = _receivers(load, member_class, class_offsets.size - 1)
    for k in range(receivers.size):
        m = receivers[k]
        if m != NOBODY:
            for i in range(class_offsets[k], class_offsets[k + 1]):
                to = emptiest[class_topics[i]]
                if to == NOBODY or (load[m], m) < (load[to], to):
                    emptiest[class_topics[i]] = m
    giver, topic, number, receiver = NOBODY, 0, 0, NOBODY
    for t in range(topics):
        to = emptiest[t]
        if to != NOBODY:
            for p in range(topic_offsets[t], topic_offsets[t + 1]):
                m = assignee[p]
                is_earlier = m != NOBODY and (giver == NOBODY or m < giver)
                if is_earlier and load[m] - load[to] >= 2:
                    giver, topic, number, receiver = m, t, p - topic_offsets[t], to
    return giver, topic, number, receiver


@kernel
def shortest_chain(
    assignee: Int32,
    load: Int64,
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> Int32:
    """Return a shortest chain, giver first, that evens two members out.

    This is the breadth-first search of `verify.balance.refuting_chain`, with loads as
    keys. Let the receiver of a class have load r. Its members pass on only keys larger
    than their loads, and a key larger than r + 1 ends the search, so the class passes
    on r + 1 alone, in one round, and one source per class is enough. A round takes
    O(P + M + topics of all classes). See `first_transfer` for the columns.

    Returns
    -------
    int32
        Members; none if the assignment is dec-min balanced.
    """
    receivers = _receivers(load, member_class, class_offsets.size - 1)
    least = load.min() if load.size else 0
    passing = np.where(load >= least + 2, load, 0)  # lesser keys even nothing out
    offered = np.zeros(topic_offsets.size - 1, np.int64)
    arrived = np.zeros(receivers.size, np.int64)
    source = np.full(receivers.size, NOBODY, np.int32)  # of each class: a giver
    transfers = 0
    while passing.any():
        transfers += 1
        givers = _offer(passing, assignee, topic_offsets, offered)
        learned = _learn(givers, offered, class_offsets, class_topics, arrived)
        end = NOBODY
        for k in range(receivers.size):
            to = receivers[k]
            if to != NOBODY and arrived[k] >= load[to] + 2:
                end = to if end == NOBODY else min(end, to)
        if end != NOBODY:
            chain = np.empty(transfers + 1, np.int32)
            chain[-1] = end
            chain[-2] = learned[member_class[end]]
            for place in range(transfers - 2, -1, -1):
                chain[place] = source[member_class[chain[place + 1]]]
            return chain
        for k in range(receivers.size):
            if learned[k] != NOBODY:
                source[k] = learned[k]
        for m in range(load.size):
            k = member_class[m]
            has_learned = learned[k] != NOBODY and arrived[k] > load[m]
            passing[m] = arrived[k] if has_learned else 0
    return np.empty(0, np.int32)


@kernel
def _receivers(load: Int64, member_class: Int32, classes: int) -> Int32:
    """Return the first member of least load of each class, int32 (K,), or NOBODY."""
    receivers = np.full(classes, NOBODY, np.int32)
    for m in range(load.size):
        to = receivers[member_class[m]]
        if to == NOBODY or load[m] < load[to]:
            receivers[member_class[m]] = m
    return receivers


@kernel
def _offer(
    passing: Int64, assignee: Int32, topic_offsets: Int64, offered: Int64
) -> Int32:
    """Raise the key offered with each topic; return by whom, int32 (T,), or NOBODY."""
    givers = np.full(offered.size, NOBODY, np.int32)
    for t in range(offered.size):
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            m = assignee[p]
            if m != NOBODY:
                is_first = passing[m] == offered[t] and m < givers[t]
                if passing[m] > offered[t] or is_first:
                    offered[t], givers[t] = passing[m], m
    return givers


@kernel
def _learn(
    givers: Int32,
    offered: Int64,
    class_offsets: Int64,
    class_topics: Int32,
    arrived: Int64,
) -> Int32:
    """Raise the key that has arrived at each class; return from whom, int32 (K,)."""
    learned = np.full(arrived.size, NOBODY, np.int32)
    for k in range(arrived.size):
        for i in range(class_offsets[k], class_offsets[k + 1]):
            t = class_topics[i]
            if offered[t] > arrived[k]:  # so it was raised in this round
                arrived[k], learned[k] = offered[t], givers[t]
    return learned


def evidence_text(
    transfer: Transfer,
    chain: Sequence[int] | Int32,
    members: Sequence[str],
    topics: Sequence[str],
) -> str | None:
    """Write a transfer and a chain as JSON with sorted keys, as the audit's tables do.

    ``members`` and ``topics`` are sorted names. None if neither balance is refuted.
    """
    evidence: dict[str, Any] = {}
    member, topic, number, to = transfer
    if member != NOBODY:
        evidence["kip54_balanced"] = {
            "member": members[member],
            "topic": topics[topic],
            "partition": int(number),
            "to": members[to],
        }
    if len(chain):
        evidence["dec_min_balanced"] = [members[m] for m in chain]
    if not evidence:
        return None
    return orjson.dumps(evidence, option=orjson.OPT_SORT_KEYS).decode()
