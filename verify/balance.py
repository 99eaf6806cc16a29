"""Balance, as Kafka means it and in full; or else who passes what to whom.

A member can pass a partition on to any other subscriber of its topic. KIP-54 asks
for one such transfer between two members whose loads differ by two or more. Dec-min
asks for a *chain*: each member on the way passes one on for the one it gets, so
only the two ends change. When no chain leads from a member to one with two or more
fewer, the load vector is lexicographically the least there is, and the other way
round (Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load
balancing", 2003, for every symmetric convex cost at once).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case, Row
from verify.keys import ends

Crowd = frozenset[str]  # the topics that members want who can receive the same


def refuting_transfer(
    case: Case, rows: Sequence[Row], loads: Mapping[str, int]
) -> dict[str, Any] | None:
    """Return the first transfer, by member and topic, that KIP-54 asks for."""
    lowest = _lowest(case, loads)
    takers: dict[str, str | None] = {}
    for member, topic, numbers in sorted(
        row for row in rows if loads[row[0]] >= lowest + 2
    ):
        if topic not in takers:
            subscribers = case.subscribers[topic]
            takers[topic] = min(subscribers, key=loads.__getitem__, default=None)
        taker = takers[topic]
        if taker is not None and loads[member] - loads[taker] >= 2:
            least = min(numbers)
            return {"member": member, "topic": topic, "partition": least, "to": taker}
    return None


def refuting_chain(
    case: Case, rows: Sequence[Row], loads: Mapping[str, int]
) -> list[str] | None:
    """Return a shortest chain, giver first, that evens two members out.

    Every member that is full enough to start a chain starts one, all at once. In
    round n each crowd learns the largest key that a chain of n transfers to it
    starts from; its members pass that on in round n + 1. The first round in which
    some crowd has a member whose next key is less ends the search; so does a round
    in which nobody learns anything new. A crowd learns no key twice, so this takes
    few steps where single searches from each member would take many.
    """
    gives, takes = ends(case, loads)
    lowest = _lowest(case, takes)
    passing = {name: key for name, key in gives.items() if key > lowest}
    if not passing:
        return None
    crowds, seekers = _crowds(case)
    last = {crowd: min(names, key=takes.__getitem__) for crowd, names in crowds.items()}
    held: dict[str, list[str]] = {name: [] for name in loads}
    for member, topic, _ in rows:
        held[member].append(topic)
    offered: dict[str, int] = {}
    arrived: dict[Crowd, int] = dict.fromkeys(crowds, 0)
    rounds: list[dict[Crowd, str]] = []
    while passing:
        givers = _offer(passing, held, offered)
        learned = _learn(givers, offered, seekers, arrived)
        rounds.append(learned)
        even = [last[c] for c in learned if arrived[c] > takes[last[c]]]
        if even:
            return _walk_back(case, rounds, min(even))
        passing = {
            name: arrived[crowd]
            for crowd in learned
            for name in crowds[crowd]
            if arrived[crowd] > gives[name]
        }
    return None


def _offer(
    passing: Mapping[str, int],
    held: Mapping[str, Sequence[str]],
    offered: dict[str, int],
) -> dict[str, str]:
    """Raise what is offered of each topic; return by whom, the fullest first."""
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
    seekers: Mapping[str, Sequence[Crowd]],
    arrived: dict[Crowd, int],
) -> dict[Crowd, str]:
    """Raise what has arrived at each crowd; return from whom, by topic."""
    learned: dict[Crowd, str] = {}
    for topic in sorted(givers):
        for crowd in seekers[topic]:
            if offered[topic] > arrived[crowd]:
                arrived[crowd] = offered[topic]
                learned[crowd] = givers[topic]
    return learned


def _lowest(case: Case, numbers: Mapping[str, int]) -> int:
    """Return the least number of a member that could get something."""
    return min(
        (numbers[name] for name, wanted in case.wants.items() if wanted), default=0
    )


def _crowds(case: Case) -> tuple[dict[Crowd, list[str]], dict[str, list[Crowd]]]:
    """Group members by what they want: crowd -> members, topic -> crowds."""
    crowds: dict[Crowd, list[str]] = {}
    for name, wanted in case.wants.items():
        crowds.setdefault(wanted, []).append(name)
    seekers: dict[str, list[Crowd]] = {}
    for crowd in crowds:
        for topic in crowd:
            seekers.setdefault(topic, []).append(crowd)
    return crowds, seekers


def _walk_back(
    case: Case, rounds: Sequence[Mapping[Crowd, str]], end: str
) -> list[str]:
    """Return the chain to ``end``: who gave, who gave to the giver, and so on."""
    chain = [end]
    for learned in reversed(rounds):
        chain.append(learned[case.wants[chain[-1]]])
    return chain[::-1]
