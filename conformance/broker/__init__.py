"""A real Apache Kafka broker on loopback, for tests with real groups."""

from conformance.broker.java_member import java_member
from conformance.broker.server import VERSION, Broker, running_broker
from conformance.broker.settings import Listener

__all__ = ["VERSION", "Broker", "Listener", "java_member", "running_broker"]
