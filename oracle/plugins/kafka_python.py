"""The oracle or a heuristic as an assignor of kafka-python 3 (docs/plugins.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

from rebalance import MissingExtraError, WireError

try:
    from kafka.coordinator.assignors.abstract import (
        AbstractPartitionAssignor,
        RebalanceProtocol,
    )
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )
    from kafka.structs import TopicPartition
except ImportError as missing:
    raise MissingExtraError("oracle.plugins.kafka_python", "kafka-python") from missing

from oracle.plugins.cluster import ClientCluster, counts_of
from oracle.plugins.joining import Joining
from oracle.plugins.leader import LagSource
from oracle.plugins.memory import Memory
from oracle.plugins.plugin_settings import (
    FALLBACK,
    SECONDS,
    PluginSettings,
    settings_of,
)
from oracle.plugins.protocol_modes import Mode
from rebalance.protocol import Subscription, decode_subscription, encode_subscription

_MODES = {
    Mode.EAGER: RebalanceProtocol.EAGER,
    Mode.COOPERATIVE: RebalanceProtocol.COOPERATIVE,
}


class Metadata(ClientCluster, Protocol):
    """The client's ``ClusterMetadata``."""

    def brokers(self) -> Iterable[ClientBroker]:
        """Return all brokers."""
        ...

    def is_replica_node(self, partition: TopicPartition, node_id: int) -> object:
        """Return a truthy value if that broker has a replica, else None."""
        ...


class ClientBroker(Protocol):
    """A broker in the client's metadata."""

    node_id: int
    rack: str | None


class ClientMember(Protocol):
    """A member as the client passes it to the leader; ``metadata`` is decoded."""

    member_id: str
    group_instance_id: str | None
    metadata: ConsumerProtocolSubscription


class KafkaPythonAssignor(AbstractPartitionAssignor):  # type: ignore[misc]
    """An assignor that each consumer instantiates; `assignor` creates the class."""

    settings: ClassVar[PluginSettings]

    def __init__(self) -> None:
        self._memory = Memory()

    @property
    def name(self) -> str:
        """Protocol name in the group."""
        return self.settings.name

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Return one mode: the assignors of a consumer need a common mode."""
        return [_MODES[self.settings.mode]]

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Return this member's subscription and claims."""
        said = self._memory.subscription(
            topics, mode=self.settings.mode, rack=self.settings.rack
        )
        return ConsumerProtocolSubscription.decode(encode_subscription(said))

    def on_assignment(
        self, assignment: ConsumerProtocolAssignment, generation: int
    ) -> None:
        """Remember this member's assignment."""
        given = (
            (partition.topic, partition.partition)
            for partition in assignment.partitions()
        )
        self._memory.remember(given, generation)

    def assign(
        self, cluster: Metadata, members: Sequence[ClientMember]
    ) -> dict[str, ConsumerProtocolAssignment]:
        """Compute the assignment of the group, as its leader."""
        joined = [
            Joining(
                member_id=member.member_id,
                subscription=_read(member.metadata),
                instance_id=member.group_instance_id,
            )
            for member in members
        ]
        counts = counts_of(cluster, joined)
        has_racks = any(member.subscription.rack for member in joined)
        racks = _racks(cluster, counts) if has_racks else None
        given = self.settings.leader.assign(joined, counts, racks=racks)
        return {
            member_id: ConsumerProtocolAssignment.decode(data)
            for member_id, data in given.items()
        }


def assignor(
    algorithm: str,
    *,
    name: str | None = None,
    policy: str = "sticky",
    cooperative: bool | None = None,
    seconds: float = SECONDS,
    fallback: str = FALLBACK,
    rack: str | None = None,
    lag: LagSource | None = None,
) -> type[KafkaPythonAssignor]:
    """Return a class for ``partition_assignment_strategy`` of a ``KafkaConsumer``.

    Each consumer creates its own instance, so several consumers can share one list.

    Parameters
    ----------
    algorithm, name, policy, seconds, fallback, rack, lag
        See `oracle.plugins.plugin_settings.settings_of`.
    cooperative : bool, optional
        Whether members keep partitions during a rebalance (KIP-429). Default: the mode
        of Kafka's assignor of that name, True for ``cooperative-sticky``.
    """
    mode = None
    if cooperative is not None:
        mode = Mode.COOPERATIVE if cooperative else Mode.EAGER
    settings = settings_of(
        algorithm,
        name=name,
        policy=policy,
        mode=mode,
        seconds=seconds,
        fallback=fallback,
        rack=rack,
        lag=lag,
    )
    return type("NamedGroupAssignor", (KafkaPythonAssignor,), {"settings": settings})


def _read(metadata: ConsumerProtocolSubscription) -> Subscription:
    """Decode a subscription with our own codec, which distinguishes null from empty."""
    try:
        return decode_subscription(metadata.encode())
    except WireError:  # accepted by the client, but not by our codec: no claim
        return Subscription(version=0, topics=tuple(metadata.topics))


def _racks(cluster: Metadata, counts: Mapping[str, int]) -> dict[str, list[list[str]]]:
    """Return the racks of replicas, for the brokers that state a rack."""
    seated = {
        broker.node_id: broker.rack for broker in cluster.brokers() if broker.rack
    }
    racks = {}
    for topic, count in counts.items():
        spots = [TopicPartition(topic, number) for number in range(count)]
        racks[topic] = [
            sorted({r for n, r in seated.items() if cluster.is_replica_node(spot, n)})
            for spot in spots
        ]
    return racks
