"""A process with real members, which follows orders and reports events.

`conformance.consumer_programs` documents orders and events. The process ends with its
input, and so also if its parent is killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread
from typing import IO, Any, Final

import psutil

from conformance.clients.ended import cause_of_death, last_words

END_SECONDS: Final = 5.0


class MemberProcess:
    """A running process; its events can be awaited."""

    def __init__(self, command: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by end()
        self._process = subprocess.Popen(  # the consumer under test
            command,
            env=os.environ | {"PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            start_new_session=True,  # Ctrl-C ends us, and we end the process
        )
        self._ended: str | None = None
        self.events: list[dict[str, Any]] = []
        self._news = Condition()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101
        for line in self._process.stdout:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()

    def order(
        self,
        do: str,
        member: str,
        topics: Sequence[str] = (),
        instance_id: str | None = None,
    ) -> None:
        """Send an order; to a process that has ended, without effect."""
        if self._ended is not None:
            return
        assert self._process.stdin is not None  # noqa: S101
        order = {"do": do, "member": member, "topics": list(topics)}
        if instance_id is not None:
            order["instance"] = instance_id
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return

    def wait_for(self, member: str, event: str, seconds: float) -> bool:
        """Wait for a member's event; return whether it was reported."""

        def is_reported() -> bool:
            wanted = (event, member)
            return any((e["event"], e["member"]) == wanted for e in self.events)

        with self._news:
            return self._news.wait_for(is_reported, seconds)

    def frames(self, member: str, seconds: float) -> list[str]:
        """Return the stack of a member's thread; nothing if there is no answer."""
        before = len(self.events)
        self.order("where", member)

        def answers() -> list[list[str]]:
            return [
                e.get("frames", [])
                for e in self.events[before:]
                if e["event"] == "where"
            ]

        with self._news:
            self._news.wait_for(lambda: bool(answers()), seconds)
            return next(iter(answers()), [])

    def cpu_seconds(self) -> float:
        """Return the CPU time so far; 0 after the process's end."""
        try:
            spent = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(spent.user + spent.system)

    def has_ended(self, seconds: float = 0) -> bool:
        """Return whether the process ends in this time."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        return self._process.poll() is not None

    def end(self) -> str:
        """End the process; return its exit code or signal, and its last words.

        The reason of a panic, which the last words may not reach back to, comes first.
        """
        if self._ended is not None:
            return self._ended
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(END_SECONDS)
        self._process.stdout.close()
        panic = _panic(self._said)
        cause = cause_of_death(self._process.returncode, last_words(self._said))
        self._ended = f"{panic}\n{cause}" if panic else cause
        return self._ended


def _panic(said: IO[bytes]) -> str:
    """Return the first line of a panic of Go, if there is one."""
    said.seek(0)
    lines = (line.decode(errors="replace").strip() for line in said)
    return next((line for line in lines if line.startswith("panic:")), "")
