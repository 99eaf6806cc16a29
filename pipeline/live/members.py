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
    return tuple(_classic(member) for member in described)


def consumer_members(described: Iterable[Mapping[str, Any]]) -> tuple[MemberState, ...]:
    """Convert members of ``ConsumerGroupDescribe`` (KIP-848)."""
    return tuple(
        MemberState(
            member_id=member["member_id"],
            subscription=tuple(member["subscribed_topic_names"] or ()),
            pattern=member["subscribed_topic_regex"] or None,
            held=_held(member["assignment"]["topic_partitions"], "topic_name"),
            target=_held(member["target_assignment"]["topic_partitions"], "topic_name"),
            instance_id=member["instance_id"],
            rack=member["rack_id"] or None,
        )
        for member in described
    )


def _classic(member: Mapping[str, Any]) -> MemberState:
    metadata, assigned = member["member_metadata"], member["member_assignment"]
    is_known = isinstance(metadata, Mapping)
    held = (
        _held(assigned["assigned_partitions"], "topic")
        if isinstance(assigned, Mapping)
        else {}
    )
    return MemberState(
        member_id=member["member_id"],
        subscription=tuple(metadata["topics"]) if is_known else None,
        held=held,
        target=held,
        instance_id=member["group_instance_id"],
        rack=(metadata.get("rack_id") or None) if is_known else None,
    )


def _held(listed: Iterable[Mapping[str, Any]], name: str) -> Held:
    found = {
        entry[name]: sorted(entry["partitions"])
        for entry in listed
        if entry["partitions"]
    }
    return {topic: found[topic] for topic in sorted(found)}
