"""Play the rebalance of a stored record with real consumers, or with crafted ones.

All members join in one rebalance, because a request to join stays open until they have
(`JoinBarrier`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from conformance.wire import dialect_of, newest_generation
from rebalance import Member, Rebalance
from rebalance.protocol import UNKNOWN_GENERATION, decode_subscription
from studies.confirmation import join_barrier
from studies.confirmation.broker_groups import ReportedGroup
from studies.confirmation.commands import Pace
from studies.confirmation.crafted_member import CraftedClaims, CraftedSubscription
from studies.confirmation.handing_leader import NAME, HandedOut, HandingLeader
from studies.confirmation.histories import ClientHistory, sentences
from studies.confirmation.join_barrier import JoinBarrier
from studies.confirmation.mixed_group import MixedGroup
from studies.confirmation.real_group import SETTLE_SECONDS, RealGroup
from studies.confirmation.replay_plan import (
    ReplayPlan,
    Way,
    broker_names,
    claims_of,
)

PACE: Final = Pace(session=30_000)
"""The open request to join ends with its session."""
NO_TOPIC_PACE: Final = Pace(session=30_000, refresh=300_000)

SENTENCES: Final = {
    Way.OWNER: sentences(
        """
        The owner starts, and receives all partitions of its topics.

        The others start, and one rebalance sees all members.
        """
    ),
    Way.HANDED_OUT: sentences(
        """
        A crafted leader, which subscribes to nothing, and all members start. It assigns
        to each member what it claims in the record.

        The crafted leader leaves, and the real consumers rebalance without it.
        """
    ),
    Way.CRAFTED: sentences(
        """
        A crafted leader, which subscribes to nothing, and one member start. It assigns
        to the member what it claims in the record, and leaves.

        The real consumer leads. The requests to join of all others are crafted, with
        their claims, and one rebalance sees all members.
        """
    ),
    Way.NO_TOPIC: sentences(
        """
        Two consumers of the same topic start, the second one later.

        While the rebalance waits for another member, the topic is deleted, and the
        member does not come.
        """
    ),
}
"""The steps of `replay_of`, in sentences that fit every record."""


def replay_of(instance: Rebalance, plan: ReplayPlan, prefix: str) -> ClientHistory:
    """Return the history that brings a group into the state of a rebalance.

    Parameters
    ----------
    instance : Rebalance
    plan : ReplayPlan
    prefix : str
        Of the names of topics on the broker.
    """
    names = broker_names(instance, prefix)
    if plan.way is Way.NO_TOPIC:
        return ClientHistory(
            topics=MappingProxyType({f"{prefix}-deleted": 1}),
            sentences=SENTENCES[plan.way],
            play=lambda group: _play_no_topic(group, f"{prefix}-deleted"),
            pace=NO_TOPIC_PACE,
        )
    play = _PLAYS[plan.way]
    sizes = {names[t]: topic.partitions for t, topic in instance.topics.items()}
    return ClientHistory(
        topics=MappingProxyType({name: size for name, size in sizes.items() if size}),
        sentences=SENTENCES[plan.way],
        play=lambda group: play(group, instance, plan, names),
        pace=PACE,
    )


_Play = Callable[[RealGroup, Rebalance, ReplayPlan, dict[str, str]], None]


def _play_owner(
    group: RealGroup, instance: Rebalance, plan: ReplayPlan, names: dict[str, str]
) -> None:
    owner, *others = plan.real
    group.make_ready(*others)
    _start(group, instance, owner, names)
    group.settle()
    barrier = _barrier(group)
    for name in others:
        _start(group, instance, name, names)
    group.wait_for_members()
    barrier.open()


def _play_handed_out(
    group: RealGroup, instance: Rebalance, plan: ReplayPlan, names: dict[str, str]
) -> None:
    leader = _handing_leader(group, instance, plan, names)
    group.make_ready(*plan.real)
    for name in plan.real:
        _start(group, instance, name, names)
    _wait_for_claims(group, instance, plan, names, leader)
    leader.leave()


def _play_crafted(
    group: RealGroup, instance: Rebalance, plan: ReplayPlan, names: dict[str, str]
) -> None:
    assert isinstance(group, MixedGroup)  # noqa: S101  # as confirm() makes it
    (real,) = plan.real
    leader = _handing_leader(group, instance, plan, names)
    _start(group, instance, real, names)
    handed = _wait_for_claims(group, instance, plan, names, leader)
    written = decode_subscription(handed.metadata[_prefix(instance, real)])
    barrier = _barrier(group)
    leader.leave()
    for name, member in instance.members.items():
        if name == real:
            continue
        group.craft(
            name,
            [names[topic] for topic in member.subscription],
            CraftedClaims(
                partitions=claims_of(member, names),
                generation=_generation(instance, member, handed.generation),
            ),
            CraftedSubscription(
                dialect=dialect_of(group.client),
                protocol=group.client.assignor,
                version=written.version,
                rack=member.rack,
            ),
            member.instance_id,
        )
    group.wait_for_members()
    barrier.open()


def _play_no_topic(group: RealGroup, topic: str) -> None:
    group.make_ready("b")
    group.start("a", [topic])
    group.settle()
    barrier = _barrier(group)
    group.start("b", [topic])
    group.wait_for_members()
    group.cluster.delete_topic(topic)
    barrier.open()


_PLAYS: Final[dict[Way, _Play]] = {
    Way.OWNER: _play_owner,
    Way.HANDED_OUT: _play_handed_out,
    Way.CRAFTED: _play_crafted,
}


def _start(
    group: RealGroup, instance: Rebalance, name: str, names: dict[str, str]
) -> None:
    member = instance.members[name]
    topics = [names[topic] for topic in member.subscription]
    group.start(name, topics, member.instance_id)


def _barrier(group: RealGroup) -> JoinBarrier:
    barrier = JoinBarrier(group.connection(join_barrier.NAME))
    group.helpers.append(barrier)
    return barrier


def _handing_leader(
    group: RealGroup, instance: Rebalance, plan: ReplayPlan, names: dict[str, str]
) -> HandingLeader:
    claims = {
        _prefix(instance, name): claims_of(instance.members[name], names)
        for name in plan.real
    }
    least = newest_generation(instance)
    leader = HandingLeader(group.connection(NAME), claims, least_generation=least)
    group.helpers.append(leader)
    return leader


def _wait_for_claims(
    group: RealGroup,
    instance: Rebalance,
    plan: ReplayPlan,
    names: dict[str, str],
    leader: HandingLeader,
) -> HandedOut:
    """Wait until the broker reports the claims of the real members, and no others.

    Raises
    ------
    OutsideError
        If that takes too long.
    """
    wanted = {
        name: {
            topic: sorted(numbers)
            for topic, numbers in claims_of(instance.members[name], names)
        }
        for name in plan.real
    }

    def has_claims(state: ReportedGroup) -> bool:
        held = {name: held for name, held in state.held.items() if name != NAME}
        return state.state == "STABLE" and held == wanted

    leader.wait_until_handed_out(SETTLE_SECONDS)
    group.cluster.wait_for(group.name, has_claims, SETTLE_SECONDS)
    return leader.wait_until_handed_out(SETTLE_SECONDS)


def _prefix(instance: Rebalance, name: str) -> str:
    """Return the beginning of the member id that the broker makes."""
    return instance.members[name].instance_id or name


def _generation(instance: Rebalance, member: Member, now: int) -> int:
    """Return the generation that a crafted member states: as old as in the record."""
    if member.generation is None or member.generation == UNKNOWN_GENERATION:
        return UNKNOWN_GENERATION
    return now - newest_generation(instance) + member.generation
