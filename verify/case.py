"""A rebalance laid out for the rules, its claims settled (KIP-341, KIP-615)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

CLAIM_RULES = ("newest-claim", "current-generation")

T = TypeVar("T")
Listed = Mapping[str, Sequence[int]]  # the list of a member: topic -> partition numbers


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
    claimed: Mapping[str, Listed]  # as members claim that the claim rule counts
    generation: Mapping[str, int]  # by member; -1: unknown
    owners: Mapping[str, Sequence[str | None]]  # by topic, of each partition
    rivals: Mapping[str, Mapping[int, Sequence[str]]]  # newest claimants, if several
    lag: Mapping[str, Sequence[int]]  # topic -> records of each partition
    replica_racks: Mapping[str, Sequence[Sequence[str]]]  # topic -> of each partition
    member_rack: Mapping[str, str]
    capacity: Mapping[str, int]  # by member, 1 where it states none
    in_play: Sequence[str]  # members that can receive something; for spreads and means

    @cached_property
    def all_topics(self) -> Sequence[str]:
        """The topic of each partition of all topics, one topic after the other."""
        return self._of_all(
            {topic: [topic] * n for topic, n in self.partitions.items()}
        )

    @cached_property
    def all_owners(self) -> Sequence[str | None]:
        """The owner of each partition of all topics."""
        return self._of_all(self.owners)

    @cached_property
    def all_lags(self) -> Sequence[int]:
        """The records of each partition of all topics; an unstated lag counts 0."""
        return self._of_all(self.lag, 0)

    @cached_property
    def all_racks(self) -> Sequence[Sequence[str]]:
        """The racks of replicas of each partition of all topics."""
        return self._of_all(self.replica_racks, ())

    def _of_all(self, values: Mapping[str, Sequence[T]], *unstated: T) -> list[T]:
        """Join values of each partition by topic."""
        return list(
            chain.from_iterable(
                [
                    values[topic] if topic in values else unstated * count
                    for topic, count in self.partitions.items()
                ]
            )
        )

    @cached_property
    def owned(self) -> Mapping[tuple[str, str], set[int]]:
        """Partitions by owner and topic."""
        found: dict[tuple[str, str], set[int]] = {}
        for topic, owners in self.owners.items():
            for number, owner in enumerate(owners):
                if owner is not None:
                    found.setdefault((owner, topic), set()).add(number)
        return found

    @cached_property
    def owned_count(self) -> int:
        """How many partitions have an owner."""
        return len(self.all_owners) - self.all_owners.count(None)

    @cached_property
    def claimants(self) -> Mapping[str, Mapping[int, Sequence[str]]]:
        """The newest claimants by topic and partition."""
        return {
            topic: {
                **{n: (owner,) for n, owner in enumerate(owners) if owner is not None},
                **self.rivals.get(topic, {}),
            }
            for topic, owners in self.owners.items()
        }

    @cached_property
    def left(self) -> Mapping[str, set[int]]:
        """Partitions by topic that members claim which have left the topic."""
        found: dict[str, set[int]] = {}
        for name, listed in self.claimed.items():
            for topic in listed.keys() - self.wants[name]:
                if self.subscribers.get(topic):
                    end = self.partitions[topic]
                    numbers = (number for number in listed[topic] if number < end)
                    found.setdefault(topic, set()).update(numbers)
        return found

    @cached_property
    def audience(self) -> Mapping[str, str]:
        """The first topic with the same subscribers, per topic that can be assigned."""
        known: dict[tuple[str, ...], str] = {}
        return {
            topic: known.setdefault(tuple(names), topic)
            for topic, names in self.subscribers.items()
            if names and self.partitions[topic]
        }

    @cached_property
    def classes(self) -> Mapping[frozenset[str], Sequence[str]]:
        """The members of each subscription."""
        found: dict[frozenset[str], list[str]] = {}
        for name, wanted in self.wants.items():
            found.setdefault(wanted, []).append(name)
        return found

    @cached_property
    def seekers(self) -> Mapping[str, Sequence[frozenset[str]]]:
        """The subscriptions that list each topic."""
        found: dict[str, list[frozenset[str]]] = {}
        for wanted in self.classes:
            for topic in wanted:
                found.setdefault(topic, []).append(wanted)
        return found

    @cached_property
    def peak_lag_bound(self) -> int | None:
        """The larger of mean and largest lag, a lower bound; None without lag."""
        lags = [self.lag[topic] for topic in self.lag if self.subscribers[topic]]
        if not lags:
            return None
        members = sum(map(bool, self.wants.values()))
        mean = -(-sum(map(sum, lags)) // members)
        return max(mean, max(chain.from_iterable(lags), default=0))


def case_of(instance: dict[str, Any], *, claim_rule: str = "newest-claim") -> Case:
    """Lay out a ``rebalance/1`` document as `verify.read_rebalance` returns it.

    Raises
    ------
    ValueError
        If there is no such claim rule.
    """
    if claim_rule not in CLAIM_RULES:
        raise ValueError(f"claim rule {claim_rule!r} is not one of {CLAIM_RULES}")
    topics, members = instance["topics"], instance["members"]
    partitions = {name: topic["partitions"] for name, topic in topics.items()}
    wants, subscribers = _subscriptions(members, partitions)
    full = {topic for topic, count in partitions.items() if count}
    generation = {name: members[name].get("generation", -1) for name in wants}
    claimed = _counted_claims(members, generation, claim_rule)
    owners, rivals = _owners(claimed, partitions, wants, generation)
    return Case(
        id=instance.get("id"),
        partitions=partitions,
        wants=wants,
        subscribers=subscribers,
        claimed=claimed,
        generation=generation,
        owners=owners,
        rivals=rivals,
        lag={name: t["lag"] for name, t in topics.items() if "lag" in t},
        replica_racks={name: t["racks"] for name, t in topics.items() if "racks" in t},
        member_rack={name: m["rack"] for name, m in members.items() if "rack" in m},
        capacity={name: members[name].get("capacity", 1) for name in wants},
        in_play=[name for name, wanted in wants.items() if not full.isdisjoint(wanted)],
    )


def _subscriptions(
    members: Mapping[str, Any], partitions: Mapping[str, int]
) -> tuple[dict[str, frozenset[str]], dict[str, list[str]]]:
    """Return the subscriptions of members, and the subscribers of each topic.

    Equal subscriptions share one set, and topics with equal subscribers one list, so
    that comparing them later costs nothing.
    """
    names_of: dict[frozenset[str], list[str]] = {}
    wants: dict[str, frozenset[str]] = {}
    shared: dict[frozenset[str], frozenset[str]] = {}
    listed: Sequence[str] | None = None
    for known in sorted(members):
        name = _copied(known)
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


def _copied(name: str) -> str:
    """Return an equal string in new memory.

    Copies made together are next to each other, names of a large document are far
    apart; each is read once per partition, which takes half the time for the copies.
    """
    return (name + " ")[:-1]


def _counted_claims(
    members: Mapping[str, Any], generation: Mapping[str, int], claim_rule: str
) -> dict[str, Listed]:
    """Return the claims of the members whose claims the rule counts.

    Under ``current-generation``, these are members of the newest one in the group.
    """
    newest = max(generation.values(), default=-1)
    return {
        name: members[name].get("owned", {})
        for name, dated in generation.items()
        if claim_rule != "current-generation" or dated == newest
    }


def _owners(
    claimed: Mapping[str, Listed],
    partitions: Mapping[str, int],
    wants: Mapping[str, frozenset[str]],
    generation: Mapping[str, int],
) -> tuple[dict[str, list[str | None]], dict[str, dict[int, tuple[str, ...]]]]:
    """Return the only newest claimant of each partition, by topic, and equal ones.

    A claim counts while its member subscribes to the topic and the partition exists.
    Newer claims come first, so that no later one is newer than its rival.
    """
    owners: dict[str, list[str | None]] = {t: [None] * n for t, n in partitions.items()}
    rivals: dict[str, dict[int, tuple[str, ...]]] = {}
    for name in sorted(claimed, key=generation.__getitem__, reverse=True):
        wanted, dated = wants[name], generation[name]
        for topic, numbers in claimed[name].items():
            if topic not in wanted:
                continue
            found, end = owners[topic], partitions[topic]
            for number in numbers:
                if number >= end:
                    continue
                rival = found[number]
                if rival is None:
                    found[number] = name
                elif generation[rival] == dated:
                    known = rivals.setdefault(topic, {})
                    known[number] = (*known.get(number, (rival,)), name)
    for topic, known in rivals.items():
        for number in known:
            owners[topic][number] = None
    return owners, rivals
