"""A group coordinator on loopback that makes one unmodified consumer the leader."""

from conformance.wire.consumers import (
    WireConsumer,
    aiokafka,
    kafka_clients,
    kafka_python,
    librdkafka,
)
from conformance.wire.dialects import DIALECTS, Dialect
from conformance.wire.leader import Wire
from conformance.wire.loopback import LoopbackLimits

__all__ = [
    "DIALECTS",
    "Dialect",
    "LoopbackLimits",
    "Wire",
    "WireConsumer",
    "aiokafka",
    "kafka_clients",
    "kafka_python",
    "librdkafka",
]
