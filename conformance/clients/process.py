"""An adapter process: one line in, one line out, under a limit (`patience`).

A process that hangs is killed, with those that it has started. A hang or a crash
affects only one rebalance, because the next one starts a new process.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Final, Self

import orjson

from conformance.clients.answer import Answer, Verdict, read_answer
from conformance.clients.cpu_time import CpuClock
from conformance.clients.ended import cause_of_death, last_words
from conformance.clients.fault_place import place_of_death
from conformance.clients.patience import Patience, Watch
from conformance.clients.reference_time import size_of

CHUNK: Final = 1 << 16
MOST_BYTES: Final = 64 * 2**20  # of an answer; one of 1,000,000 partitions has 8 MiB


class _TooMuchError(Exception):
    """The program writes something else than one line per rebalance."""


class _UnansweredError(Exception):
    """The wait for the answer has ended."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Command of an adapter; its memory limit is an argument of its runtime.

    ``environment`` are variables that are set in addition to those of this process.
    """

    name: str
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


class Adapter:
    """A program that is started when needed, and ended by a context."""

    def __init__(
        self,
        program: Program,
        *,
        seconds: float = 20.0,
        patience: Patience | None = None,
    ) -> None:
        self.program = program
        self.seconds = seconds  # per rebalance, including the start of the program
        self.patience = patience or Patience()  # with an answer that is later
        self._running: _Running | None = None

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def answer(self, rebalance: bytes) -> Answer:
        """Send one ``rebalance/1`` document without line breaks and return the outcome.

        Raises
        ------
        ValueError
            If there is a line break in it.
        OSError
            If the program cannot be started.
        """
        if b"\n" in rebalance:
            raise ValueError("a rebalance of several lines")
        running, watch = self._watched(rebalance)
        try:
            line = running.exchange(rebalance + b"\n", watch)
        except _TooMuchError as error:
            self.close()  # later lines do not answer the next rebalance
            return Answer(verdict=Verdict.INVALID, reason=str(error))
        except _UnansweredError as error:
            self.close()
            return error.answer
        if line is not None:
            return watch.answered(read_answer(line))
        late = watch.cut() if running.is_cut else None
        code, said = running.end()
        self._running = None
        return late or Answer(
            verdict=Verdict.CRASH,
            reason=cause_of_death(code, said),
            place=place_of_death(said),
        )

    def _watched(self, rebalance: bytes) -> tuple[_Running, Watch]:
        """Return the running program, started if need be, and a watch of its answer."""
        if self._running is not None and self._running.has_ended():
            self.close()  # died after its last answer, not because of this rebalance
        is_new = self._running is None
        running = self._running = self._running or _Running(self.program)
        watch = Watch(
            seconds=self.seconds,
            patience=self.patience,
            size=lambda: size_of(orjson.loads(rebalance)),
            used=CpuClock(running.pid).used,
            is_new=is_new,
        )
        return running, watch

    def cut(self) -> None:
        """Kill the program: the answer that another thread awaits is slow, or a crash.

        It is slow if it was awaited for longer than the limit in seconds.
        """
        running = self._running
        if running is not None:
            running.cut()

    def close(self) -> None:
        """End the program, if it runs."""
        if self._running is not None:
            self._running.end()
            self._running = None


class _Running:
    """The process and its pipes; a watch ends reads and writes."""

    def __init__(self, program: Program) -> None:
        self.is_cut = False
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by end()
        self._process = subprocess.Popen(  # noqa: S603  # the adapter
            program.argv,
            env=os.environ | dict(program.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
            # Ctrl-C does not reach the adapter, and its own processes end with it.
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        self._to: IO[bytes] = self._process.stdin
        self._from: IO[bytes] = self._process.stdout
        os.set_blocking(self._to.fileno(), False)
        os.set_blocking(self._from.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def exchange(self, line: bytes, watch: Watch) -> bytes | None:
        """Return the line of the answer; None if the program ends before it.

        Raises
        ------
        _UnansweredError
            If there is none in time.
        _TooMuchError
            If there is more than one line, or one of more than `MOST_BYTES`; output
            after an answer is noticed no later than with the next rebalance.
        """
        if _read(self._from):
            raise _TooMuchError("wrote more than one line for the rebalance before")
        left, got = memoryview(line), bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(self._from, selectors.EVENT_READ)
            ready.register(self._to, selectors.EVENT_WRITE)
            while not got.endswith(b"\n"):
                pause = watch.pause
                able = {key.fileobj for key, _ in ready.select(pause)}
                if not (able and pause) and (ended := watch.look()) is not None:
                    raise _UnansweredError(ended)
                if self._to in able:
                    left = left[_written(self._to, left) :]
                    if not left:
                        ready.unregister(self._to)
                if self._from in able:
                    more = os.read(self._from.fileno(), CHUNK)
                    if not more:
                        return None
                    got += more
                    if len(got) > MOST_BYTES:
                        most = f"{MOST_BYTES // 2**20} MiB"
                        raise _TooMuchError(f"wrote more than {most} without an end")
                    if b"\n" in more[:-1]:
                        raise _TooMuchError("wrote more than one line")
        return bytes(got[:-1])

    def cut(self) -> None:
        """Kill the program, and its own processes: the pipes end then."""
        self.is_cut = True
        self.kill()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def end(self) -> tuple[int, str]:
        """Close the pipes; return the exit code and the end of the error output."""
        self._to.close()
        self._from.close()
        try:
            code = self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        return code, last_words(self._said)


def _read(pipe: IO[bytes]) -> bytes:
    """Read the available bytes; nothing, if the pipe is empty or closed."""
    try:
        return os.read(pipe.fileno(), CHUNK)
    except BlockingIOError:
        return b""


def _written(pipe: IO[bytes], data: memoryview) -> int:
    """Write without blocking; a closed pipe counts as written and is detected later."""
    try:
        return os.write(pipe.fileno(), data[:CHUNK])
    except BrokenPipeError:
        return len(data)
