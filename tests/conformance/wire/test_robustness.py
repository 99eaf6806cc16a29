"""Random and mutated frames: refused or answered, within bounds, and never an error."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import orjson
import pytest

from conformance.wire import Dialect, LoopbackLimits, Wire, WrittenAs, librdkafka
from conformance.wire.broker_messages import (
    APIS,
    LARGE_FLEXIBLE_FRAME,
    LARGE_FRAME,
    LARGEST_FRAME,
    METADATA,
    OFFSET_FETCH,
    SYNC_GROUP,
    decode_request,
)
from conformance.wire.catalog import Catalog
from conformance.wire.leader_coordinator import LeaderCoordinator, Lost
from conformance.wire.leader_exchange import exchange_of
from rebalance import WireError, rebalance_of
from tests.conformance.wire.client import FakeLink, joining, request, syncing
from tests.support.shapes import rebalance

GROUP = rebalance(
    {"t": {"partitions": 3}},
    {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
)
TINY = orjson.dumps(GROUP)
QUICK = 20_000
ALL = 1_000_000


def seeds() -> list[bytes]:
    """Return a valid request of every API and version, and the leader's own."""
    frames = [
        request(key, version)
        for key, api in APIS.items()
        for version in range(api.least, api.newest + 1)
    ]
    one = APIS[METADATA].request.MetadataRequestTopic
    frames.append(request(METADATA, 8, topics=[one(version=8, name="w1-000000")]))
    frames += [joining(version=v) for v in range(1, 10)]
    frames += [syncing({"a": {"w1-000000": [0, 1]}, "b": {}}, v) for v in range(6)]
    return frames


def mutated(rng: Random, frame: bytes) -> bytes:
    """Change, insert, remove, repeat or cut bytes; lengths are favourite victims."""
    data = bytearray(frame)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.randbytes(rng.randint(1, 8))
        elif kind == 2:
            del data[at : at + rng.randint(1, 8)]
        elif kind == 3:
            number = rng.choice((-(2**31), -7, -1, 0, 1, 2**31 - 1, rng.randrange(999)))
            data[at : at + 4] = struct.pack(">i", number)
        elif kind == 4:
            data[at : at + 2] = struct.pack(">h", rng.choice((-2, -1, 0, 32767)))
        else:
            del data[at:]
    return bytes(data)


def malformed(rng: Random, valid: list[bytes]) -> bytes:
    if rng.randrange(4):
        return mutated(rng, rng.choice(valid))
    head = struct.pack(">hh", rng.choice(list(APIS)), rng.randrange(-1, 13))
    return head * rng.randrange(2) + rng.randbytes(rng.randrange(120))


async def feed(count: int, seed: int) -> dict[str, int]:
    """Give the coordinator frames in every state that a group can be in."""
    rng, valid = Random(seed), seeds()  # noqa: S311
    exchange = exchange_of(
        rebalance_of(GROUP),
        number=1,
        dialect=Dialect(),
        written=WrittenAs(protocol="range", version=3, base=0),
    )
    seen = {"refused": 0, "answered": 0, "silent": 0, "instances": 0}
    coordinator = LeaderCoordinator(Catalog("127.0.0.1", 1), rehearses=False)
    link = FakeLink()
    for _ in range(count):
        try:
            coordinator.receive(link, malformed(rng, valid))
        except WireError:
            seen["refused"] += 1
            coordinator.forget(link)
            link = FakeLink()
        else:
            seen["answered" if link.frames else "silent"] += 1
            link.frames.clear()
        if coordinator.waiting is None and rng.randrange(20) == 0:
            coordinator.forget(link)
            link = FakeLink()
            coordinator.receive(link, joining())
        if coordinator.waiting is not None and rng.randrange(4) == 0:
            seen["instances"] += 1
            coordinator.ask(exchange).add_done_callback(retrieve)
    return seen


def retrieve(answer: asyncio.Future[Any]) -> None:
    """Accept the one error that an answer can have."""
    error = answer.exception()
    assert error is None or isinstance(error, Lost)


