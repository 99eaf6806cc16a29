"""One consumer as a process: started, resubscribed, ordered to leave, or killed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from conformance.consumer_programs import (
    Property,
    RequestedConsumer,
    java_consumer,
    python_consumer,
)
from rebalance import OutsideError
from studies.recording.events import Event, Events

JAVA: Final = "java"
COMMIT_MS: Final = 1000
HEARTBEAT_MS: Final = 200
POLL_MS: Final = {"kafka-python": 500}
"""A join that many shorter polls interrupt can stay without its answer (3.0.12)."""
SHORT_POLL_MS: Final = 50
END_SECONDS: Final = 30
SHOWN: Final = 2000

Pairs = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """The description of a consumer: client library and settings.

    Attributes
    ----------
    library : str
    address, group : str
    client_id : str
    topics, assignors : list of str
    instance : str or None
        Of a static member (KIP-345).
    protocol : str
        ``classic`` or ``consumer``.
    session_ms : int
    """

    library: str
    address: str
    group: str
    client_id: str
    topics: list[str]
    assignors: list[str]
    instance: str | None
    protocol: str
    session_ms: int

    @property
    def is_classic(self) -> bool:
        """Return whether it uses the classic protocol."""
        return self.protocol == "classic"

    def command(self) -> Sequence[str]:
        """Return the command line."""
        if self.library == JAVA:
            return java_consumer(self._requested())
        return python_consumer(self.library, self._requested())

    def _requested(self) -> RequestedConsumer:
        return RequestedConsumer(
            settings=self._settings(),
            assignors=self.assignors,
            topics=self.topics,
            poll_ms=POLL_MS.get(self.library, SHORT_POLL_MS),
        )

    def _settings(self) -> dict[str, Property]:
        settings: dict[str, Property] = {
            "bootstrap.servers": self.address,
            "group.id": self.group,
            "client.id": self.client_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": True,
            "auto.commit.interval.ms": COMMIT_MS,
        }
        if self.instance is not None:
            settings["group.instance.id"] = self.instance
        if self.is_classic:
            settings["session.timeout.ms"] = self.session_ms
            settings["heartbeat.interval.ms"] = HEARTBEAT_MS
        else:
            settings["group.protocol"] = self.protocol
        return settings


class ConsumerProcess:
    """A running consumer; ``held`` is what its callbacks add up to."""

    def __init__(self, consumer: Consumer, events: Events, folder: Path) -> None:
        self.consumer = consumer
        self.topics = list(consumer.topics)
        self.held: Pairs = frozenset()
        self.assigned = 0
        self._events = events
        self._errors = folder / f"{self.name}.log"
        events.driver(
            self.group,
            self.name,
            "start",
            topics=self.topics,
            library=consumer.library,
            protocol=consumer.protocol,
            assignors=consumer.assignors,
            instance=consumer.instance,
        )
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                consumer.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def name(self) -> str:
        """The client id."""
        return self.consumer.client_id

    @property
    def group(self) -> str:
        """The group id."""
        return self.consumer.group

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription."""
        self.topics = list(topics)
        self._events.driver(self.group, self.name, "subscribe", topics=self.topics)
        self._order("subscribe", topics=self.topics)

    def leave(self) -> None:
        """Let it close, and wait until it has ended.

        Raises
        ------
        OutsideError
            If it fails, or does not end in time.
        """
        self._events.driver(self.group, self.name, "leave")
        with suppress(BrokenPipeError):  # it has ended
            self._order("leave")
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise OutsideError(f"{self.name} does not leave: {self.log()}") from None
        self._reader.join()
        if code != 0:
            raise OutsideError(f"{self.name} ended with {code}: {self.log()}")

    def kill(self) -> None:
        """End it at once, as ``kill -9`` does: it neither reports nor leaves."""
        self._events.driver(self.group, self.name, "kill")
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def stop(self) -> None:
        """End it if it still runs, without an event."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def log(self) -> str:
        """Return the end of what it wrote to standard error."""
        return self._errors.read_text(errors="replace")[-SHOWN:]

    def _order(self, do: str, **details: Any) -> None:
        pipe = _open(self._process.stdin)
        order = {"do": do, "member": self.name} | details
        pipe.write(json.dumps(order).encode() + b"\n")
        pipe.flush()

    def _read(self) -> None:
        for line in _open(self._process.stdout):
            self._apply(json.loads(line))

    def _apply(self, told: Event) -> None:
        """Add an event; in a recording, ``member`` is the member id, if it is known."""
        if "partitions" not in told:  # an error, which standard error has, too
            return
        partitions: dict[str, list[int]] = told["partitions"]
        changed = frozenset((t, n) for t, ns in partitions.items() for n in ns)
        if told["event"] == "assign":
            self.held |= changed
            self.assigned += 1
        else:
            self.held -= changed
        said: Event = {
            "group": self.group,
            "client": self.name,
            "event": told["event"],
            "ms": told["ms"],
        }
        if told["id"]:
            said["member"] = told["id"]
        if told["generation"] >= 0:
            said["generation"] = told["generation"]
        self._events.add(said | {"partitions": partitions})


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe, which `Popen` was to make."""
    if pipe is None:
        raise TypeError("not a pipe")
    return pipe
