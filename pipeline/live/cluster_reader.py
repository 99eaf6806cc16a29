"""Read the state of groups and topics from a running cluster with kafka-python."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError, KafkaTimeoutError, for_code

from pipeline.live.client_properties import ClientSettings
from pipeline.live.cluster_state import (
    ClusterState,
    LiveGroup,
    MemberState,
    Topics,
    TopicState,
    Unreported,
)
from pipeline.live.connection_failure import connection_failure
from pipeline.live.consumer_group_describe import ConsumerGroupDescribeRequest
from pipeline.live.members import classic_members, consumer_members
from pipeline.live.offset_reader import OffsetReader
from pipeline.rows import message_of
from rebalance import OutsideError, SourceError

TIMEOUT_MS: Final = 15_000
_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):[0-9]{1,5}")
_IDLE: Final = ("Empty", "Dead", "")
_INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state"})
_CLASSIC, _CONSUMER = "classic", "consumer"
NO_SUCH_GROUP: Final = "there is no such group"
"""Reason of `Unreported` if a group that was asked for does not exist."""


def read_cluster(
    bootstrap_server: str, settings: ClientSettings, *, groups: Sequence[str] = ()
) -> ClusterState:
    """Read groups that have members, the topics that they use, and their offsets.

    ``bootstrap_server`` is ``host:port``, or several, separated by commas. Without
    ``groups``, all are read.

    Raises
    ------
    SourceError
        If the server is not of this form.
    OutsideError
        If no broker answers, or the cluster rejects the connection or a request that
        does not concern a single group or topic.
    """
    with connected(bootstrap_server, settings) as admin:
        return _Reader(admin).read(groups)


@contextmanager
def connected(server: str, settings: ClientSettings) -> Iterator[Any]:
    """Open an Admin client; errors are converted as in `read_cluster`."""
    servers = [part.strip() for part in server.split(",")]
    for address in servers:
        if not _HOST_AND_PORT.fullmatch(address):
            raise SourceError("no host:port", source=address)
    admin = None
    try:
        admin = KafkaAdminClient(
            bootstrap_servers=servers,
            client_id="assignor-oracle",
            request_timeout_ms=TIMEOUT_MS,
            bootstrap_timeout_ms=TIMEOUT_MS,
            **settings.for_kafka_python(),
        )
        yield admin
    except KafkaTimeoutError as error:
        reason = f"no broker answers within {TIMEOUT_MS // 1000} s"
        why = connection_failure(server, settings)
        message = reason if why is None else f"{reason}: {why}"
        raise OutsideError(f"{server}: {message}") from error
    except (KafkaError, OSError, ValueError) as error:
        raise OutsideError(f"{server}: {message_of(error)}") from error
    finally:
        if admin is not None:
            admin.close()


class _Described(NamedTuple):
    """A group as either protocol's response describes it."""

    error: str | None
    state: str
    assignor: str
    members: tuple[MemberState, ...]