def check(count: int, seed: int) -> None:
    seen = asyncio.run(feed(count, seed))
    assert sum(seen.values()) - seen["instances"] == count
    assert all(number > count // 1000 for number in seen.values()), seen


@pytest.mark.heavy
def test_malformed_frames() -> None:
    check(QUICK, seed=1)


@pytest.mark.nightly(minutes=1)
def test_a_million_malformed_frames() -> None:
    before = peak()
    check(ALL, seed=2)
    assert peak() - before < 200 << 20


def peak() -> int:
    """Return the largest size of this process so far, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def worst_frames() -> Iterator[tuple[str, bytes]]:
    """Yield names and frames of the largest size that decode to the most objects."""
    head = struct.pack(">hhihi", METADATA, 8, 1, -1, 0)[:-4]
    count = (LARGE_FRAME - len(head) - 7) // 2
    yield "topics", head + struct.pack(">i", count) + bytes(2 * count + 3)
    head = struct.pack(">hhihhihh", SYNC_GROUP, 3, 1, -1, 0, 1, 0, -1)
    count = (LARGEST_FRAME - len(head) - 4) // 6
    yield "assignments", head + struct.pack(">i", count) + bytes(6 * count)
    # flexible: a structure per 5 bytes, each with a tag that copies the rest
    head = struct.pack(">hhih", METADATA, 9, 1, -1) + b"\0"
    body = b"\xff\xff\x03" + b"\x01\x01\x07\x00" * ((LARGE_FLEXIBLE_FRAME - 32) // 4)
    yield "tags", head + body
    head = struct.pack(">hhihh", OFFSET_FETCH, 5, 1, -1, 0)
    count = (LARGE_FRAME - len(head) - 16) // 4
    topic = struct.pack(">ihi", 1, 0, count) + bytes(4 * count)
    yield "partitions", head + topic


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "frame"),
    [pytest.param(name, frame, id=name) for name, frame in worst_frames()],
)
def test_the_worst_frames_are_bounded(name: str, frame: bytes) -> None:
    before, began = peak(), time.process_time()
    refused = False
    try:
        Catalog("127.0.0.1", 1).respond(decode_request(frame))
    except WireError:
        refused = True
    assert refused == (name == "tags")
    assert peak() - before < 400 << 20
    assert time.process_time() - began < 20


def connect(wire: Wire) -> socket.socket:
    host, _, port = wire.address.partition(":")
    peer = socket.create_connection((host, int(port)))
    peer.settimeout(10)
    return peer


def ends(peer: socket.socket) -> bool:
    """Return whether the other side ends the connection."""
    try:
        while peer.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.heavy
def test_malformed_frames_over_sockets() -> None:
    """A consumer is served while others send what they like.

    They can use up the connections, which costs the consumer one instance at most.
    """
    rng, valid = Random(3), seeds()  # noqa: S311
    with Wire(librdkafka("range")) as wire:
        assert wire.answer(TINY).assignment is not None
        for round_ in range(300):
            frame = malformed(rng, valid)
            size = len(frame) if round_ % 3 else rng.randrange(-(2**31), 2**31)
            with connect(wire) as peer, suppress(ConnectionError):  # it may hang up
                peer.sendall(struct.pack(">i", size) + frame)
        answers = [wire.answer(TINY) for _ in range(2)]
        assert answers[-1].assignment is not None, answers


def test_frames_are_refused_before_they_are_buffered() -> None:
    heads = [
        struct.pack(">i", LARGEST_FRAME + 1),
        struct.pack(">i", -1),
        struct.pack(">ihh", LARGE_FRAME + 1, METADATA, 8),
        struct.pack(">ihh", 100, 4711, 0),
    ]
    with Wire() as wire:
        for head in heads:
            with connect(wire) as peer:
                peer.sendall(head)
                assert ends(peer)


def test_slow_and_silent_peers_are_disconnected(
    capfd: pytest.CaptureFixture[str],
) -> None:
    limits = LoopbackLimits(first=0.3, frame=0.3, silent=0.3)
    good = request(METADATA, 8, topics=[])
    framed = struct.pack(">i", len(good)) + good
    with Wire(limits=limits) as wire:
        for sent in (b"", b"\0", framed[:-1], framed):
            with connect(wire) as peer:
                peer.sendall(sent)
                assert ends(peer)
    cut = f"Metadata (API 3) version 8: not all of {len(good)} bytes in 0.3 s"
    reasons = ["no request in 0.3 s", "a request not complete in 0.3 s", cut]
    lines = capfd.readouterr().err.splitlines()
    assert lines == [f"wire: closed a connection: {reason}" for reason in reasons]


@pytest.mark.heavy
def test_a_peer_that_reads_nothing_is_disconnected() -> None:
    limits = LoopbackLimits(frame=0.5)
    kind = APIS[METADATA].request.MetadataRequestTopic
    names = [kind(version=8, name=f"topic-{n}") for n in range(5000)]
    one = request(METADATA, 8, topics=names)
    framed = (struct.pack(">i", len(one)) + one) * 10
    with (
        Wire(limits=limits) as wire,
        connect(wire) as peer,
        pytest.raises((ConnectionError, TimeoutError)),
    ):
        send_forever(peer, framed)


def send_forever(peer: socket.socket, data: bytes) -> None:
    while True:
        peer.sendall(data)


def test_further_connections_are_refused() -> None:
    with Wire(limits=LoopbackLimits(connections=2)) as wire:
        first, second = connect(wire), connect(wire)
        good = request(METADATA, 8, topics=[])
        for peer in (first, second):
            peer.sendall(struct.pack(">i", len(good)) + good)
            assert peer.recv(4)
        with connect(wire) as third:
            assert ends(third)
        first.close()
        second.close()


def test_only_loopback_can_connect() -> None:
    with Wire() as wire:
        assert wire.address.startswith("127.0.0.1:")


def test_connections_that_end_are_closed() -> None:
    good = request(METADATA, 8, topics=[])
    with Wire() as wire, connect(wire) as first:
        first.sendall(struct.pack(">i", len(good)) + good)
        assert first.recv(4)  # so the loop has opened what it needs
        before = open_files()
        for _ in range(20):
            connect(wire).close()
        deadline = time.monotonic() + 30  # on a busy machine
        while open_files() > before + 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert open_files() <= before + 2  # what else runs can open a file


def open_files() -> int:
    """Return the number of open files and sockets of this process."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
