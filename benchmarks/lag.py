"""Peak lag: proved, gap and time, beside plain programs: ``python -m benchmarks.lag``.

Engines: ``ours`` (`solver.lag`), ``greedy`` (KIP-169), and one binary a partition and
member for ``cp-sat`` and ``highs``, each with one thread and the same limit. Gaps are
to the largest bound that anybody proved. One JSON line a run goes to ``--out``; the
table is made of these lines. Every answer of up to 10,000 partitions is judged.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lags import DRAWS

Line = dict[str, Any]
PROVED = "optimal"


class Size(NamedTuple):
    """Partitions × members, over so many topics if there are several; the limit."""

    partitions: int
    members: int
    topics: int
    seconds: float


SIZES = {
    "30x6": Size(30, 6, 3, 10),
    "60x10": Size(60, 10, 4, 10),
    "100x10": Size(100, 10, 5, 10),
    "200x20": Size(200, 20, 4, 10),
    "1000x50": Size(1000, 50, 5, 2),
    "10000x100": Size(10_000, 100, 10, 2),
    "1000000x2000": Size(1_000_000, 2000, 1000, 60),
}
QUICK = ("30x6", "200x20", "1000x50")
PLAIN = ("30x6", "60x10", "100x10", "200x20")
PLAIN_ENGINES = ("cp-sat", "highs")
POLICIES = {"dec-min; peak-lag": False, "per-topic; peak-lag": True}
"""Whether over several topics: with one both policies ask for the same."""


def main() -> None:
    """Run what is asked for and print the table."""
    asked = _arguments()
    if asked.here:
        from benchmarks.lag_runs import runs  # noqa: PLC0415 - costs a second

        for line in runs(json.loads(asked.here)):
            print(json.dumps(line), flush=True)
        return
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, "
        + ", ".join(f"{n} {version(n)}" for n in ("numba", "ortools", "highspy"))
    )
    lines = []
    with Path(asked.out).open("w", buffering=1) as out:
        for line in measured(asked):
            out.write(json.dumps(line) + "\n")
            lines.append(line)
    print_table(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and seeds")
    parser.add_argument("--seeds", type=int, help="of each draw; 20, or 2 if quick")
    parser.add_argument("--plain-seeds", type=int, help="for plain programs; 3, or 1")
    parser.add_argument("--sizes", nargs="*", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--draws", nargs="*", default=list(DRAWS))
    parser.add_argument("--out", default=os.devnull, help="JSON lines")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.sizes = asked.sizes or (QUICK if asked.quick else tuple(SIZES))
    asked.seeds = asked.seeds or (2 if asked.quick else 20)
    if asked.plain_seeds is None:
        asked.plain_seeds = 1 if asked.quick else 3
    return asked


def measured(asked: argparse.Namespace) -> Iterator[Line]:
    """Yield the lines of all runs; each kind of run in a process of its own."""
    for name in asked.sizes:
        size = SIZES[name]
        seeds = asked.seeds if size.partitions < 1_000_000 else 1
        for policy, several in POLICIES.items():
            for draw in asked.draws:
                for engine in ("ours", "greedy", *PLAIN_ENGINES):
                    plain = engine in PLAIN_ENGINES
                    if plain and (several or name not in PLAIN):
                        continue
                    case = {
                        "size": name,
                        "partitions": size.partitions,
                        "members": size.members,
                        "topics": size.topics if several else 1,
                        "seconds": size.seconds,
                        "policy": policy,
                        "draw": draw,
                        "engine": engine,
                        "seeds": min(seeds, asked.plain_seeds) if plain else seeds,
                    }  # fmt: skip
                    yield from _run(case)


def _run(case: Line) -> Iterator[Line]:
    command = [sys.executable, "-m", "benchmarks.lag", "--here", json.dumps(case)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    yield from map(json.loads, said.stdout.splitlines())


def print_table(lines: Iterable[Line]) -> None:
    """Print a row for each size, policy, draw and engine."""
    lines = list(lines)
    bounds: dict[str, int] = defaultdict(int)
    for line in lines:
        bounds[line["instance"]] = max(bounds[line["instance"]], line["bound"] or 0)
    groups: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        about = f"{line['size']}, {line['topics']} topics"
        groups[about, line["draw"], line["assignor"]].append(line)
    print(
        f"{'partitions x members':26}{'lag':12}{'engine':8}{'runs':>5}{'proved':>8}"
        f"{'gap median':>12}{'gap max':>10}{'wall s':>9}{'wall max':>9}{'cpu max':>9}"
        f"{'MiB':>6}"
    )
    for (about, draw, engine), rows in groups.items():
        gaps = [_gap(row, bounds[row["instance"]]) for row in rows]
        proved = sum(row["status"] == PROVED for row in rows)
        print(
            f"{about:26}{draw:12}{engine:8}{len(rows):5}{proved / len(rows):8.0%}"
            f"{_shown(statistics.median(gaps)):>12}{_shown(max(gaps)):>10}"
            f"{statistics.median(row['wall_s'] for row in rows):9.2f}"
            f"{max(row['wall_s'] for row in rows):9.2f}"
            f"{max(row['cpu_s'] for row in rows):9.2f}"
            f"{max(row['mebibytes'] for row in rows):6}"
        )


def _gap(row: Line, bound: int) -> float:
    if row["objective"] is None:
        return float("inf")
    return float((row["objective"] - bound) / bound) if bound else 0.0


def _shown(gap: float) -> str:
    return "nothing" if gap == float("inf") else f"{gap:.4%}"


if __name__ == "__main__":
    main()
