"""Answers per second of every adapter: ``python -m benchmarks.adapters``.

Each adapter answers tiny rebalances, one at a time, as in a differential run: write a
line, wait for the answer, and parse it. CPU is that of the adapter and ours together;
on a busy machine, only this is a measure. ``--page`` writes the table into a page.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from random import Random

import psutil

from benchmarks.result_page import write_into
from conformance.clients import (
    Adapter,
    ClientAssignor,
    MissingClientError,
    all_client_assignors,
    matching_client_assignors,
)
from rebalance import OutsideError

WARMING = 500
COUNT = 3000
DRAWS = 200
HEAD = (
    "| client | assignor | per second of CPU | adapter, µs | ours, µs | per second |",
    "| --- | --- | ---: | ---: | ---: | ---: |",
)


def tiny_rebalances(seed: int) -> Iterator[bytes]:
    """Yield rebalances of two or three members that all subscribe to all topics."""
    rng = Random(seed)  # noqa: S311
    while True:
        topics = {f"t{t}": rng.randint(1, 4) for t in range(rng.randint(1, 2))}
        names = [f"m{m}" for m in range(rng.randint(2, 3))]
        owned: dict[str, dict[str, list[int]]] = {name: {} for name in names}
        for topic, count in topics.items():
            for number in range(count):
                owned[rng.choice(names)].setdefault(topic, []).append(number)
        document = {
            "format": "rebalance/1",
            "group": "tiny",
            "topics": {topic: {"partitions": count} for topic, count in topics.items()},
            "members": {
                name: {"subscription": [*topics], "owned": mine, "generation": 3}
                for name, mine in owned.items()
            },
        }
        yield json.dumps(document).encode()


def measure(assignor: ClientAssignor, count: int) -> str:
    """Return the row of one assignor.

    Raises
    ------
    OutsideError
        If a rebalance is not answered.
    """
    documents = list(islice(tiny_rebalances(1), DRAWS))
    with Adapter(assignor.program()) as adapter:
        for document in islice(cycle(documents), WARMING):
            adapter.answer(document)
        children = psutil.Process().children(recursive=True)
        before = _cpu(children)
        ours, start = time.process_time(), time.perf_counter()
        for document in islice(cycle(documents), count):
            if (answer := adapter.answer(document)).assignment is None:
                raise OutsideError(
                    f"{assignor.spec}: {answer.verdict.value}: {answer.reason}"
                )
        wall = time.perf_counter() - start
        ours, theirs = time.process_time() - ours, _cpu(children) - before
    return (
        f"| {assignor.client} {assignor.version} | {assignor.assignor} "
        f"| {count / (ours + theirs):,.0f} "
        f"| {theirs / count * 1e6:,.0f} | {ours / count * 1e6:,.0f} "
        f"| {count / wall:,.0f} |"
    )


def _cpu(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(time.user + time.system for time in times))


def main() -> None:
    """Print one row per assignor that is installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--client", metavar="SPEC", help="only these assignors")
    parser.add_argument("--count", type=int, default=COUNT, help="answers to measure")
    parser.add_argument("--page", type=Path, help="page to write the table into")
    arguments = parser.parse_args()
    every = all_client_assignors()
    wanted = matching_client_assignors(arguments.client) if arguments.client else every
    rows = [*HEAD]
    for assignor in wanted:
        if assignor.kind == "adapter":
            try:
                rows.append(measure(assignor, arguments.count))
            except MissingClientError as error:
                rows.append(
                    f"| {assignor.client} {assignor.version}"
                    f" | {assignor.assignor} | missing |"
                )
                print(error)
            else:
                print(rows[-1], flush=True)
    if arguments.page:
        day = f"{datetime.now(tz=UTC):%Y-%m-%d}"
        machine = f"{platform.system()} {platform.machine()}"
        head = (
            f"Run {day} on {machine}, {psutil.cpu_count()} cores, {arguments.count:,}"
        )
        write_into(arguments.page, f"{head} answers each.\n\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
