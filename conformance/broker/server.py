"""One Apache Kafka node (KRaft) from pinned jars, for the duration of a context.

The jars are the dependencies of ``kafka_2.13``, ``kafka-tools``, and a logger; neither
the scripts of a release nor a container is needed. Kafka 4.4.0 is newer, but was
published without one of its dependencies. Data and log are in a temporary folder, and
free ports of loopback are used.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from conformance.broker.broker_settings import PLAINTEXT, Listener, settings
from conformance.clients.jars import Jar, fetch
from conformance.java import java_home, run_java
from rebalance import OutsideError

VERSION: Final = "4.3.1"
FORMAT_SECONDS: Final = 60
START_SECONDS: Final = 90
STOP_SECONDS: Final = 15
ATTEMPTS: Final = 3  # another process can take a free port before we listen
STARTED: Final = "Kafka Server started"
FRUGAL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SHOWN: Final = 2000  # characters of the log in an error
KEEPER: Final = """
exec 3<&0
"$@" </dev/null &
broker=$!
(cat <&3; kill "$broker") >/dev/null 2>&1 &
wait "$broker"
"""
"""Ends the broker when its input ends, which it also does if we are killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A running broker.

    Attributes
    ----------
    address : str
        Host and port, the clients' ``bootstrap.servers``.
    log : Path
        Log file, which is deleted at the end of the context.
    """

    address: str
    log: Path


@contextmanager
def running_broker(
    *, rack: str | None = None, listener: Listener = PLAINTEXT
) -> Iterator[Broker]:
    """Fetch missing jars, start a broker, and stop it at the end.

    Raises
    ------
    OutsideError
        If there is no Java, a jar cannot be fetched, or the broker does not start; the
        message then contains the end of its log.
    """
    java = java_with_kafka()
    with tempfile.TemporaryDirectory(prefix="broker-") as place:
        yield from _started(java, Path(place), rack, listener)


def java_with_kafka() -> list[str]:
    """Fetch missing jars; return the start of a command, Java and its class path.

    Raises
    ------
    OutsideError
        If there is no Java, or a jar cannot be fetched.
    """
    java = java_home().home / "bin" / "java"
    return [str(java), "-cp", ":".join(map(str, kafka_jars()))]


def kafka_jars() -> list[Path]:
    """Fetch missing jars; return the paths of all.

    Raises
    ------
    OutsideError
        If there is no Java, or a jar cannot be fetched.
    """
    folder = Path(sys.prefix) / "jars"
    pins = orjson.loads((Path(__file__).parent / "jars.json").read_bytes())
    jars = [Jar(**pin) for pin in pins]
    fetch(jars, folder, java=java_home().home / "bin" / "java")
    return [folder / jar.file_name for jar in jars]


def _started(
    java: list[str], place: Path, rack: str | None, listener: Listener = PLAINTEXT
) -> Iterator[Broker]:
    reason = ""
    for attempt in range(ATTEMPTS):
        folder = place / str(attempt)
        folder.mkdir()
        ports = _free_ports(2)
        text = settings(folder, *ports, rack=rack, listener=listener)
        (folder / "settings").write_text(text)
        _format(java, folder, listener)
        with _process(java, folder) as process:
            reason = _wait(process, folder / "log")
            if not reason:
                yield Broker(address=f"127.0.0.1:{ports[0]}", log=folder / "log")
                return
        if "Address already in use" not in reason:
            break
    raise OutsideError(f"cannot start a broker: {reason}")


def _format(java: list[str], folder: Path, listener: Listener) -> None:
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    command = [java[0], *FRUGAL, *java[1:], "kafka.tools.StorageTool", "format"]
    command += [f"--cluster-id={cluster}"]
    command += ["--config", str(folder / "settings")]
    command += [
        word for credential in listener.scram for word in ("--add-scram", credential)
    ]
    run_java(command, what="format a broker's storage", seconds=FORMAT_SECONDS)


@contextmanager
def _process(java: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [java[0], "-Xmx512m", *FRUGAL, *java[1:]]
    command += ["kafka.Kafka", str(folder / "settings")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # the user's own Java, and our jars
            ["/bin/sh", "-c", KEEPER, "keeper", *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C ends us, and we stop the broker
        )
        try:
            yield process
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(process: subprocess.Popen[bytes], log: Path) -> str:
    """Wait until the broker listens; return an empty text, or why it failed."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        said = log.read_text(errors="replace")
        if STARTED in said:
            return ""
        if process.poll() is not None:
            return f"it ended with {process.returncode}: {said[-SHOWN:].strip()}"
        time.sleep(0.1)
    said = log.read_text(errors="replace")
    return f"not up in {START_SECONDS} s: {said[-SHOWN:].strip()}"


def _free_ports(count: int) -> list[int]:
    """Return distinct free ports of loopback."""
    held = [socket.socket() for _ in range(count)]
    try:
        for socket_ in held:
            socket_.bind(("127.0.0.1", 0))
        return [int(socket_.getsockname()[1]) for socket_ in held]
    finally:
        for socket_ in held:
            socket_.close()
