"""KIP-54 balance and dec-min balance, or the transfers that refute them.

A member can transfer a partition to any other subscriber of its topic. KIP-54 balance
is refuted by one transfer between members whose loads differ by two or more. Dec-min
balance is refuted by a *chain*: each member on the way passes one partition on for the
one it receives, so that only the two ends change. Where no chain leads from a member to
one with two or more fewer, the load vector is lexicographically least, and conversely
(Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load
balancing", 2003, for every symmetric convex cost at once).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case
from verify.columns import Columns
from verify.keys import end_keys

Class = frozenset[str]  # a subscription, for all members that share it


def refuting_transfer(
    case: Case, columns: Columns, loads: Mapping[str, int]
) -> dict[str, Any] | None:
    """Return the first transfer, by member and topic, that KIP-54 asks for."""
    lowest = _lowest(case, loads)
    fuller = {name for name, load in loads.items() if load >= lowest + 2}
    if not fuller:
        return None
    emptiest: dict[str, str] = {}  # subscriber, of topics with equal subscribers
    found: list[tuple[str, str, str]] = []
    for topic, first in case.audience.items():
        givers = fuller.intersection(columns.holders[topic])
        if givers and first not in emptiest:
            emptiest[first] = min(case.subscribers[first], key=loads.__getitem__)
        found += [
            (member, topic, emptiest[first])
            for member in givers
            if loads[member] - loads[emptiest[first]] >= 2
        ]
    if not found:
        return None
    member, topic, to = min(found)
    least = columns.holders[topic].index(member)
    return {"member": member, "topic": topic, "partition": least, "to": to}


def refuting_chain(
    case: Case, columns: Columns, loads: Mapping[str, int]
) -> list[str] | None:
    """Return a shortest chain, giver first, that evens two members out.

    A breadth-first search from all members at once: in round n each subscription
    class learns the largest key from which a chain of n transfers leads to it, and its
    members pass that key on in round n + 1. It ends when a class has a member whose
    next key is less, or when no class learns a larger key.
    """
    gives, takes = end_keys(case, loads)
    lowest = _lowest(case, takes)
    passing = {name: key for name, key in gives.items() if key > lowest}
    if not passing:
        return None
    classes, seekers = case.classes, case.seekers
    last = {c: min(names, key=takes.__getitem__) for c, names in classes.items()}
    held: dict[str | None, list[str]] = {name: [] for name in (*loads, None)}
    for topic, holders in columns.holders.items():
        for member in set(holders):
            held[member].append(topic)
    offered: dict[str, int] = {}
    arrived: dict[Class, int] = dict.fromkeys(classes, 0)
    rounds: list[dict[Class, str]] = []
    while passing:
        learned = _learn(_offer(passing, held, offered), offered, seekers, arrived)
        rounds.append(learned)
        even = [last[c] for c in learned if arrived[c] > takes[last[c]]]
        if even:
            chain = [min(even)]  # backwards: its giver, that giver's giver, and so on
            for givers in reversed(rounds):
                chain.append(givers[case.wants[chain[-1]]])
            return chain[::-1]
        passing = {
            name: arrived[member_class]
            for member_class in learned
            for name in classes[member_class]
            if arrived[member_class] > gives[name]
        }
    return None


def _offer(
    passing: Mapping[str, int],
    held: Mapping[str | None, Sequence[str]],
    offered: dict[str, int],
) -> dict[str, str]:
    """Raise the key offered with each topic; return by whom, the fullest first."""
    givers: dict[str, str] = {}
    for member in sorted(passing, key=lambda name: (-passing[name], name)):
        for topic in held[member]:
            if passing[member] > offered.get(topic, 0):
                offered[topic] = passing[member]
                givers[topic] = member
    return givers


def _learn(
    givers: Mapping[str, str],
    offered: Mapping[str, int],
    seekers: Mapping[str, Sequence[Class]],
    arrived: dict[Class, int],
) -> dict[Class, str]:
    """Raise the key that has arrived at each class; return from whom."""
    learned: dict[Class, str] = {}
    for topic in sorted(givers):
        for seeker in seekers[topic]:
            if offered[topic] > arrived[seeker]:
                arrived[seeker] = offered[topic]
                learned[seeker] = givers[topic]
    return learned


def _lowest(case: Case, numbers: Mapping[str, int]) -> int:
    """Return the least number of a member that could receive a partition."""
    return min(map(numbers.__getitem__, case.in_play), default=0)
