"""A real Apache Kafka broker on loopback, for tests with real groups."""

from conformance.broker.console_consumer import console_command, console_consumer
from conformance.broker.java_member import ASSIGNORS, java_member
from conformance.broker.server import VERSION, Broker, kafka_jars, running_broker
from conformance.broker.settings import Listener

__all__ = [
    "ASSIGNORS",
    "VERSION",
    "Broker",
    "Listener",
    "console_command",
    "console_consumer",
    "java_member",
    "kafka_jars",
    "running_broker",
]
