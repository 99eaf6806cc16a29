"""The judge's questions, answered the slow and obvious way."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import combinations
from math import lcm

from tests.support.shapes import Document

TP = tuple[str, int]


def wants(instance: Document) -> dict[str, set[str]]:
    """Return member -> the topics it subscribes to that exist."""
    members = instance["members"].items()
    return {m: set(v["subscription"]) & instance["topics"].keys() for m, v in members}


def holds(assignment: Document) -> dict[str, list[TP]]:
    """Return member -> the partitions it is given."""
    return {
        member: [(topic, n) for topic, numbers in held.items() for n in numbers]
        for member, held in assignment["members"].items()
    }


def served(instance: Document) -> set[TP]:
    """Return the partitions that somebody subscribes to."""
    wanted = set().union(*wants(instance).values())
    topics = instance["topics"].items()
    return {(t, n) for t, v in topics if t in wanted for n in range(v["partitions"])}


def claimants(instance: Document, claim_rule: str) -> dict[TP, set[str]]:
    """Return partition -> members whose claim on it is the newest that counts."""
    wanted, exists = wants(instance), served(instance)
    generation = {m: v.get("generation", -1) for m, v in instance["members"].items()}
    newest = max(generation.values(), default=-1)
    claims = {
        (topic, n, member)
        for member, v in instance["members"].items()
        for topic, numbers in v.get("owned", {}).items()
        for n in numbers
        if topic in wanted[member] and (topic, n) in exists
        if claim_rule == "newest-claim" or generation[member] == newest
    }
    found: dict[TP, set[str]] = {}
    for topic, n, member in claims:
        rivals = {m for t, k, m in claims if (t, k) == (topic, n)}
        if generation[member] == max(generation[m] for m in rivals):
            found.setdefault((topic, n), set()).add(member)
    return found


def left(instance: Document, claim_rule: str) -> set[TP]:
    """Return what somebody subscribes to, and only members that left it claim."""
    wanted = wants(instance)
    generation = {m: v.get("generation", -1) for m, v in instance["members"].items()}
    newest = max(generation.values(), default=-1)
    claimed = {
        (topic, n)
        for member, v in instance["members"].items()
        for topic, numbers in v.get("owned", {}).items()
        for n in numbers
        if topic not in wanted[member]
        if claim_rule == "newest-claim" or generation[member] == newest
    }
    return (claimed & served(instance)) - claimants(instance, claim_rule).keys()


def owners(instance: Document, claim_rule: str = "newest-claim") -> dict[TP, str]:
    """Return partition -> its owner, where there is one."""
    rivals = claimants(instance, claim_rule).items()
    return {tp: min(members) for tp, members in rivals if len(members) == 1}


def violations(
    instance: Document, assignment: Document, *, cooperative: bool
) -> set[tuple[str, ...]]:
    """Return every violation as (rule, member, topic, number) in strings."""
    wanted, exists, given = wants(instance), served(instance), holds(assignment)
    counts = {t: v["partitions"] for t, v in instance["topics"].items()}
    held = claimants(instance, "newest-claim") if cooperative else {}
    everything = [tp for tps in given.values() for tp in tps]
    found = {("unknown-member", m) for m in given if m not in wanted}
    found |= {("missing-member", m) for m in wanted if m not in given}
    out: set[tuple[str, ...]] = set(found)
    for member, tps in given.items():
        for topic, n in tps:
            culprit = (member, topic, str(n))
            if n >= counts.get(topic, 0):
                out.add(("unknown-partition", *culprit))
                continue
            if member in wanted and topic not in wanted[member]:
                out.add(("unsubscribed", *culprit))
            if held.get((topic, n), set()) - {member}:
                out.add(("unrevoked", *culprit))
            before = [m for m in given if m < member and (topic, n) in given[m]]
            if before or tps.count((topic, n)) > 1:
                out.add(("assigned-twice", *culprit))
    waiting = left(instance, "newest-claim") if cooperative else set()
    for topic, n in exists - set(everything) - held.keys() - waiting:
        out.add(("unassigned", topic, str(n)))
    return out


def capacities(instance: Document) -> dict[str, int]:
    """Return member -> its capacity, 1 where none is told."""
    return {m: v.get("capacity", 1) for m, v in instance["members"].items()}


def shares(instance: Document, assignment: Document) -> list[Fraction]:
    """Return loads over capacity, largest first."""
    capacity, given = capacities(instance), holds(assignment)
    return sorted(
        (Fraction(len(tps), capacity[m]) for m, tps in given.items()), reverse=True
    )


def is_dec_min(instance: Document, assignment: Document, best: Document) -> bool:
    """Return whether an assignment has the least fractions that brute force found."""
    if "shares" not in best:
        loads = [len(tps) for tps in holds(assignment).values()]
        return bool(sorted(loads, reverse=True) == best["loads"])
    common = lcm(*capacities(instance).values())
    scaled = [common * share for share in shares(instance, assignment)]
    return bool(scaled == best["shares"])


def by_key(pair: tuple[int, int]) -> tuple[Fraction, int]:
    """Order (n, capacity) as dec-min takes partitions on."""
    return Fraction(*pair), -pair[1]


def chain_length(instance: Document, assignment: Document) -> int | None:
    """Return the transfers of a shortest chain that evens two members, or None."""
    wanted, given = wants(instance), holds(assignment)
    capacity = capacities(instance)
    shortest: int | None = None
    for giver in given:
        far = {giver: 0}
        queue = deque([giver])
        while queue:
            passer = queue.popleft()
            topics = {topic for topic, _ in given[passer]}
            for taker in wanted:
                if taker not in far and topics & wanted[taker]:
                    far[taker] = far[passer] + 1
                    queue.append(taker)
        for taker, steps in far.items():
            last = len(given[giver]), capacity[giver]
            following = len(given[taker]) + 1, capacity[taker]
            if last[0] and by_key(last) > by_key(following):
                shortest = steps if shortest is None else min(steps, shortest)
    return shortest


def figures(instance: Document, assignment: Document) -> Document:
    """Return the figures of a valid assignment, the two balances left out."""
    given, owner = holds(assignment), owners(instance)
    topics, members = instance["topics"], instance["members"]
    loads = sorted((len(tps) for tps in given.values()), reverse=True)
    behind = [
        sum(topics[t].get("lag", [0] * (n + 1))[n] for t, n in tps)
        for tps in given.values()
    ]
    full = {topic for topic, about in topics.items() if about["partitions"]}
    in_play = [
        lag for lag, m in zip(behind, given, strict=True) if full & wants(instance)[m]
    ]
    kept = sum(tp in given[m] for tp, m in owner.items())
    mismatches = 0
    for member, tps in given.items():
        rack = members[member].get("rack")
        for topic, n in tps:
            replicas = topics[topic].get("racks", [[]] * (n + 1))[n]
            mismatches += rack is not None and replicas != [] and rack not in replicas
    return {
        "loads": loads,
        "kept": kept,
        "moves": len(owner) - kept,
        "kip54_score": sum(abs(a - b) for a, b in combinations(loads, 2)),
        "peak_lag": max(behind, default=0),
        "lag_spread": max(in_play, default=0) - min(in_play, default=0),
        "rack_mismatches": mismatches,
    }
