"""Snapshots: the state of each group as a rebalance/1 and an assignment/1 document.

The members own the partitions that they hold now, so the instance asks for the best
next assignment. The assignment is the group's present one; in a group of the new
protocol (KIP-848) it is the target assignment, which members may not have reached yet.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pipeline.live.cluster_state import (
    ClusterState,
    LiveGroup,
    MemberState,
    TopicState,
    Unreported,
)
from rebalance import (
    NOT_COMMITTED,
    AssignmentDocument,
    OffsetReset,
    OracleError,
    Rebalance,
    lag_of,
    rebalance_of,
)

_NOT_PORTABLE: Final = re.compile(r"\\[pPQCz]|\[:")
"""Syntax of RE2/J, which the broker uses, that Python lacks or reads differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSnapshot:
    """A group's instance and its present assignment."""

    rebalance: Rebalance
    assignment: AssignmentDocument
    state: str


def snapshots_of(
    cluster: ClusterState, offset_reset: OffsetReset
) -> Iterator[GroupSnapshot | Unreported]:
    """Convert each group to documents, or return why that is not possible."""
    yield from cluster.unreported
    for group in cluster.groups:
        try:
            yield _snapshot(group, cluster, offset_reset)
        except (ValueError, OracleError) as error:
            yield Unreported(group_id=group.group_id, reason=str(error))


def _snapshot(
    group: LiveGroup, cluster: ClusterState, offset_reset: OffsetReset
) -> GroupSnapshot:
    subscriptions = {
        member.member_id: _subscription(member, cluster.names)
        for member in group.members
    }
    used = {topic for topics in subscriptions.values() for topic in topics}
    topics = {
        name: _topic(name, cluster.topics[name], group, offset_reset)
        for name in sorted(used & cluster.topics.keys())
    }
    document = {
        "format": "rebalance/1",
        "group": group.group_id,
        "id": group.group_id,
        "topics": topics,
        "members": {
            member.member_id: _member(member, subscriptions[member.member_id])
            for member in group.members
        },
    }
    return GroupSnapshot(
        rebalance=rebalance_of(document),
        assignment=AssignmentDocument(
            format="assignment/1",
            group=group.group_id,
            id=group.group_id,
            assignor=group.assignor,
            members={
                member.member_id: {  # without topics that were deleted in the meantime
                    topic: held
                    for topic, held in member.target.items()
                    if topic in cluster.topics
                }
                for member in group.members
            },
        ),
        state=group.state,
    )


def _subscription(member: MemberState, names: tuple[str, ...]) -> list[str]:
    """Return the topics that a member subscribes to, by name or by pattern.

    Raises
    ------
    ValueError
        If the broker reports none, or the pattern cannot be evaluated.
    """
    if member.subscription is None:
        raise ValueError(f"no subscription is reported for member {member.member_id}")
    found = set(member.subscription)
    if member.pattern is not None:
        pattern = _compiled(member.pattern)
        found.update(name for name in names if pattern.fullmatch(name))
    return sorted(found)


def _compiled(pattern: str) -> re.Pattern[str]:
    if _NOT_PORTABLE.search(pattern):
        raise ValueError(f"cannot evaluate the subscription pattern {pattern!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(pattern)
    except (re.error, FutureWarning, RecursionError, OverflowError):
        reason = f"cannot evaluate the subscription pattern {pattern!r}"
        raise ValueError(reason) from None


def _member(member: MemberState, subscription: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"subscription": subscription}
    if member.held:
        fields["owned"] = member.held
    if member.rack is not None:
        fields["rack"] = member.rack
    if member.instance_id is not None:
        fields["instance_id"] = member.instance_id
    return fields


def _topic(
    name: str, topic: TopicState, group: LiveGroup, offset_reset: OffsetReset
) -> dict[str, Any]:
    fields: dict[str, Any] = {"partitions": topic.partitions}
    if topic.racks is not None:
        fields["racks"] = [list(racks) for racks in topic.racks]
    if topic.ends is not None and group.committed is not None:
        committed = group.committed.get(name, {})
        start = [committed.get(p, NOT_COMMITTED) for p in range(topic.partitions)]
        ends = np.array(topic.ends, np.int64).reshape(-1, 2)
        lag = lag_of(np.array(start, np.int64), ends[:, 0], ends[:, 1], offset_reset)
        fields["lag"] = lag.tolist()
    return fields
