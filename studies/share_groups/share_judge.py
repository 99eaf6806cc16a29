"""Judge a target assignment of a share group: rules that it keeps, and its balance.

The rules are promises of KIP-932 and of the group protocol. Balance is not a promise:
the KIP calls it approximate, and Kafka's assignor states it as its principle, with an
exception; it is counted, and violates nothing (docs/clients.md, "Share groups").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from studies.share_groups.share_group import Held, ShareGroup, SharePartition


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ShareViolation:
    """A rule that an answer violates, and where.

    Attributes
    ----------
    rule : str
        ``unknown-member``, ``unknown-partition``, ``repeated``, ``unsubscribed``,
        ``unserved`` (a member without any partition), or ``uncovered`` (a partition
        without any member).
    member : str
        Empty for ``uncovered``.
    topic : str
        Empty for ``unknown-member`` and ``unserved``.
    partition : int
        -1 where there is none.
    """

    rule: str
    member: str = ""
    topic: str = ""
    partition: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareFigures:
    """Balance and stickiness of an answer; partitions per member, and the reverse.

    Attributes
    ----------
    member_spread : int
        Largest minus smallest number of partitions of a member, if all members
        subscribe to the same topics; otherwise the largest such difference among the
        subscribers of one topic, in partitions of this topic.
    partition_spread : int
        Largest minus smallest number of members of a partition, of any topic if all
        members subscribe to the same topics, otherwise within one topic.
    kept, revoked, added : int
        Pairs of member and partition that stay, go, or are new. Pairs of topics that
        the member does not subscribe to, or that do not exist, count as revoked.
    aimed : int
        Pairs that Kafka's assignor aims at: partitions times ceil(members / partitions)
        of all topics if all members subscribe to the same, otherwise summed by topic.
    pairs : int
        Pairs in the answer.
    """

    member_spread: int
    partition_spread: int
    kept: int
    revoked: int
    added: int
    aimed: int
    pairs: int

    @property
    def is_balanced(self) -> bool:
        """Whether both spreads are at most one, the principle of Kafka's assignor."""
        return self.member_spread <= 1 and self.partition_spread <= 1


def share_violations(group: ShareGroup, answer: Held) -> tuple[ShareViolation, ...]:
    """Return every violation, sorted."""
    found = [*_misplaced(group, answer), *_unserved(group, answer)]
    return tuple(sorted([*found, *_uncovered(group, answer)]))


def share_figures(group: ShareGroup, answer: Held) -> ShareFigures:
    """Count balance and stickiness of an answer without violations."""
    sets = list(_balanced_sets(group))
    spreads = [_spreads(group, topics, answer) for topics in sets]
    after = {(m, *p) for m in group.subscriptions for p in _pairs(answer, m)}
    before = {(m, *p) for m in group.subscriptions for p in _pairs(group.before, m)}
    return ShareFigures(
        member_spread=max((spread for spread, _ in spreads), default=0),
        partition_spread=max((spread for _, spread in spreads), default=0),
        kept=len(before & after),
        revoked=len(before - after),
        added=len(after - before),
        aimed=sum(_aimed(group, topics) for topics in sets),
        pairs=len(after),
    )


def _pairs(held: Held, member: str) -> Iterator[SharePartition]:
    for topic, numbers in held.get(member, {}).items():
        for number in numbers:
            yield topic, number


def _misplaced(group: ShareGroup, answer: Held) -> Iterator[ShareViolation]:
    """Yield entries that must not be there: unknown, unsubscribed, or twice."""
    for member in answer:
        if member not in group.subscriptions:
            yield ShareViolation(rule="unknown-member", member=member)
            continue
        times = Counter(_pairs(answer, member))
        for (topic, number), count in times.items():
            broken = []
            if not 0 <= number < group.topics.get(topic, 0):
                broken.append("unknown-partition")
            elif topic not in group.subscriptions[member]:
                broken.append("unsubscribed")
            if count > 1:
                broken.append("repeated")
            for rule in broken:
                yield ShareViolation(
                    rule=rule, member=member, topic=topic, partition=number
                )


def _unserved(group: ShareGroup, answer: Held) -> Iterator[ShareViolation]:
    """Yield members without a partition that subscribe to one."""
    for member in group.subscriptions:
        wanted = group.wanted(member)
        if wanted and wanted.isdisjoint(_pairs(answer, member)):
            yield ShareViolation(rule="unserved", member=member)


def _uncovered(group: ShareGroup, answer: Held) -> Iterator[ShareViolation]:
    """Yield partitions without a member that somebody subscribes to."""
    covered = {
        pair
        for member in group.subscriptions
        for pair in group.wanted(member).intersection(_pairs(answer, member))
    }
    wanted = {pair for member in group.subscriptions for pair in group.wanted(member)}
    for topic, number in wanted - covered:
        yield ShareViolation(rule="uncovered", topic=topic, partition=number)


def _balanced_sets(group: ShareGroup) -> Iterator[tuple[str, ...]]:
    """Yield the topics that are balanced together: all if subscriptions are equal."""
    wanted = {
        topic for subscription in group.subscriptions.values() for topic in subscription
    }
    there = sorted(topic for topic in wanted if group.topics.get(topic))
    if len({*group.subscriptions.values()}) <= 1:
        if there:
            yield tuple(there)
    else:
        yield from ((topic,) for topic in there)


def _subscribers(group: ShareGroup, topics: tuple[str, ...]) -> list[str]:
    return [m for m, wanted in group.subscriptions.items() if wanted & {*topics}]


def _spreads(
    group: ShareGroup, topics: tuple[str, ...], answer: Held
) -> tuple[int, int]:
    """Return the spread of partitions per member, and of members per partition."""
    members = _subscribers(group, topics)
    times = Counter({(t, n): 0 for t in topics for n in range(group.topics[t])})
    loads = []
    for member in members:
        mine = [pair for pair in _pairs(answer, member) if pair in times]
        loads.append(len(mine))
        times.update(mine)
    return max(loads) - min(loads), max(times.values()) - min(times.values())


def _aimed(group: ShareGroup, topics: tuple[str, ...]) -> int:
    partitions = sum(group.topics[topic] for topic in topics)
    members = len(_subscribers(group, topics))
    return partitions * -(-members // partitions)
