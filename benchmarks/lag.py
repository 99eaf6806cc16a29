"""Proofs, gaps, and times for peak lag: ``python -m benchmarks.lag``.

Engines: ``ours`` (`solver.peak_lag`), ``greedy`` (KIP-169), ``swaps`` (`lag-swaps`),
and one binary per partition and member for ``cp-sat`` and ``highs``, each with one
thread; HiGHS without presolve, because that of 1.13 and 1.14 loses optima. Gaps are
relative to the largest bound that any engine proved. ``--out`` writes one JSON line per
run; ``--lines`` rebuilds the tables from such lines; ``--page`` writes them into a
page. Every answer of up to 10,000 partitions is judged, including its proof.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lag_table import page_part
from benchmarks.lags import DRAWS
from benchmarks.result_page import write_into

Line = dict[str, Any]


class LagSize(NamedTuple):
    """Partitions × members, number of topics, and time limit."""

    partitions: int
    members: int
    topics: int
    seconds: float


SIZES = {
    "30x6": LagSize(30, 6, 3, 10),
    "60x10": LagSize(60, 10, 4, 10),
    "100x10": LagSize(100, 10, 5, 10),
    "200x20": LagSize(200, 20, 4, 10),
    "1000x50": LagSize(1000, 50, 5, 2),
    "10000x100": LagSize(10_000, 100, 10, 2),
    "1000000x2000": LagSize(1_000_000, 2000, 1000, 60),
}
QUICK = ("30x6", "200x20", "1000x50")
PLAIN = ("30x6", "60x10", "100x10", "200x20")
PLAIN_ENGINES = ("cp-sat", "highs")
ENGINES = ("ours", "greedy", "swaps", *PLAIN_ENGINES)
POLICIES = {"dec-min; peak-lag": False, "per-topic; peak-lag": True}
"""Policies by whether there are several topics; with one, both are equal."""


def main() -> None:
    """Run the requested cases and print the tables."""
    arguments = _arguments()
    if arguments.here:
        from benchmarks.lag_runs import runs  # noqa: PLC0415 - costs a second

        for line in runs(json.loads(arguments.here)):
            print(json.dumps(line), flush=True)
        return
    lines = []
    if arguments.lines:
        read = Path(arguments.lines).read_text(encoding="utf-8")
        lines = [json.loads(line) for line in read.splitlines()]
    with Path(arguments.out).open("w", buffering=1) as out:
        for line in () if arguments.lines else measured(arguments):
            out.write(json.dumps(line) + "\n")
            lines.append(line)
    if arguments.page:
        write_into(Path(arguments.page), page_part(lines))
    else:
        print(page_part(lines))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and seeds")
    parser.add_argument("--seeds", type=int, help="of each draw; 20, or 2 if quick")
    parser.add_argument("--plain-seeds", type=int, help="for plain programs; 3, or 1")
    parser.add_argument("--plain-seconds", type=float, help="for them; that of ours")
    parser.add_argument("--sizes", nargs="*", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--draws", nargs="*", default=list(DRAWS))
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=ENGINES)
    parser.add_argument("--out", default=os.devnull, help="JSON lines")
    parser.add_argument("--lines", help="make the tables of these, and run nothing")
    parser.add_argument("--page", help="put the tables between the marks of a page")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.sizes = arguments.sizes or (QUICK if arguments.quick else tuple(SIZES))
    arguments.seeds = arguments.seeds or (2 if arguments.quick else 20)
    if arguments.plain_seeds is None:
        arguments.plain_seeds = 1 if arguments.quick else 3
    return arguments


def measured(arguments: argparse.Namespace) -> Iterator[Line]:
    """Yield the lines of all runs; each kind of run has its own process."""
    for name in arguments.sizes:
        size = SIZES[name]
        seeds = arguments.seeds if size.partitions < 1_000_000 else 1
        seconds = min(arguments.plain_seconds or size.seconds, size.seconds)
        for policy, several in POLICIES.items():
            for draw in arguments.draws:
                for engine in arguments.engines:
                    plain = engine in PLAIN_ENGINES
                    if plain and (several or name not in PLAIN):
                        continue
                    case = {
                        "size": name,
                        "partitions": size.partitions,
                        "members": size.members,
                        "topics": size.topics if several else 1,
                        "seconds": seconds if plain else size.seconds,
                        "policy": policy,
                        "draw": draw,
                        "engine": engine,
                        "seeds": min(seeds, arguments.plain_seeds) if plain else seeds,
                    }  # fmt: skip
                    yield from _run(case)


def _run(case: Line) -> Iterator[Line]:
    command = [sys.executable, "-m", "benchmarks.lag", "--here", json.dumps(case)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    yield from map(json.loads, said.stdout.splitlines())


if __name__ == "__main__":
    main()
