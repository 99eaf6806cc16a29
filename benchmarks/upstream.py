"""Comparison of our assignors with Kafka's: ``python -m benchmarks.upstream``.

Both, and the exact core, answer the same random and recorded rebalances. The tables
show how often the assignments are equal, and otherwise by how much they differ in
balance and moves. Prints the tables of ``docs/upstream.md``; options write them, the
picture, and the runs to files.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.result_page import write_into
from benchmarks.upstream_draws import DRAWN, RECORDED, draw, recorded
from benchmarks.upstream_picture import picture_of
from benchmarks.upstream_runs import Line, SolvedCase, lines_of
from benchmarks.upstream_table import page_part
from conformance.clients import LINES, Adapter, install

SEEDS = 500
SECONDS = 10.0  # per answer of Kafka's assignors


def main(argv: list[str]) -> None:
    """Run, or read previous runs; print the tables, and write the requested files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of each kind")
    parser.add_argument("--no-recordings", action="store_true")
    parser.add_argument("--runs", type=Path, help="JSON Lines to write the runs to")
    parser.add_argument("--read", type=Path, help="such a file, instead of running")
    parser.add_argument("--page", type=Path, help="to put the tables into")
    parser.add_argument("--picture", type=Path, help="PNG to draw")
    arguments = parser.parse_args(argv)
    if arguments.read:
        lines = [json.loads(line) for line in arguments.read.read_text().splitlines()]
    else:
        kinds = dict(
            _kinds(arguments.seeds, with_recordings=not arguments.no_recordings)
        )
        lines = list(_runs(kinds))
    part = page_part(lines)
    print(part)
    if arguments.runs:
        arguments.runs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if arguments.page:
        write_into(arguments.page, part)
    if arguments.picture:
        arguments.picture.write_bytes(picture_of(lines))


def _kinds(
    seeds: int, *, with_recordings: bool
) -> Iterator[tuple[str, list[SolvedCase]]]:
    for kind in DRAWN:
        yield kind, [SolvedCase.of(draw(kind, seed)) for seed in range(seeds)]
    if with_recordings:
        yield RECORDED, [SolvedCase.of(document) for document in recorded()]


def _runs(kinds: dict[str, list[SolvedCase]]) -> Iterator[Line]:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    about = {"date": time.strftime("%Y-%m-%d"), "machine": machine}
    for line in LINES.values():
        clients = install(line)
        for name in line.assignors:
            with Adapter(clients.program(name), seconds=SECONDS) as kafka:
                for kind, cases in kinds.items():
                    keys = {"kafka": line.version, "assignor": name, "kind": kind}
                    yield from lines_of(kafka, about | keys, name, cases)


if __name__ == "__main__":
    main(sys.argv[1:])
