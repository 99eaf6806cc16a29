"""A group coordinator on loopback that makes one unmodified consumer the leader."""

from conformance.wire.consumers import (
    WireConsumer,
    aiokafka,
    dialect_of,
    kafka_clients,
    kafka_python,
    librdkafka,
    wire_consumer,
)
from conformance.wire.dialects import DIALECTS, Dialect, WrittenAs
from conformance.wire.leader_exchange import named_topics, newest_generation
from conformance.wire.loopback import LoopbackLimits
from conformance.wire.tested_leader import Wire
from conformance.wire.wired import (
    outside_consumer,
    wired_client,
    wired_command,
)

__all__ = [
    "DIALECTS",
    "Dialect",
    "LoopbackLimits",
    "Wire",
    "WireConsumer",
    "WrittenAs",
    "aiokafka",
    "dialect_of",
    "kafka_clients",
    "kafka_python",
    "librdkafka",
    "named_topics",
    "newest_generation",
    "outside_consumer",
    "wire_consumer",
    "wired_client",
    "wired_command",
]
