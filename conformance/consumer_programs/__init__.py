"""Programs that run one consumer of a client, with one command protocol for all.

`python-programs/orders.py` documents the protocol: the argument, the orders on standard
input, and the events on standard output. The wire and the studies start these programs,
each with its own settings.
"""

from conformance.consumer_programs.client_command import (
    client_consumer,
    python_consumer,
)
from conformance.consumer_programs.consumer_process import (
    ConsumerProcess,
)
from conformance.consumer_programs.java_command import java_consumer
from conformance.consumer_programs.requested_consumer import (
    Property,
    RequestedAssignor,
    RequestedConsumer,
)

__all__ = [
    "ConsumerProcess",
    "Property",
    "RequestedAssignor",
    "RequestedConsumer",
    "client_consumer",
    "java_consumer",
    "python_consumer",
]
