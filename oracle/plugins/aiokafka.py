"""The oracle or a heuristic as an assignor of aiokafka (docs/plugins.md).

The client has three limitations. Its leader receives neither racks nor the names of
static members nor owned partitions. It does not support the cooperative mode. It does
not pass the generation of an assignment to the assignor; `AiokafkaAssignor.follow`
reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rebalance import MissingExtraError

try:
    from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
    from aiokafka.coordinator.protocol import (
        ConsumerProtocolMemberAssignment,
        ConsumerProtocolMemberMetadata,
    )
except ImportError as missing:
    raise MissingExtraError("oracle.plugins.aiokafka", "aiokafka") from missing

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
from rebalance.protocol import UNKNOWN_GENERATION, Subscription, encode_subscription


class Subscribed(ConsumerProtocolMemberMetadata):  # type: ignore[misc]
    """Encoded subscription of this member; the client's class has version 0 only."""

    def __init__(self, said: Subscription) -> None:
        super().__init__(said.version, list(said.topics), said.user_data)
        self._bytes = encode_subscription(said)

    def encode(self) -> bytes:
        """Encode the subscription in its own version."""
        return self._bytes


class AiokafkaAssignor(AbstractPartitionAssignor):  # type: ignore[misc]
    """An assignor of one consumer, created by `assignor`.

    The client calls these methods on a class or on an object. With one object per
    consumer, two consumers in one process have separate states; those of the client's
    own assignors share one.
    """

    def __init__(self, settings: PluginSettings) -> None:
        self.settings = settings
        self._memory = Memory()
        self._consumer: object = None

    @property
    def name(self) -> str:
        """Protocol name in the group."""
        return self.settings.name

    def follow(self, consumer: object) -> None:
        """Read generations from the ``AIOKafkaConsumer`` that uses this assignor.

        Without this call, claims have no generation, as in KIP-54. Java's ``sticky``
        treats such claims as older than all claims with a generation.
        """
        self._consumer = consumer

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolMemberMetadata:
        """Return this member's subscription and claims."""
        return Subscribed(
            self._memory.subscription(
                topics, mode=self.settings.mode, rack=self.settings.rack
            )
        )

    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Remember this member's assignment."""
        self._memory.remember(assignment.partitions(), self._generation())

    def assign(
        self,
        cluster: ClientCluster,
        members: Mapping[str, ConsumerProtocolMemberMetadata],
    ) -> dict[str, ConsumerProtocolMemberAssignment]:
        """Compute the assignment of the group, as its leader."""
        joined = [
            Joining(
                member_id=member_id,
                subscription=Subscription(
                    version=0,
                    topics=tuple(member.subscription or ()),
                    user_data=member.user_data,
                ),
            )
            for member_id, member in members.items()
        ]
        given = self.settings.leader.assign(joined, counts_of(cluster, joined))
        return {
            member_id: ConsumerProtocolMemberAssignment.decode(data)
            for member_id, data in given.items()
        }

    def _generation(self) -> int:
        """Read the generation from the client's coordinator (not public API)."""
        coordinator = getattr(self._consumer, "_coordinator", None)
        generation = getattr(coordinator, "generation", UNKNOWN_GENERATION)
        return generation if isinstance(generation, int) else UNKNOWN_GENERATION


def assignor(
    algorithm: str,
    *,
    name: str | None = None,
    policy: str = "sticky",
    seconds: float = SECONDS,
    fallback: str = FALLBACK,
    rack: str | None = None,
    lag: LagSource | None = None,
) -> AiokafkaAssignor:
    """Return an object for ``partition_assignment_strategy`` of one consumer.

    Create one per consumer: it remembers the consumer's assignment.

    Parameters
    ----------
    algorithm, name, policy, seconds, fallback, rack, lag
        See `oracle.plugins.plugin_settings.settings_of`.

    Raises
    ------
    ValueError
        For invalid settings, and for the name ``cooperative-sticky``: the client is
        eager.
    """
    settings = settings_of(
        algorithm,
        name=name,
        policy=policy,
        mode=Mode.EAGER,
        seconds=seconds,
        fallback=fallback,
        rack=rack,
        lag=lag,
    )
    return AiokafkaAssignor(settings)