class _Reader:
    """One pass over a cluster; collects the groups that are not reported."""

    def __init__(self, admin: Any) -> None:
        self._admin = admin
        self._offsets = OffsetReader(admin)
        self._unreported: list[Unreported] = []

    def read(self, requested: Sequence[str]) -> ClusterState:
        """Read groups, then their offsets and topics."""
        names = self._names_by_protocol(requested)
        groups = [
            *self._groups(_CLASSIC, self._classic(names[_CLASSIC])),
            *self._groups(_CONSUMER, self._consumer(names[_CONSUMER])),
        ]
        topics, all_names = self._topics(groups)
        return ClusterState(
            groups=tuple(sorted(groups, key=lambda group: group.group_id)),
            topics=topics,
            unreported=tuple(
                sorted(self._unreported, key=lambda group: group.group_id)
            ),
            names=all_names,
            notes=tuple(self._offsets.failures),
        )

    def _names_by_protocol(self, requested: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {_CLASSIC: [], _CONSUMER: []}
        listed = {group["group_id"]: group for group in self._admin.list_groups()}
        for name in sorted(set(requested) or listed):
            reason = _why_not(listed.get(name))
            if reason is None:
                protocol = (listed[name].get("group_type") or _CLASSIC).lower()
                found[protocol].append(name)
            elif requested:
                self._unreported.append(Unreported(group_id=name, reason=reason))
        return found

    def _groups(
        self, protocol: str, described: dict[str, _Described]
    ) -> Iterator[LiveGroup]:
        offsets = self._offsets.committed(list(described))
        for name, group in described.items():
            if group.error is not None:
                self._unreported.append(Unreported(group_id=name, reason=group.error))
            elif group.state not in _IDLE:  # else it ended in the meantime
                yield LiveGroup(
                    group_id=name,
                    protocol=protocol,
                    state=group.state,
                    assignor=group.assignor or None,
                    members=group.members,
                    committed=offsets.get(name),
                )

    def _classic(self, names: list[str]) -> dict[str, _Described]:
        described = self._admin.describe_groups(names) if names else {}
        return {
            name: _Described(
                error=group["error"],
                state=group["group_state"],
                assignor=group["protocol_data"],
                members=classic_members(group["members"]),
            )
            for name, group in ((name, described[name]) for name in names)
        }

    def _consumer(self, names: list[str]) -> dict[str, _Described]:
        described = self._described(names) if names else {}
        return {
            name: _Described(
                error=str(for_code(code)()) if (code := group["error_code"]) else None,
                state=group["group_state"],
                assignor=group["assignor_name"],
                members=consumer_members(group["members"]),
            )
            for name, group in ((name, described[name]) for name in names)
        }

    def _described(self, names: list[str]) -> dict[str, dict[str, Any]]:
        """Describe groups of the new protocol, each at its coordinator."""

        async def ask() -> dict[str, dict[str, Any]]:
            nodes = await self._admin._find_coordinator_ids(names)
            of_node: dict[int, list[str]] = defaultdict(list)
            for name, node in nodes.items():
                of_node[node].append(name)
            found = {}
            for node, some in of_node.items():
                request = ConsumerGroupDescribeRequest(
                    group_ids=some, include_authorized_operations=False
                )
                # kafka-python has no public call for a message of one's own.
                response = await self._admin._manager.send(request, node_id=node)
                found.update(
                    {group.group_id: group.to_dict() for group in response.groups}
                )
            return found

        described: dict[str, dict[str, Any]] = self._admin._manager.run(ask)
        return described

    def _topics(self, groups: Iterable[LiveGroup]) -> tuple[Topics, tuple[str, ...]]:
        members = [member for group in groups for member in group.members]
        used = {
            t
            for member in members
            for t in (*(member.subscription or ()), *member.target)
        }
        by_pattern = any(member.pattern is not None for member in members)
        topic_names = None if by_pattern else sorted(used)
        described = (
            self._admin.describe_topics(topic_names) if topic_names != [] else []
        )
        known = [topic for topic in described if not topic["error_code"]]
        names = sorted(
            topic["name"] for topic in known if topic["name"] not in _INTERNAL
        )
        if by_pattern:
            used.update(names)
        brokers = self._admin.describe_cluster()["brokers"]
        racks = {broker["broker_id"]: broker["rack"] for broker in brokers}
        topics = {
            topic["name"]: topic_state(topic["partitions"], racks)
            for topic in known
            if topic["name"] in used
        }
        return self._offsets.with_ends(topics), tuple(names)


def _why_not(listed: dict[str, Any] | None) -> str | None:
    """Return why a group is not read; None if it is."""
    if listed is None:
        return NO_SUCH_GROUP
    kind = (listed.get("group_type") or _CLASSIC).lower()
    if kind not in (_CLASSIC, _CONSUMER):
        return f"a {kind} group, not a consumer group"
    if listed["protocol_type"] not in (_CONSUMER, ""):
        return f"a group of protocol {listed['protocol_type']!r}, not consumers"
    if listed.get("group_state", _CONSUMER) in _IDLE:
        return "has no members"
    return None


def topic_state(
    partitions: list[dict[str, Any]], racks: dict[int, str | None]
) -> TopicState:
    """Return a topic without log ends; ``racks`` are by broker, empty if unknown."""
    ordered = sorted(partitions, key=lambda partition: partition["partition_index"])
    found = [
        tuple(
            sorted(
                {
                    rack
                    for node in partition["replica_nodes"]
                    if (rack := racks.get(node))
                }
            )
        )
        for partition in ordered
    ]
    known = bool(racks) and all(racks.values())
    return TopicState(partitions=len(ordered), racks=tuple(found) if known else None)
