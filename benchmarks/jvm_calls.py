"""Warm-up and alternating timed calls, the same for Java's assignors and ours."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

BATCH_NS: Final = 20_000_000  # number of quick calls in a batch
MOST_CALLS: Final = 1000  # in one batch
LEAST_WARM: Final = 2  # calls, however slow
CALM_SECONDS: Final = 5.0  # batches without a gain end the warm-up
CALM_BATCHES: Final = 5  # ... and so many batches
GAIN: Final = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Times of single calls in nanoseconds; garbage collection in milliseconds."""

    cpu_ns: tuple[int, ...]
    wall_ns: tuple[int, ...]
    collected_ms: int = 0

    def __add__(self, other: Calls) -> Calls:
        return Calls(
            cpu_ns=self.cpu_ns + other.cpu_ns,
            wall_ns=self.wall_ns + other.wall_ns,
            collected_ms=self.collected_ms + other.collected_ms,
        )

    @property
    def cpu_ms(self) -> float:
        """Median of the thread's CPU time."""
        return statistics.median(self.cpu_ns) / 1e6

    @property
    def wall_ms(self) -> float:
        """Median of the wall time."""
        return statistics.median(self.wall_ns) / 1e6


NO_CALLS: Final = Calls(cpu_ns=(), wall_ns=())


class TimedFunction(Protocol):
    """A function that can be timed repeatedly."""

    def run(self, calls: int) -> Calls:
        """Call it so often."""
        ...


@dataclass(frozen=True, slots=True)
class OurCalls:
    """Timed calls of a Python function, in this process and thread."""

    work: Callable[[], object]

    def run(self, calls: int) -> Calls:
        """Call it so often."""
        cpu, wall = [], []
        for _ in range(calls):
            start_wall, start_cpu = time.perf_counter_ns(), time.thread_time_ns()
            answer = self.work()
            cpu.append(time.thread_time_ns() - start_cpu)
            wall.append(time.perf_counter_ns() - start_wall)
            del answer  # one at a time, freed outside of the timed part
        return Calls(cpu_ns=tuple(cpu), wall_ns=tuple(wall))


@dataclass(frozen=True, slots=True, kw_only=True)
class Warm:
    """Result of a warm-up: first call, number of calls, and batch size."""

    first_ms: float
    calls: int
    batch: int


def warm(
    runner: TimedFunction, *, seconds: float, calm_seconds: float = CALM_SECONDS
) -> Warm:
    """Call until calls no longer get faster, or the time limit is reached."""
    start = time.monotonic()
    seen = runner.run(1)
    first_ms, batch, best = seen.cpu_ms, 1, float("inf")
    calm, gained = 0, start
    while len(seen.cpu_ns) < LEAST_WARM or (
        time.monotonic() - start < seconds
        and (calm < CALM_BATCHES or time.monotonic() - gained < calm_seconds)
    ):
        more = runner.run(batch)
        seen += more
        calm += 1
        if more.cpu_ms < best * GAIN:
            calm, gained = 0, time.monotonic()
        best = min(best, more.cpu_ms)
        batch = min(MOST_CALLS, max(1, round(BATCH_NS / (best * 1e6))))
    return Warm(first_ms=first_ms, calls=len(seen.cpu_ns), batch=batch)


def take_turns(
    runners: list[TimedFunction], batches: list[int], *, rounds: int, seconds: float
) -> list[Calls]:
    """Run batches alternately: one round, and more until the time limit."""
    end = time.monotonic() + seconds
    found = [NO_CALLS] * len(runners)
    for turn in range(rounds):
        if turn > 0 and time.monotonic() > end:
            break
        for i, runner in enumerate(runners):
            found[i] += runner.run(batches[i])
    return found
