"""One consumer as a process: started, resubscribed, asked to leave, or killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from conformance.broker import java_member
from rebalance import OutsideError
from studies.recording.clients.reporting import (
    COMMIT_MS,
    HEARTBEAT_MS,
    ConsumerSettings,
)
from studies.recording.events import Event, Events

JAVA: Final = "java"
MODULES: Final = {
    "librdkafka": "studies.recording.clients.librdkafka",
    "kafka-python": "studies.recording.clients.kafka_python",
    "aiokafka": "studies.recording.clients.aiokafka_client",
}
ROOT: Final = Path(__file__).resolve().parent.parent.parent
END_SECONDS: Final = 30
SHOWN: Final = 2000

Pairs = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """The description of a consumer: client library and settings."""

    library: str
    settings: ConsumerSettings

    def command(self) -> Sequence[str]:
        """Return the command line."""
        settings = self.settings
        if self.library != JAVA:
            module = MODULES[self.library]
            return [sys.executable, "-m", module, json.dumps(asdict(settings))]
        is_classic = settings.protocol == "classic"
        properties = {
            "client.id": settings.client,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": "true",
            "auto.commit.interval.ms": str(COMMIT_MS),
        }
        if is_classic:
            properties["session.timeout.ms"] = str(settings.session_ms)
            properties["heartbeat.interval.ms"] = str(HEARTBEAT_MS)
        elif settings.assignors:
            (properties["group.remote.assignor"],) = settings.assignors
        return java_member(
            settings.bootstrap,
            settings.group,
            settings.assignors if is_classic else (),
            settings.topics,
            instance_id=settings.instance,
            settings=properties,
        )


class ConsumerProcess:
    """A running consumer; ``held`` is what its callbacks add up to."""

    def __init__(self, consumer: Consumer, events: Events, folder: Path) -> None:
        self.consumer = consumer
        self.topics = list(consumer.settings.topics)
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
            protocol=consumer.settings.protocol,
            assignors=consumer.settings.assignors,
            instance=consumer.settings.instance,
        )
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                consumer.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
            )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def name(self) -> str:
        """The client id."""
        return self.consumer.settings.client

    @property
    def group(self) -> str:
        """The group id."""
        return self.consumer.settings.group

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription."""
        self.topics = list(topics)
        self._events.driver(self.group, self.name, "subscribe", topics=self.topics)
        stream = _open(self._process.stdin)
        stream.write(json.dumps(self.topics).encode() + b"\n")
        stream.flush()

    def leave(self) -> None:
        """Let it close, and wait until it has ended.

        Raises
        ------
        OutsideError
            If it fails, or does not end in time.
        """
        self._events.driver(self.group, self.name, "leave")
        _open(self._process.stdin).close()
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

    def _read(self) -> None:
        for line in _open(self._process.stdout):
            self._apply(json.loads(line))

    def _apply(self, callback: Event) -> None:
        partitions: dict[str, list[int]] = callback["partitions"]
        changed = frozenset((t, n) for t, ns in partitions.items() for n in ns)
        event: Any = callback["event"]
        if event == "assign":
            self.held |= changed
            self.assigned += 1
        else:
            self.held -= changed
        callback.pop("held", None)
        self._events.add({"group": self.group, "client": self.name} | callback)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe, which `Popen` was asked for."""
    if pipe is None:
        raise TypeError("not a pipe")
    return pipe
