"""Options for the limits of a solve: time, memory, threads."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from solver import Limits

_UNITS: Final = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_SIZE_MAX: Final = 2**63 - 1
_SEED_MAX: Final = 2**31 - 1
_WORKERS_MAX: Final = 1024


def parse_seconds(text: str) -> float:
    """Parse a number of seconds; raise BadParameter if the text is not one."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise typer.BadParameter(f"{text!r} is not a number of seconds above 0")
    return seconds


def parse_size(text: str) -> int:
    """Parse a size such as ``2GiB`` into bytes; raise BadParameter if invalid."""
    found = re.fullmatch(r"([0-9]{1,19})\s*([A-Za-z]*)", text.strip())
    unit = None if found is None else _UNITS.get(found[2].upper())
    if found is None or unit is None:
        raise typer.BadParameter(f"{text!r} is not a size; write 500MiB or 2GiB")
    size = int(found[1]) * unit
    if not 1 <= size <= _SIZE_MAX:
        raise typer.BadParameter(f"{text!r} is not a size from 1 byte to 2^63 - 1")
    return size


TimeLimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=parse_seconds,
        metavar="S",
        help="Seconds per rebalance; then the best assignment found, with its bound.",
    ),
]
MemoryLimitOption = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        parser=parse_size,
        metavar="SIZE",
        help="Memory of this process, such as 2GiB; then the best assignment found, "
        "with its bound.",
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=_SEED_MAX, help="Seed of random searches.", metavar="N"
    ),
]
WorkersOption = Annotated[
    int,
    typer.Option(
        "--workers",
        min=1,
        max=_WORKERS_MAX,
        metavar="N",
        help="Threads of a search. Only one thread gives the same bytes for the same "
        "input.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Limits as requested; each rebalance starts its own clock."""

    time_limit: TimeLimitOption = None
    memory_limit: MemoryLimitOption = None
    seed: SeedOption = 0
    workers: WorkersOption = 1

    def begin(self, stop: Event) -> Limits:
        """Start the clock."""
        from solver import Limits

        return Limits(
            seconds=self.time_limit,
            memory=self.memory_limit,
            stop=stop,
            seed=self.seed,
            workers=self.workers,
        )
