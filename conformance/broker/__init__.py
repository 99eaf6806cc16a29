"""A real Apache Kafka broker on loopback, for tests with real groups."""

from conformance.broker.broker_settings import Listener
from conformance.broker.console_consumer import console_command, console_consumer
from conformance.broker.server import VERSION, Broker, kafka_jars, running_broker

__all__ = [
    "VERSION",
    "Broker",
    "Listener",
    "console_command",
    "console_consumer",
    "kafka_jars",
    "running_broker",
]
