"""Programs that run one consumer of a client, with one command protocol for all.

`python-programs/orders.py` documents the protocol: what the argument states, the orders
on standard input, and the events on standard output. The wire and the
studies start these programs, each with its own settings.
"""

from conformance.consumers.asked import AskedAssignor, AskedConsumer, Property
from conformance.consumers.java import ASSIGNORS, java_consumer
from conformance.consumers.python import PROGRAMS, python_consumer

__all__ = [
    "ASSIGNORS",
    "PROGRAMS",
    "AskedAssignor",
    "AskedConsumer",
    "Property",
    "java_consumer",
    "python_consumer",
]
