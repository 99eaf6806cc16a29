"""Log of the driver's acts and of the consumers' reports."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Condition
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]


class Events:
    """Events in the order of their arrival; other threads can wait for one."""

    def __init__(self) -> None:
        self._found: list[Event] = []
        self._changed = Condition()

    def driver(self, group: str, client: str, event: str, **details: Any) -> None:
        """Add something that the driver does, before it does it."""
        row = {"ms": time.time_ns() // 1_000_000, "group": group, "client": client}
        self.add(row | {"event": event, "by": "driver"} | details)

    def add(self, event: Event) -> None:
        """Add an event."""
        with self._changed:
            self._found.append(event)
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until events have made a condition true; return whether they have."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def write(self, path: Path) -> None:
        """Write the events, by time, as compressed JSON Lines."""
        path.write_bytes(gzip.compress(self._lines(lambda _: True), mtime=0))

    def write_acts(self, path: Path) -> None:
        """Write the driver's acts, by time, as JSON Lines."""
        path.write_bytes(self._lines(lambda event: event.get("by") == "driver"))

    def _lines(self, chosen: Callable[[Event], bool]) -> bytes:
        with self._changed:
            found = sorted(filter(chosen, self._found), key=_time)
        return "".join(json.dumps(event) + "\n" for event in found).encode()


def _time(event: Event) -> int:
    return int(event["ms"])
