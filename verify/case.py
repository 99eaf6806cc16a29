"""A rebalance laid out for the rules, its claims settled (KIP-341, KIP-615)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CLAIM_RULES = ("newest-claim", "current-generation")

Row = tuple[str, str, Sequence[int]]  # member, topic, partition numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One rebalance with its claims settled; built once for many assignments.

    Members and subscribers are in the order of their names. Topics and members that
    state no lag, racks or rack have no entry there.
    """

    id: str | None
    partitions: Mapping[str, int]  # by topic
    wants: Mapping[str, frozenset[str]]  # member -> existing topics it subscribes to
    subscribers: Mapping[str, Sequence[str]]  # by topic
    claimants: Mapping[str, Mapping[int, Sequence[str]]]  # topic -> partition -> newest
    left: Mapping[str, set[int]]  # topic -> claimed only by members that have left it
    owned: Mapping[tuple[str, str], set[int]]  # of (member, topic), the only claimant
    lag: Mapping[str, Sequence[int]]  # topic -> records of each partition
    replica_racks: Mapping[str, Sequence[Sequence[str]]]  # topic -> of each partition
    member_rack: Mapping[str, str]
    capacity: Mapping[str, int]  # by member, 1 where it states none
    in_play: Sequence[str]  # members that can receive something; for spreads and means


def understand(instance: dict[str, Any], *, claim_rule: str = "newest-claim") -> Case:
    """Lay out a ``rebalance/1`` document as `verify.read_rebalance` returns it.

    Raises
    ------
    ValueError
        If there is no such claim rule.
    """
    if claim_rule not in CLAIM_RULES:
        raise ValueError(f"claim rule {claim_rule!r} is none of {CLAIM_RULES}")
    topics, members = instance["topics"], instance["members"]
    partitions = {name: topic["partitions"] for name, topic in topics.items()}
    # Equal subscriptions share one set, so that comparing them later costs nothing.
    shared: dict[frozenset[str], frozenset[str]] = {}
    wants: dict[str, frozenset[str]] = {}
    subscribers: dict[str, list[str]] = {topic: [] for topic in partitions}
    for name in sorted(members):
        wanted = frozenset(partitions.keys() & members[name]["subscription"])
        wants[name] = shared.setdefault(wanted, wanted)
        for topic in wanted:
            subscribers[topic].append(name)
    full = {topic for topic, count in partitions.items() if count}
    claimants = _claimants(members, partitions, wants, claim_rule)
    left = _left(members, partitions, wants, claim_rule, claimants)
    owned: dict[tuple[str, str], set[int]] = {}
    for topic, claimed in claimants.items():
        of_topic: dict[str, set[int]] = {}
        for number, rivals in claimed.items():
            if len(rivals) != 1:  # a tie leaves no owner
                continue
            if rivals[0] in of_topic:
                of_topic[rivals[0]].add(number)
            else:
                of_topic[rivals[0]] = {number}
        owned |= {(owner, topic): numbers for owner, numbers in of_topic.items()}
    return Case(
        id=instance.get("id"),
        partitions=partitions,
        wants=wants,
        subscribers=subscribers,
        claimants=claimants,
        left={topic: numbers for topic, numbers in left.items() if subscribers[topic]},
        owned=owned,
        lag={name: t["lag"] for name, t in topics.items() if "lag" in t},
        replica_racks={name: t["racks"] for name, t in topics.items() if "racks" in t},
        member_rack={name: m["rack"] for name, m in members.items() if "rack" in m},
        capacity={name: members[name].get("capacity", 1) for name in wants},
        in_play=[name for name, wanted in wants.items() if not full.isdisjoint(wanted)],
    )


def count_owned(case: Case) -> int:
    """Count the partitions that have an owner."""
    return sum(map(len, case.owned.values()))


def _counted_claims(
    members: Mapping[str, Any], wants: Mapping[str, frozenset[str]], claim_rule: str
) -> list[tuple[str, Mapping[str, Sequence[int]]]]:
    """Return what members claim whose claims the rule counts.

    Under ``current-generation``, these are members of the newest one in the group.
    """
    generations = {m: members[m].get("generation", -1) for m in wants}
    newest = max(generations.values(), default=-1)
    return [
        (name, members[name].get("owned", {}))
        for name, generation in generations.items()
        if claim_rule != "current-generation" or generation == newest
    ]


def _claimants(
    members: Mapping[str, Any],
    partitions: Mapping[str, int],
    wants: Mapping[str, frozenset[str]],
    claim_rule: str,
) -> dict[str, dict[int, tuple[str, ...]]]:
    """Keep the newest of the claims that count, several where they tie.

    A claim counts while its member subscribes to the topic and the partition exists.
    """
    generations = {m: members[m].get("generation", -1) for m in wants}
    found: dict[str, dict[int, tuple[str, ...]]] = {}
    for name, owned in _counted_claims(members, wants, claim_rule):
        generation = generations[name]
        alone = (name,)  # one tuple per member, not one per claim
        for topic, numbers in owned.items():
            if topic not in wants[name]:
                continue
            claimed = found.setdefault(topic, {})
            for number in numbers:
                if number >= partitions[topic]:
                    continue
                rivals = claimed.get(number)
                if rivals is None or generations[rivals[0]] < generation:
                    claimed[number] = alone
                elif generations[rivals[0]] == generation:
                    claimed[number] = (*rivals, name)
    return found


def _left(
    members: Mapping[str, Any],
    partitions: Mapping[str, int],
    wants: Mapping[str, frozenset[str]],
    claim_rule: str,
    claimants: Mapping[str, Mapping[int, Sequence[str]]],
) -> dict[str, set[int]]:
    """Return the partitions that only members claim that have left their topic."""
    found: dict[str, set[int]] = {}
    for name, owned in _counted_claims(members, wants, claim_rule):
        for topic in owned.keys() & partitions.keys():
            if topic in wants[name]:
                continue
            end, claimed = partitions[topic], claimants.get(topic, {})
            gone = (n for n in owned[topic] if n < end and n not in claimed)
            found.setdefault(topic, set()).update(gone)
    return found
