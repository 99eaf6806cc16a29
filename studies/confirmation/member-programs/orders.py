"""Orders for one real member from standard input, and its events."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import Any

EVENTS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what a library prints is no event


class Orders:
    """The orders to a member: its topics, and whether it has to wait.

    The process ends with its input, even if the client does not return: a thread of its
    own ends it.
    """

    def __init__(self) -> None:
        self.settings: dict[str, Any] = json.loads(sys.argv[1])
        self.member = ""
        self.instance: str | None = None  # of a static member
        self.topics: SimpleQueue[list[str]] = SimpleQueue()
        self.may_run = threading.Event()
        self.may_run.set()
        self._main = threading.get_ident()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            order = json.loads(line)
            if order["do"] in {"start", "subscribe"}:
                self.member = order["member"]
                self.instance = order.get("instance", self.instance)
                self.topics.put(order["topics"])
            elif order["do"] == "pause":
                self.may_run.clear()
            elif order["do"] == "resume":
                self.may_run.set()
            else:
                self.report("where", frames=self._frames())
        os._exit(0)

    def _frames(self) -> list[str]:
        stack = traceback.extract_stack(sys._current_frames()[self._main])
        return [f"{os.path.basename(f.filename)}:{f.name}" for f in reversed(stack)]  # noqa: PTH119

    def report(self, event: str, **fields: Any) -> None:
        """Write an event."""
        line = json.dumps({"event": event, "member": self.member} | fields)
        print(line, file=EVENTS, flush=True)


def by_topic(partitions: Any) -> dict[str, list[int]]:
    """Return partition numbers by topic."""
    held: dict[str, list[int]] = {}
    for partition in sorted(partitions):
        held.setdefault(partition.topic, []).append(partition.partition)
    return held
