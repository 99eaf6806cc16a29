"""Cases rewritten for columns: documents, given subscriptions, names of topic ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.cases import Case, CaseMember, Held
from pipeline.judging.instances import ClusterFacts
from pipeline.side_files.given_subscriptions import with_given_subscriptions
from pipeline.topic_names import with_names
from rebalance import parse_rebalance, plain_of, to_json


def stated_case(case: Case, facts: ClusterFacts) -> Case:
    """Return the case with names, subscriptions, and all parts of its document.

    Raises
    ------
    DocumentError
        If the case's own document is invalid, or too large.
    InstanceError
        If a topic id has no name.
    """
    case = with_names(case, facts.names)
    case = with_given_subscriptions(case, facts.subscriptions)
    if case.document is None:
        return case
    document = parse_rebalance(case.document, max_partitions=facts.max_partitions)
    plain, answer = plain_of(document), case.members or {}
    topics = plain["topics"].items()
    return replace(
        case,
        document=to_json(document).decode(),
        members={
            name: _member(member, answer[name].assigned if name in answer else None)
            for name, member in plain["members"].items()
        },
        recorded_sizes={name: topic["partitions"] for name, topic in topics},
        lag={name: [*enumerate(t["lag"])] for name, t in topics if "lag" in t},
    )


def _member(member: Mapping[str, Any], assigned: Held | None) -> CaseMember:
    owned = member.get("owned", {})
    return CaseMember(
        subscription=member["subscription"],
        owned={topic: sorted(owned[topic]) for topic in sorted(owned)},
        assigned=assigned,
        generation=member.get("generation"),
        rack=member.get("rack"),
        instance_id=member.get("instance_id"),
    )


def has_more_than_codes(document: Mapping[str, Any]) -> bool:
    """Return whether a rebalance/1 value states capacities, racks, or empty lags."""
    members, topics = document["members"].values(), document["topics"].values()
    return any("capacity" in member for member in members) or any(
        "racks" in topic or topic.get("lag") == [] for topic in topics
    )
