"""Leader of a classic group: run the assignor, withhold partitions in transfer.

Follows ``ConsumerCoordinator.onLeaderElected`` and, for COOPERATIVE, the adjustment of
``CooperativeStickyAssignor`` (KIP-429): a partition that moves to one member while
another holds it is assigned to no member in this generation. Of several claims on a
partition, only the newest count (KIP-341, KIP-792): members with older ones missed a
generation and have lost the partitions that they held.
"""

from __future__ import annotations

from collections.abc import Mapping

from heuristics.group.messages import (
    NO_GENERATION,
    JoinMetadata,
    Partition,
    Partitions,
)
from heuristics.group.protocol_choice import RebalanceProtocol, Strategy
from rebalance import Instance, Member, Rebalance, Topic, instance_of, members_of

Shares = dict[str, Partitions]


def assignment_by(
    strategy: Strategy,
    topics: Mapping[str, int],
    members: Mapping[str, JoinMetadata],
) -> Shares:
    """Assign every partition of a subscribed topic with an assignor."""
    instance = _instance(strategy, topics, members)
    written = members_of(instance, strategy.assignor.assign(instance))
    return {
        member: frozenset((t, n) for t, numbers in held.items() for n in numbers)
        for member, held in written.items()
    }


def without_transfers(shares: Shares, members: Mapping[str, JoinMetadata]) -> Shares:
    """Withhold the partitions that another member has to revoke first."""
    claimants = newest_claimants(members)
    return {
        member: frozenset(p for p in held if claimants.get(p, {member}) <= {member})
        for member, held in shares.items()
    }


def must_withhold(strategy: Strategy) -> bool:
    """Whether the strategy withholds partitions in transfer."""
    return strategy.highest is RebalanceProtocol.COOPERATIVE


def newest_claimants(
    members: Mapping[str, JoinMetadata],
) -> dict[Partition, set[str]]:
    """Return the members whose claim on a partition is the newest."""
    newest: dict[Partition, int] = {}
    claimants: dict[Partition, set[str]] = {}
    for member, subscription in members.items():
        for partition in subscription.owned:
            known = newest.get(partition, NO_GENERATION - 1)
            if subscription.generation > known:
                newest[partition] = subscription.generation
                claimants[partition] = {member}
            elif subscription.generation == known:
                claimants[partition].add(member)
    return claimants


def _instance(
    strategy: Strategy,
    topics: Mapping[str, int],
    members: Mapping[str, JoinMetadata],
) -> Instance:
    return instance_of(
        Rebalance(
            group="group",
            topics={name: Topic(partitions=count) for name, count in topics.items()},
            members={
                m: _member(s, remembers=strategy.remembers) for m, s in members.items()
            },
        )
    )


def _member(subscription: JoinMetadata, *, remembers: bool) -> Member:
    claimed, generation = subscription.owned, subscription.generation
    if remembers:
        claimed = subscription.remembered
        generation = subscription.remembered_generation
    owned: dict[str, list[int]] = {}
    for topic, number in sorted(claimed):
        owned.setdefault(topic, []).append(number)
    # model_construct: the values are valid, and None means no instance id.
    return Member.model_construct(
        subscription=sorted(subscription.topics),
        owned=owned,
        generation=generation,
        instance_id=subscription.instance_id,
    )
