"""Rows of ``rebalances`` and ``members``: a case without its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pipeline.cases import NOT_REPORTED, SNAPSHOT, Case, CaseMember, Held
from pipeline.judging.instances import CaseInstance
from pipeline.judging.outcome import Outcome
from pipeline.tables import UNDATED

Row = dict[str, Any]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(milliseconds: int | None) -> datetime | None:
    """Convert milliseconds since 1970 to a time, UTC."""
    if milliseconds is None:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def day(milliseconds: int | None) -> str:
    """Return the day of a time, UTC, or `UNDATED`."""
    at = moment(milliseconds)
    return UNDATED if at is None else at.date().isoformat()


def key_of(case: Case, cluster: str) -> Row:
    """Return the columns that join the tables."""
    return {
        "cluster": cluster,
        "date": day(case.at),
        "rebalance_id": case.rebalance_id,
        "group_id": case.group_id,
        "generation": case.generation,
    }


def rebalance_row(
    case: Case, instance: CaseInstance, outcome: Outcome, cluster: str
) -> Row:
    """Return the row of one rebalance."""
    people = (case.members or {}).values()
    is_reported = any(member.joined is not None for member in people)
    return key_of(case, cluster) | {
        "at": moment(case.at),
        "source_kind": case.source_kind,
        "source": case.source,
        "source_partition": case.source_partition,
        "source_offset": case.source_offset,
        "protocol": case.protocol,
        "client_assignor": case.client_assignor,
        "cooperative": case.cooperative,
        "leader": case.leader,
        "episode_id": case.episode_id,
        "round": case.round,
        "members": len(instance.plain["members"]),
        "topics": outcome.topics,
        "partitions": outcome.partitions,
        "owned": outcome.owned,
        "joined": sum(bool(member.joined) for member in people)
        if is_reported
        else None,
        "left": case.left,
        "resubscribed": case.resubscribed,
        "partition_counts": instance.partition_counts,
        "newer_partitions": instance.newer_partitions,
        "owned_from": case.owned_from,
        "subscriptions": case.subscriptions,
        "lag_known": instance.lag_known,
        "lag_basis": instance.lag_basis,
        "lag_missing": instance.lag_missing,
        "claims_disagree": case.claims_disagree,
        "behind": case.behind,
        "reached_ms": case.reached_ms,
        "reached_unknown": case.reached_unknown,
        "instance": instance.text,
    }


def member_rows(case: Case, instance: CaseInstance, cluster: str) -> Iterator[Row]:
    """Yield the rows of one rebalance's members, by name."""
    key = key_of(case, cluster)
    lag = _lag_of(instance.plain) if instance.lag_known else None
    members: Mapping[str, Row] = instance.plain["members"]
    for name in sorted(members):
        said = (case.members or {}).get(name)
        row = key | _member(name, members[name], said, lag)
        if case.owned_from == SNAPSHOT:
            row["owned"] = None
        if case.subscriptions == NOT_REPORTED:
            row["subscription"] = None
        yield row


def _member(
    name: str,
    member: Row,
    said: CaseMember | None,
    lag: Mapping[str, list[int]] | None,
) -> Row:
    assigned = None if said is None else said.assigned
    row = {
        "member_id": name,
        "instance_id": member.get("instance_id"),
        "rack": member.get("rack"),
        "subscription": sorted(member["subscription"]),
        "owned": _partitions(member.get("owned", {})),
        "assigned": None if assigned is None else _partitions(assigned),
        "load": None if assigned is None else sum(map(len, assigned.values())),
    }
    if lag is not None and assigned is not None:
        row["lag"] = sum(
            behind[number]
            for topic, numbers in assigned.items()
            for behind in [lag.get(topic, [])]
            for number in numbers
            if number < len(behind)
        )
    if said is not None:
        claimed = said.claimed
        row |= {
            "client_id": said.client_id,
            "client_host": said.client_host,
            "joined": said.joined,
            "claimed": None if claimed is None else _partitions(claimed),
            "claimed_generation": said.claimed_generation,
        }
    return row


def _lag_of(plain: Row) -> dict[str, list[int]]:
    return {name: topic.get("lag", []) for name, topic in plain["topics"].items()}


def _partitions(held: Held) -> list[Row]:
    return [
        {"topic": topic, "partitions": sorted(held[topic])} for topic in sorted(held)
    ]
