"""CPU time of the second night of a store: ``python -m benchmarks.second_night``.

The shipped recording is multiplied (`benchmarks.multiplied`) and divided in the middle:
the second half of each group's records is moved to the next day. Compared is the audit
that continues the first night with one of the second day alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.audit import REBALANCES, RECORDING
from benchmarks.multiplied import SIDE_FILES, Shape, multiplied
from benchmarks.processes import PHASES, Usage, measured

_DAY_MS: Final = 24 * 60 * 60 * 1000


def main() -> None:
    """Write two days, audit them in three ways, and print the CPU seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebalances", type=int, default=20_000, help="per day")
    parser.add_argument("--runs", type=int, default=1, help="in turn, of each way")
    parser.add_argument("--master", default="local[2]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copies = max(1, -(-2 * arguments.rebalances // REBALANCES))
        multiplied(RECORDING, folder / "whole", Shape(copies=copies, distinct=True))
        days = write_days(folder / "whole", folder, copies)
        ways: dict[str, list[float]] = {"alone": [], "second night": []}
        for run in range(arguments.runs):
            store = ["--history", str(folder / f"store-{run}")]
            first = _seconds(days[0], folder / "out", arguments.master, store)
            print(f"first night: {first:.1f} s of CPU")
            for way, options in (("second night", store), ("alone", [])):
                took = _seconds(days[1], folder / "out", arguments.master, options)
                ways[way].append(took)
                print(f"{way}: {took:.1f} s of CPU")
        ratio = min(ways["second night"]) / min(ways["alone"])
        print(f"second night / the day alone: {ratio:.2f}")


def write_days(whole: Path, folder: Path, copies: int) -> list[Path]:
    """Divide the records of each copy into two days; return their folders."""
    recording = pq.read_table(RECORDING / "consumer_offsets.parquet")
    offsets = recording["offset"].to_numpy()
    step = int(offsets.max()) + 1
    middle = int(np.median(offsets))
    days = [folder / "day-1", folder / "day-2"]
    for number, day in enumerate(days):
        day.mkdir()
        for name in SIDE_FILES:
            (day / name).write_bytes((whole / name).read_bytes())
        for path in sorted(whole.glob("*.parquet")):
            table = pq.read_table(path)
            is_later = table["offset"].to_numpy() % step > middle
            left = table.filter(pa.array(is_later == bool(number)))
            moved = {"offset": copies * step, "timestamp": _DAY_MS}
            for column, later in moved.items():
                place = left.schema.get_field_index(column)
                values = _plus(left[column], number * later)
                left = left.set_column(place, left.schema.field(place), values)
            pq.write_table(left, day / path.name)
    return days


def _plus(column: pa.ChunkedArray, number: int) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        unit = pa.duration("ms")
        return pc.add(column, pa.scalar(number, unit)).cast(column.type)
    return pc.add(column, number).cast(column.type)


def _seconds(source: Path, out: Path, master: str, options: list[str]) -> float:
    command = [sys.executable, "-m", "oracle", "audit", str(source), "--out", str(out)]
    usage: Usage = measured([*command, "--master", master, *options])
    manifest = json.loads((out / "audit.json").read_bytes())
    audits = manifest.get("history", {}).get("audits", [])
    judged = audits[-1]["rebalances"] if audits else manifest["rows"]["rebalances"]
    phases = {
        phase: round(usage.python.get(phase, 0.0) + usage.java.get(phase, 0.0), 1)
        for phase in PHASES
    }
    print(f"{judged:,} rebalances judged; CPU seconds: {phases}")
    return sum(usage.python.values()) + sum(usage.java.values())


if __name__ == "__main__":
    main()
