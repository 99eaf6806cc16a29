"""Members of groups, from the responses of the Admin API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.cases import Held
from pipeline.live.cluster_state import MemberState


def classic_members(described: Iterable[Mapping[str, Any]]) -> tuple[MemberState, ...]:
    """Convert members of ``DescribeGroups``, whose protocol bytes are decoded.

    While a group rebalances, the coordinator reports members without these bytes.
    """
    return tuple(_classic(one) for one in described)


def consumer_members(described: Iterable[Mapping[str, Any]]) -> tuple[MemberState, ...]:
    """Convert members of ``ConsumerGroupDescribe`` (KIP-848)."""
    return tuple(
        MemberState(
            member_id=one["member_id"],
            subscription=tuple(one["subscribed_topic_names"] or ()),
            pattern=one["subscribed_topic_regex"] or None,
            held=_held(one["assignment"]["topic_partitions"], "topic_name"),
            target=_held(one["target_assignment"]["topic_partitions"], "topic_name"),
            instance_id=one["instance_id"],
            rack=one["rack_id"] or None,
        )
        for one in described
    )


def _classic(one: Mapping[str, Any]) -> MemberState:
    metadata, assigned = one["member_metadata"], one["member_assignment"]
    is_known = isinstance(metadata, Mapping)
    held = (
        _held(assigned["assigned_partitions"], "topic")
        if isinstance(assigned, Mapping)
        else {}
    )
    return MemberState(
        member_id=one["member_id"],
        subscription=tuple(metadata["topics"]) if is_known else None,
        held=held,
        target=held,
        instance_id=one["group_instance_id"],
        rack=(metadata.get("rack_id") or None) if is_known else None,
    )


def _held(listed: Iterable[Mapping[str, Any]], name: str) -> Held:
    found = {
        one[name]: sorted(one["partitions"]) for one in listed if one["partitions"]
    }
    return {topic: found[topic] for topic in sorted(found)}
