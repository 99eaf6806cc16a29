"""The command protocol of the programs in this folder; each has one consumer.

The argument is a JSON object:

- ``settings``: properties of the client, by Kafka's names (``session.timeout.ms``).
- ``assignors``: names of the client's assignors, in the order of preference. An object
  is another assignor, which a call returns: ``import`` is the ``module:name`` to call,
  and ``call`` has the keyword arguments.
- ``topics``: the consumer starts at once, and subscribes to these. Without them, it
  starts with the order to. A topic that begins with ``^`` is a pattern.
- ``poll_ms``: time limit of a poll; 100 if absent.
- ``reports``: whether to report callbacks; true if absent.

Each line of input is an order, a JSON object whose ``do`` is one of:

- ``start``, with ``member`` and ``topics``, and ``instance`` for a static member
  (KIP-345): join. The member's name is the client id.
- ``subscribe``, with ``topics``: replace the subscription.
- ``pause``, ``resume``: do not poll; poll again.
- ``where``: report the stack of the main thread.
- ``leave``: close the consumer, and end.

Each line of output is an event, a JSON object: ``event``, ``member`` (the name), ``ms``
(of the clock), and:

- ``assign``, ``revoke``, ``lost``, ``subscribed``: ``id`` (the member id),
  ``generation`` (-1: unknown), and ``partitions``, which the callback names, by topic.
- ``where``: ``frames``, innermost first.
- ``error``: ``reason``.

The process ends with its input, without leaving the group, even if the client does not
return. If the client raises, it ends with exit code 70, and the error is the last line
of standard error that is not indented.

`conformance/clients/` has the same for kafka-clients, franz-go, and sarama, whose
processes have several members, or one if ``topics`` are given: each order names its
``member``. The programs of kafka-go and in JavaScript take the argument with
``topics``, but not orders.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from queue import SimpleQueue
from typing import Any

EVENTS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # prints of a library are not events
RAISED = 70  # EX_SOFTWARE of sysexits.h
PROPERTIES = {"client.id": "member", "group.instance.id": "instance"}


class Orders:
    """The argument, and the orders so far; a thread of its own reads them."""

    def __init__(self) -> None:
        requested: dict[str, Any] = json.loads(sys.argv[1])
        self.settings: dict[str, Any] = requested["settings"]
        self.assignor_names: list[Any] = requested["assignors"]
        self.poll_ms: int = requested.get("poll_ms", 100)
        self.reports: bool = requested.get("reports", True)
        self.member: str = self.settings.get("client.id", "")
        self.topics: SimpleQueue[list[str]] = SimpleQueue()
        self.may_run = threading.Event()
        self.may_run.set()
        self.leaving = threading.Event()
        self._main = threading.get_ident()
        if "topics" in requested:
            self.topics.put(requested["topics"])
        threading.Thread(target=self._read, daemon=True).start()

    def first_topics(self) -> list[str] | None:
        """Wait for the order to start; None if it is to leave before."""
        topics = self.topics.get()
        return None if self.leaving.is_set() else topics

    def next_topics(self) -> list[str] | None:
        """Wait while the consumer is paused; return a new subscription, if any."""
        self.may_run.wait()
        if self.leaving.is_set() or self.topics.empty():
            return None
        return self.topics.get()

    def assignors(self, package: str, known: dict[str, str]) -> list[Any]:
        """Return the assignors; ``known`` has the places of the client's by name."""
        return [
            resolve_name(f"{package}.{known[named]}")
            if isinstance(named, str)
            else resolve_name(named["import"])(**named["call"])
            for named in self.assignor_names
        ]

    def keywords(self) -> dict[str, Any]:
        """Return the properties as keyword arguments."""
        return {name.replace(".", "_"): value for name, value in self.settings.items()}

    def report(
        self,
        event: str,
        partitions: Iterable[Any] = (),
        *,
        member_id: str | None = None,
        generation: int = -1,
    ) -> None:
        """Write a callback; partitions have ``topic`` and ``partition``."""
        self._write(
            event,
            id=member_id or "",
            generation=generation,
            partitions=by_topic(partitions),
        )

    def _read(self) -> None:
        for line in sys.stdin:
            self._follow(json.loads(line))
        os._exit(0)

    def _follow(self, order: dict[str, Any]) -> None:
        do = order["do"]
        if do == "start":
            for name, key in PROPERTIES.items():
                if key in order:
                    self.settings[name] = order[key]
            self.member = order["member"]
        if do in {"start", "subscribe"}:
            self.topics.put(order["topics"])
        elif do == "pause":
            self.may_run.clear()
        elif do == "resume":
            self.may_run.set()
        elif do == "leave":
            self.leaving.set()
            self.may_run.set()
            self.topics.put([])  # it may wait for its start
        else:
            self._write("where", frames=self._frames())

    def _frames(self) -> list[str]:
        stack = traceback.extract_stack(sys._current_frames()[self._main])
        return [f"{os.path.basename(f.filename)}:{f.name}" for f in reversed(stack)]  # noqa: PTH119

    def _write(self, event: str, **fields: Any) -> None:
        now = {"event": event, "member": self.member, "ms": time.time_ns() // 1_000_000}
        print(json.dumps(now | fields), file=EVENTS, flush=True)


def by_topic(partitions: Iterable[Any]) -> dict[str, list[int]]:
    """Return sorted partition numbers by topic."""
    held: dict[str, list[int]] = {}
    for topic, number in sorted((p.topic, p.partition) for p in partitions):
        held.setdefault(topic, []).append(number)
    return held


def end_with(run: Callable[[], None]) -> None:
    """Run a consumer, and end the process; with 70 if the client raises."""
    try:
        run()
    except Exception as error:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.exit(RAISED)
