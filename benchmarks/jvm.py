"""Times of our assignors and of Kafka's in Java: ``python -m benchmarks.jvm``.

Both run alternately in one run, after a warm-up; times are medians of single calls, in
CPU time of the calling thread. ``docs/speed.md`` states the parts that the times
include.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.jvm_picture import picture_of
from benchmarks.jvm_runs import CallLimits, Line, timed
from benchmarks.jvm_table import KINDS, merged, page_part
from benchmarks.jvm_work import TimedCase, fixed_cases, growing
from benchmarks.peers import OURS
from benchmarks.result_page import write_into
from conformance.clients import LINES, install

FULL = CallLimits(call=60, warming=25, turns=10, rounds=9)
GROWTH = replace(FULL, call=20, warming=12, turns=6, rounds=5)
QUICK = CallLimits(call=10, warming=5, turns=2, rounds=5)
STEPS, QUICK_STEPS = 7, 2  # the last of them at 1,000,000 partitions
QUICK_CASES = ("S1", "S5")


def main() -> None:
    """Run the requested cases and print the tables."""
    arguments = _arguments()
    lines: list[Line] = []
    for name in arguments.lines or ():
        read = Path(name).read_text(encoding="utf-8")
        lines += [json.loads(line) for line in read.splitlines()]
    with Path(arguments.out).open("w", buffering=1) as out:
        for line in () if arguments.lines else measured(arguments):
            out.write(json.dumps(line) + "\n")
            lines.append(line)
    if arguments.page:
        write_into(Path(arguments.page), page_part(lines))
    else:
        print(page_part(lines))
    if arguments.picture:
        Path(arguments.picture).write_bytes(picture_of(merged(lines)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "cases",
        nargs="*",
        help="S1, S2, S3, S5, L1; equal, mixed, or one size of those: equal-1000000",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, some seconds"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="repeat all cases; ratios become ranges"
    )
    parser.add_argument("--ours", action="store_true", help="Java's side is not run")
    parser.add_argument("--out", default=os.devnull, help="JSON lines")
    parser.add_argument("--lines", nargs="*", help="of these; run nothing")
    parser.add_argument("--page", help="put the tables between the marks of a page")
    parser.add_argument("--picture", help="draw the growth into this PNG")
    arguments = parser.parse_args()
    known = (*fixed_cases(), *KINDS)
    sizes = {case.name for kind in KINDS for case in growing(kind, STEPS)}
    if unknown := set(arguments.cases) - {*known, *sizes}:
        parser.error(f"no case {', '.join(sorted(unknown))}")
    arguments.cases = arguments.cases or (QUICK_CASES if arguments.quick else known)
    return arguments


def measured(arguments: argparse.Namespace) -> Iterator[Line]:
    """Yield one line per run, case, and assignor.

    In the growth series, an assignor that is too slow at one size is skipped at the
    next.
    """
    clients = install(next(iter(LINES.values())))
    for run, name in product(range(arguments.runs), arguments.cases):
        too_slow = set(OURS) if arguments.ours else set()
        for case, limits in _sizes(name, quick=arguments.quick):
            for line in timed(case, clients, limits, skipped=frozenset(too_slow)):
                if "java_over_s" in line:
                    too_slow.add(line["java"])
                if sys.stderr.isatty():
                    print(f"run {run}, {case.name}: {line['ours']}", file=sys.stderr)
                yield line | {"run": run}


def _sizes(name: str, *, quick: bool) -> list[tuple[TimedCase, CallLimits]]:
    """Return the cases of a name: one size, or all sizes of a kind, ascending."""
    fixed = fixed_cases()
    if name in fixed:
        return [(fixed[name], QUICK if quick else FULL)]
    kind, _, _ = name.partition("-")
    sizes = [case for case in growing(kind, STEPS) if name in (kind, case.name)]
    if name == "equal":
        sizes.pop()  # is S2
    if quick:
        return [(case, QUICK) for case in sizes[:QUICK_STEPS]]
    return [(case, GROWTH) for case in sizes]


if __name__ == "__main__":
    main()
