"""A program of consumers as a process, which follows orders and reports events.

It ends with its input, and so also if its parent is killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Condition, Thread
from typing import IO, Any, Final, TypeAlias

import psutil

from conformance.clients.ended import cause_of_death, last_words

END_SECONDS: Final = 5.0
REPEATABLE: Final = {"PYTHONHASHSEED": "0"}
"""Python's clients iterate over sets; adapters have the same seed."""

ConsumerEvent: TypeAlias = dict[str, Any]
Pairs: TypeAlias = frozenset[tuple[str, int]]


class ConsumerProcess:
    """A running program; its events can be awaited.

    Parameters
    ----------
    command : sequence of str
    reports : bool
        Whether its output consists of events. That of other programs is kept, as the
        error output of all is.
    heard : callable, optional
        Called with each event, in a thread of its own.

    Attributes
    ----------
    events : list
        All events so far.
    held : frozenset of pairs
        Topics and partitions that the callbacks of a program with one consumer add up
        to.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        reports: bool = True,
        heard: Callable[[ConsumerEvent], None] = lambda _: None,
    ) -> None:
        self.events: list[ConsumerEvent] = []
        self.held: Pairs = frozenset()
        self._heard, self._news = heard, Condition()
        self._ended: tuple[str, str] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by end()
        self._process = subprocess.Popen(  # noqa: S603  # the consumer under test
            command,
            env=os.environ | REPEATABLE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if reports else self._said,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C does not reach the consumer
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Return whether the program has ended."""
        return self._process.poll() is not None

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if the program still runs."""
        try:
            return self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def order(self, do: str, member: str = "", **details: Any) -> None:
        """Send an order; to a program that has ended, without effect."""
        if self._ended is not None:
            return
        line = json.dumps({"do": do, "member": member} | details) + "\n"
        pipe = _open(self._process.stdin)
        with suppress(BrokenPipeError):
            pipe.write(line.encode())
            pipe.flush()

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until events have made a condition true; return whether they have."""
        with self._news:
            return self._news.wait_for(condition, seconds)

    def frames(self, member: str, seconds: float) -> list[str]:
        """Return the stack of a member's thread; empty without an answer."""
        before = len(self.events)
        self.order("where", member)

        def answers() -> list[list[str]]:
            later = self.events[before:]
            return [e.get("frames", []) for e in later if e["event"] == "where"]

        self.wait_for(lambda: bool(answers()), seconds)
        return next(iter(answers()), [])

    def cpu_seconds(self) -> float:
        """Return the CPU time so far; 0 after the program's end."""
        try:
            spent = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(spent.user + spent.system)

    def kill(self) -> None:
        """Kill the program and its children, without waiting for its end."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()

    def end(self, seconds: float = END_SECONDS) -> str:
        """End the program; return its exit code or signal, and its last words.

        It has so many seconds to end by itself after its input. The reason of a panic
        of Go, which the last words may not reach back to, comes first.
        """
        panic, said = self._close(seconds)
        cause = cause_of_death(self._process.returncode, said)
        return f"{panic}\n{cause}" if panic else cause

    def end_at_once(self) -> str:
        """Kill the program, and its children; return its last words."""
        if self._ended is None:
            self.kill()
        return self._close(0)[1]

    def _close(self, seconds: float) -> tuple[str, str]:
        """End the program; return the line of a panic, and its last words."""
        if self._ended is not None:
            return self._ended
        with suppress(BrokenPipeError):
            _open(self._process.stdin).close()
        if self.wait(seconds) is None:
            self.kill()
            self._process.wait()
        self._reader.join(END_SECONDS)
        panic = ""
        if self._process.stdout is not None:
            self._process.stdout.close()
            panic = _panic(self._said)
        self._ended = panic, last_words(self._said)
        return self._ended

    def _read(self) -> None:
        for line in self._process.stdout or ():
            event: ConsumerEvent = json.loads(line)
            partitions: dict[str, list[int]] = event.get("partitions", {})
            named = frozenset((t, n) for t, ns in partitions.items() for n in ns)
            with self._news:
                if event["event"] == "assign":
                    self.held |= named
                else:
                    self.held -= named
                self.events.append(event)
                self._news.notify_all()
            self._heard(event)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe, which `Popen` was to make."""
    if pipe is None:
        raise TypeError("not a pipe")
    return pipe


def _panic(said: IO[bytes]) -> str:
    """Return the first line of a panic of Go, if there is one."""
    said.seek(0)
    lines = (line.decode(errors="replace").strip() for line in said)
    return next((line for line in lines if line.startswith("panic:")), "")
