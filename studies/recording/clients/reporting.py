"""Standard input and output of a consumer process: commands in, callbacks out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Final

HEARTBEAT_MS: Final = 200
COMMIT_MS: Final = 1000
POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """The settings of a consumer, as the package documents them."""

    bootstrap: str
    group: str
    client: str
    topics: list[str]
    assignors: list[str]
    instance: str | None
    protocol: str
    session_ms: int

    @classmethod
    def from_arguments(cls) -> ConsumerSettings:
        """Read the process's argument."""
        return cls(**json.loads(sys.argv[1]))


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands from standard input, read in a thread of their own."""

    leaving: Event = field(default_factory=Event)
    _topics: SimpleQueue[list[str]] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self._topics.put(json.loads(line))
        self.leaving.set()

    def new_topics(self) -> list[str] | None:
        """Return the next subscription that was asked for, or None."""
        try:
            return self._topics.get_nowait()
        except Empty:
            return None


def report(
    event: str,
    partitions: Iterable[Any] = (),
    *,
    member: str | None = None,
    generation: int | None = None,
) -> None:
    """Write one callback; partitions have ``topic`` and ``partition``."""
    held: dict[str, list[int]] = {}
    for partition in partitions:
        held.setdefault(partition.topic, []).append(partition.partition)
    callback: dict[str, Any] = {"event": event, "ms": time.time_ns() // 1_000_000}
    if member:
        callback["member"] = member
    if generation is not None and generation >= 0:
        callback["generation"] = generation
    callback["partitions"] = {topic: sorted(held[topic]) for topic in sorted(held)}
    print(json.dumps(callback), flush=True)
