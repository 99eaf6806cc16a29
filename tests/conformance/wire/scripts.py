"""Consumers that are scripts in place of a client, and a small rebalance for them."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import orjson

from conformance.clients import Answer
from conformance.wire import WireConsumer
from tests.conformance.wire.client import joining
from tests.support.shapes import rebalance

TINY = orjson.dumps(
    rebalance(
        {"t": {"partitions": 3}},
        {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
    )
)
WHOLE = {"a": {"t": [0, 1]}, "b": {"t": [2]}}


def held(answer: Answer) -> dict[str, Any] | None:
    if answer.assignment is None:
        return None
    return {
        member: {t: sorted(numbers) for t, numbers in topics.items() if numbers}
        for member, topics in answer.assignment.members.items()
    }


def script(text: str, **settings: Any) -> WireConsumer:
    """Return a consumer that is a Python program in place of a client."""
    argv = (sys.executable, "-c", textwrap.dedent(text), "{address}")
    return WireConsumer(name="script", argv=argv, assignor="range", **settings)


# Each script joins by hand, with frames that the tests' own client has encoded.
HELLO = f"send({joining()!r})"
JOINS = f"""
import os, signal, socket, struct, sys, time
host, port = sys.argv[1].split(":")
peer = socket.create_connection((host, int(port)))
def send(frame):
    peer.sendall(struct.pack(">i", len(frame)) + frame)
def receive():
    (size,) = struct.unpack(">i", peer.recv(4, socket.MSG_WAITALL))
    return peer.recv(size, socket.MSG_WAITALL)
{HELLO}
receive()
"""
