"""The Admin API's responses, from a stand-in for the client, with what can fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from kafka import TopicPartition
from kafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError

from pipeline.live import ClientSettings, ClusterState, read_cluster
from pipeline.live.cluster_reader import _Reader
from rebalance import SourceError


class Offset(NamedTuple):
    offset: int


class StandIn:
    """A cluster of two topics; ``groups`` are described, ``forbidden`` are not."""

    def __init__(self, groups: dict[str, Any], forbidden: tuple[str, ...] = ()) -> None:
        self.groups = groups
        self.forbidden = forbidden
        self._manager = SimpleNamespace(run=lambda _ask: {})

    def list_groups(self) -> list[dict[str, Any]]:
        return [
            {
                "group_id": name,
                "protocol_type": group.get("protocol_type", "consumer"),
                "group_state": group.get("group_state", "Stable"),
                "group_type": group.get("group_type", "Classic"),
            }
            for name, group in self.groups.items()
        ]

    def describe_groups(self, names: list[str]) -> dict[str, Any]:
        return {name: self.groups[name] for name in names}

    def list_group_offsets(self, specs: dict[str, None]) -> dict[str, Any]:
        if set(specs) & set(self.forbidden):
            raise GroupAuthorizationFailedError
        return {name: {TopicPartition("t", 0): Offset(3)} for name in specs}

    def describe_topics(self, names: list[str] | None) -> list[dict[str, Any]]:
        partitions = [
            {"partition_index": number, "replica_nodes": nodes}
            for number, nodes in ((1, [2]), (0, [1, 2]))
        ]
        known = [
            {"name": name, "error_code": 0, "partitions": partitions}
            for name in ("t", "u")
        ]
        absent = [{"name": "gone", "error_code": 3, "partitions": []}]
        return [
            topic for topic in known + absent if names is None or topic["name"] in names
        ]

    def describe_cluster(self) -> dict[str, Any]:
        return {
            "brokers": [
                {"broker_id": 1, "rack": "east"},
                {"broker_id": 2, "rack": "west"},
            ]
        }

    def list_partition_offsets(self, requests: dict[TopicPartition, Any]) -> Any:
        if {place.topic for place in requests} & set(self.forbidden):
            raise TopicAuthorizationFailedError
        return {
            place: Offset(9 if int(at) == -1 else 1) for place, at in requests.items()
        }


def group(*topics: str, **more: Any) -> dict[str, Any]:
    member = {
        "member_id": "m",
        "group_instance_id": None,
        "member_metadata": {"topics": list(topics), "rack_id": ""},
        "member_assignment": {
            "assigned_partitions": [{"topic": topics[0], "partitions": [1, 0]}]
        },
    }
    described = {
        "error": None,
        "group_state": "Stable",
        "protocol_data": "range",
        "members": [member],
    }
    return described | more


def read(stand_in: StandIn, *requested: str) -> ClusterState:
    return _Reader(stand_in).read(requested)


def test_groups_topics_offsets_and_racks_are_read() -> None:
    found = read(StandIn({"g": group("t", "gone")}))
    (one,) = found.groups
    assert (one.state, one.assignor) == ("Stable", "range")
    assert one.committed == {"t": {0: 3}}
    assert one.members[0].held == {"t": [0, 1]}
    assert one.members[0].subscription == ("t", "gone")
    assert found.topics.keys() == {"t"}
    assert found.topics["t"].racks == (("east", "west"), ("west",))
    assert found.topics["t"].ends == ((1, 9), (1, 9))
    assert found.notes == ()


def test_what_is_forbidden_costs_only_its_own_lag() -> None:
    groups = {"g": group("t"), "h": group("u")}
    found = read(StandIn(groups, forbidden=("h", "t")))
    committed = {group.group_id: group.committed for group in found.groups}
    assert committed == {"g": {"t": {0: 3}}, "h": None}
    assert found.topics["t"].ends is None
    assert found.topics["u"].ends == ((1, 9), (1, 9))
    first, second = found.notes
    assert first.startswith("committed offsets of group h: ")
    assert second.startswith("log ends of topic t: ")


def test_a_group_that_is_not_described_is_named_with_the_reason() -> None:
    groups = {"g": group("t"), "h": group("t", error="not authorized")}
    found = read(StandIn(groups))
    assert [group.group_id for group in found.groups] == ["g"]
    assert [
        (unreported.group_id, unreported.reason) for unreported in found.unreported
    ] == [("h", "not authorized")]


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        ({"group_state": "Empty"}, "has no members"),
        ({"protocol_type": "connect"}, "a group of protocol 'connect', not consumers"),
        ({"group_type": "Share"}, "a share group, not a consumer group"),
        ({"group_type": "Streams"}, "a streams group, not a consumer group"),
        (None, "there is no such group"),
    ],
)
def test_other_groups_are_named_only_if_requested(
    listed: dict[str, str] | None, reason: str
) -> None:
    groups = {"g": group("t")}
    if listed is not None:
        groups["h"] = group("t", **listed)
    assert read(StandIn(groups)).unreported == ()
    (found,) = read(StandIn(groups), "g", "h").unreported
    assert (found.group_id, found.reason) == ("h", reason)


def test_members_of_a_rebalancing_group_have_no_subscription() -> None:
    described = group("t", group_state="PreparingRebalance")
    described["members"][0] |= {"member_metadata": b"", "member_assignment": b""}
    (one,) = read(StandIn({"g": described})).groups
    assert one.members[0].subscription is None
    assert one.members[0].held == {}


def test_without_racks_of_all_brokers_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brokers = [{"broker_id": 1, "rack": "east"}, {"broker_id": 2, "rack": None}]
    monkeypatch.setattr(StandIn, "describe_cluster", lambda _self: {"brokers": brokers})
    assert read(StandIn({"g": group("t")})).topics["t"].racks is None


@pytest.mark.parametrize("server", ["", "host", "host:", "host:port", "a:1,,b:2"])
def test_a_server_without_a_port_is_named(server: str) -> None:
    with pytest.raises(SourceError, match="no host:port"):
        read_cluster(server, ClientSettings())
