"""Timed calls of Kafka's assignors: one Java process per assignor and rebalance.

The program is ``Timing.java``, next to the adapter. It measures its own times, only
around the call of the assignor.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from benchmarks.jvm_calls import Calls
from conformance.clients import KafkaClients

MEGABYTES: Final = 4096
START_SECONDS: Final = 300  # to start, read the rebalance, or make input for calls
BUSY: Final = 10  # largest ratio of wall time to CPU time of a call


class CallTooSlowError(Exception):
    """A call exceeded its time limit."""


class JavaFailedError(Exception):
    """The assignor raised an error, or the program ended."""


class JavaCalls:
    """A source of timed calls; a context that ends its process."""

    def __init__(
        self, clients: KafkaClients, assignor: str, document: Path, *, seconds: float
    ) -> None:
        path = ":".join(map(str, clients.class_path))
        heap = f"-Xmx{MEGABYTES}m"
        command = [str(clients.java), heap, "-cp", path, "Timing", assignor]
        self.seconds = seconds
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed on exit
        self._process = subprocess.Popen(
            [*command, str(document), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
        )
        self._unread = bytearray()
        self.about: dict[str, str] = {}

    def __enter__(self) -> Self:
        try:
            self.about = self._line(START_SECONDS)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def run(self, calls: int) -> Calls:
        """Let it call the assignor so often.

        Raises
        ------
        CallTooSlowError
            If a call exceeds its CPU time limit; the process has then ended.
        JavaFailedError
            If the assignor raises an error, or the process ends.
        """
        self._ask(str(calls))
        reply = self._line(calls * self.seconds * BUSY + START_SECONDS)
        return Calls(
            cpu_ns=tuple(reply["cpu_ns"]),
            wall_ns=tuple(reply["wall_ns"]),
            collected_ms=reply["collected_ms"],
        )

    def plan(self) -> bytes:
        """Return the assignment/1 of the last call."""
        self._ask("plan")
        return self._bytes(START_SECONDS)

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")

    def _line(self, seconds: float) -> dict[str, Any]:
        return read_line(self._bytes(seconds))

    def _bytes(self, seconds: float) -> bytes:
        """Return the bytes before the next line break."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not ready.select(max(0.0, deadline - time.monotonic())):
                    raise CallTooSlowError(f"no word in {seconds:g} s")
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                if not more:
                    raise JavaFailedError(f"exit code {self._process.wait()}")
                self._unread += more
        line, _, rest = bytes(self._unread).partition(b"\n")
        self._unread = bytearray(rest)
        return line

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()


def read_line(line: bytes) -> dict[str, Any]:
    """Parse a line of the timing program.

    Raises
    ------
    CallTooSlowError
        If it reports that a call exceeded its time limit.
    JavaFailedError
        If it reports an error of the assignor, or is not a JSON object.
    """
    try:
        reply = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise JavaFailedError(f"not JSON: {line[:200]!r}") from error
    if not isinstance(reply, dict):
        raise JavaFailedError(f"no object: {line[:200]!r}")
    if "over_s" in reply:
        raise CallTooSlowError(f"over {reply['over_s']:g} s")
    if "error" in reply:
        raise JavaFailedError(reply["error"])
    return reply
