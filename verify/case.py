"""A rebalance laid out for the rules, its claims settled (KIP-341, KIP-615)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

CLAIM_RULES = ("newest-claim", "current-generation")

Row = tuple[str, str, Sequence[int]]  # member, topic, partition numbers
Claims = Sequence[tuple[str, Sequence[int]]]  # of members, in the order of their names
Owned = Mapping[str, Collection[int]]  # member -> partition numbers


@dataclass(frozen=True, kw_only=True)
class Case:
    """One rebalance with its claims settled; built once for many assignments.

    Members and subscribers are in the order of their names. Topics and members that
    state no lag, racks or rack have no entry there.
    """

    id: str | None
    partitions: Mapping[str, int]  # by topic
    wants: Mapping[str, frozenset[str]]  # member -> existing topics it subscribes to
    subscribers: Mapping[str, Sequence[str]]  # by topic
    claims: Mapping[str, Claims]  # by topic, those that count
    generation: Mapping[str, int]  # by member; -1: unknown
    left: Mapping[str, set[int]]  # topic -> claimed only by members that have left it
    owners: Mapping[str, Owned]  # by topic: its only newest claimants
    lag: Mapping[str, Sequence[int]]  # topic -> records of each partition
    replica_racks: Mapping[str, Sequence[Sequence[str]]]  # topic -> of each partition
    member_rack: Mapping[str, str]
    capacity: Mapping[str, int]  # by member, 1 where it states none
    in_play: Sequence[str]  # members that can receive something; for spreads and means

    @cached_property
    def owned(self) -> Mapping[tuple[str, str], set[int]]:
        """Partitions by owner and topic."""
        topics = self.owners.items()
        return {(m, t): set(n) for t, owned in topics for m, n in owned.items()}

    @cached_property
    def claimants(self) -> Mapping[str, Mapping[int, Sequence[str]]]:
        """The newest claimants by topic and partition."""
        topics = self.claims.items()
        return {t: newest_claimants(c, self.generation) for t, c in topics}


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
    wants, subscribers = _subscriptions(members, partitions)
    full = {topic for topic, count in partitions.items() if count}
    generation = {name: members[name].get("generation", -1) for name in wants}
    counted = _counted_claims(members, generation, claim_rule)
    claims, left = _claims(counted, partitions, wants)
    owners = {t: _owned(claimed, generation) for t, claimed in claims.items()}
    return Case(
        id=instance.get("id"),
        partitions=partitions,
        wants=wants,
        subscribers=subscribers,
        claims=claims,
        generation=generation,
        left={topic: numbers for topic, numbers in left.items() if subscribers[topic]},
        owners=owners,
        lag={name: t["lag"] for name, t in topics.items() if "lag" in t},
        replica_racks={name: t["racks"] for name, t in topics.items() if "racks" in t},
        member_rack={name: m["rack"] for name, m in members.items() if "rack" in m},
        capacity={name: members[name].get("capacity", 1) for name in wants},
        in_play=[name for name, wanted in wants.items() if not full.isdisjoint(wanted)],
    )


def _subscriptions(
    members: Mapping[str, Any], partitions: Mapping[str, int]
) -> tuple[dict[str, frozenset[str]], dict[str, list[str]]]:
    """Return what members want, and the subscribers of each topic.

    Equal subscriptions share one set, and topics with equal subscribers one list, so
    that comparing them later costs nothing.
    """
    names_of: dict[frozenset[str], list[str]] = {}
    wants: dict[str, frozenset[str]] = {}
    shared: dict[frozenset[str], frozenset[str]] = {}
    listed: Sequence[str] | None = None
    for name in sorted(members):
        if listed != members[name]["subscription"]:  # mostly, all list the same topics
            listed = members[name]["subscription"]
            wanted = frozenset(partitions.keys() & listed)
            wanted = shared.setdefault(wanted, wanted)
        wants[name] = wanted
        names_of.setdefault(wanted, []).append(name)
    found: dict[str, list[list[str]]] = {topic: [] for topic in partitions}
    for wanted, names in names_of.items():
        for topic in wanted:
            found[topic].append(names)
    return wants, {
        topic: lists[0] if len(lists) == 1 else sorted(chain.from_iterable(lists))
        for topic, lists in found.items()
    }


def count_owned(case: Case) -> int:
    """Count the partitions that have an owner."""
    return sum(map(len, chain.from_iterable(o.values() for o in case.owners.values())))


def newest_claimants(
    claimed: Claims, generation: Mapping[str, int]
) -> dict[int, tuple[str, ...]]:
    """Return the members with the newest claim on each partition of a topic."""
    found: dict[int, tuple[str, ...]] = {}
    for name, numbers in claimed:
        alone = (name,)  # one tuple per member, not one per claim
        for number in numbers:
            rivals = found.get(number)
            if rivals is None or generation[rivals[0]] < generation[name]:
                found[number] = alone
            elif generation[rivals[0]] == generation[name]:
                found[number] = (*rivals, name)
    return found


def _counted_claims(
    members: Mapping[str, Any], generation: Mapping[str, int], claim_rule: str
) -> list[tuple[str, Mapping[str, Sequence[int]]]]:
    """Return what members claim whose claims the rule counts.

    Under ``current-generation``, these are members of the newest one in the group.
    """
    newest = max(generation.values(), default=-1)
    return [
        (name, members[name].get("owned", {}))
        for name, dated in generation.items()
        if claim_rule != "current-generation" or dated == newest
    ]


def _claims(
    counted: Sequence[tuple[str, Mapping[str, Sequence[int]]]],
    partitions: Mapping[str, int],
    wants: Mapping[str, frozenset[str]],
) -> tuple[dict[str, Claims], dict[str, set[int]]]:
    """Return the claims that count, and what only members claim that have left.

    A claim counts while its member subscribes to the topic and the partition exists.
    """
    listed: dict[str, list[tuple[str, Sequence[int]]]] = {t: [] for t in partitions}
    left: dict[str, set[int]] = {}
    for name, owned in counted:
        wanted = wants[name]
        for topic, numbers in owned.items():
            if topic in wanted:
                listed[topic].append((name, numbers))
            elif topic in partitions:
                left.setdefault(topic, set()).update(numbers)
    claims = {t: _existing(claimed, partitions[t]) for t, claimed in listed.items()}
    for topic, gone in left.items():
        gone.difference_update(*(numbers for _, numbers in claims[topic]))
        left[topic] = {number for number in gone if number < partitions[topic]}
    return {topic: claimed for topic, claimed in claims.items() if claimed}, left


def _existing(claimed: Claims, end: int) -> Claims:
    """Drop what a topic with ``end`` partitions does not have."""
    lists = [numbers for _, numbers in claimed]
    if max(chain.from_iterable(lists), default=-1) < end and all(lists):
        return claimed  # mostly
    exist = ((name, [n for n in numbers if n < end]) for name, numbers in claimed)
    return [(name, numbers) for name, numbers in exist if numbers]


def _owned(claimed: Claims, generation: Mapping[str, int]) -> Owned:
    """Return the partitions of a topic with one newest claimant; a tie has no owner."""
    lists = [numbers for _, numbers in claimed]
    if len(set(chain.from_iterable(lists))) == sum(map(len, lists)):
        return dict(claimed)  # mostly, there are no rivals
    owned: dict[str, set[int]] = {}
    for number, rivals in newest_claimants(claimed, generation).items():
        if len(rivals) == 1:
            owned.setdefault(rivals[0], set()).add(number)
    return owned
