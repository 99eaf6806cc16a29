"""Apply changes to a group: members, subscriptions, partitions, lag."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from oracle.planning.change_records import (
    AddPartitions,
    Change,
    Join,
    Leave,
    SetLag,
    Subscribe,
)
from rebalance import INT64_MAX, InstanceError, Member, Rebalance, Topic


def apply_changes(rebalance: Rebalance, changes: Iterable[Change]) -> Rebalance:
    """Return the group after the changes, one after the other.

    Members keep their claims; those on topics that a member leaves do not count, as in
    every instance. New partitions have no owner and, where lag is stated, no lag.

    Raises
    ------
    InstanceError
        If a change contradicts the group, such as a member that joins twice.
    """
    return reduce(_applied, changes, rebalance)


def common_subscription(rebalance: Rebalance) -> list[str] | None:
    """Return the subscription that all members share, sorted; None if they differ."""
    found = {frozenset(member.subscription) for member in rebalance.members.values()}
    return sorted(next(iter(found))) if len(found) == 1 else None


def new_names(rebalance: Rebalance, count: int) -> list[str]:
    """Return ``count`` names for new members that no member has."""
    names: list[str] = []
    number = 1
    while len(names) < count:
        name = f"new-{number}"
        if name not in rebalance.members:
            names.append(name)
        number += 1
    return names


def _applied(rebalance: Rebalance, change: Change) -> Rebalance:
    if isinstance(change, Join):
        return _join(rebalance, change)
    if isinstance(change, Leave):
        return _leave(rebalance, change)
    if isinstance(change, Subscribe):
        return _subscribe(rebalance, change)
    if isinstance(change, AddPartitions):
        return _add_partitions(rebalance, change)
    return _set_lag(rebalance, change)


def _join(rebalance: Rebalance, change: Join) -> Rebalance:
    if change.member in rebalance.members:
        raise InstanceError("joins, but is a member", subject=change.member)
    return _with_member(
        rebalance, change.member, Member(subscription=change.subscription)
    )


def _leave(rebalance: Rebalance, change: Leave) -> Rebalance:
    _require(rebalance, change.member, "leaves")
    members = {n: m for n, m in rebalance.members.items() if n != change.member}
    return rebalance.model_copy(update={"members": members})


def _subscribe(rebalance: Rebalance, change: Subscribe) -> Rebalance:
    member = _require(rebalance, change.member, "subscribes")
    changed = member.model_copy(update={"subscription": change.subscription})
    return _with_member(rebalance, change.member, changed)


def _add_partitions(rebalance: Rebalance, change: AddPartitions) -> Rebalance:
    topic = rebalance.topics.get(change.topic, Topic(partitions=0))
    more = change.partitions - topic.partitions
    if more < 0:
        reason = f"has {topic.partitions} partitions, and Kafka cannot remove any"
        raise InstanceError(reason, subject=change.topic)
    is_known = all(topic.lag is not None for topic in rebalance.topics.values())
    lag = topic.lag if change.topic in rebalance.topics else ([] if is_known else None)
    update = {
        "partitions": change.partitions,
        "lag": None if lag is None else [*lag, *[0] * more],
        # The racks of the new replicas are not known: none is a mismatch.
        "racks": None if topic.racks is None else [*topic.racks, *[[]] * more],
    }
    return _with_topic(rebalance, change.topic, topic.model_copy(update=update))


def _set_lag(rebalance: Rebalance, change: SetLag) -> Rebalance:
    topic = rebalance.topics.get(change.topic)
    if topic is None:
        raise InstanceError("lag of a topic that does not exist", subject=change.topic)
    place = change.topic, change.partition
    if change.partition is not None and change.partition >= topic.partitions:
        raise InstanceError("lag of a partition that does not exist", subject=place)
    if topic.lag is None and (change.partition is not None or change.lag is None):
        raise InstanceError("the lag of the topic is not stated", subject=change.topic)
    before = topic.lag or [0] * topic.partitions
    lag = [
        _new_lag(records, change) if change.partition in (None, number) else records
        for number, records in enumerate(before)
    ]
    if max(lag, default=0) > INT64_MAX:
        raise InstanceError("lag does not fit 64 bits", subject=change.topic)
    return _with_topic(rebalance, change.topic, topic.model_copy(update={"lag": lag}))


def _new_lag(lag: int, change: SetLag) -> int:
    if change.lag is not None:
        return change.lag
    return lag * (1 if change.times is None else change.times)


def _require(rebalance: Rebalance, name: str, does: str) -> Member:
    member = rebalance.members.get(name)
    if member is None:
        raise InstanceError(f"{does}, but is not a member", subject=name)
    return member


def _with_member(rebalance: Rebalance, name: str, member: Member) -> Rebalance:
    members = rebalance.members | {name: member}
    return rebalance.model_copy(update={"members": members})


def _with_topic(rebalance: Rebalance, name: str, topic: Topic) -> Rebalance:
    return rebalance.model_copy(update={"topics": rebalance.topics | {name: topic}})
