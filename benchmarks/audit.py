"""Throughput of the audit: ``python -m benchmarks.audit --rebalances 100000``.

The shipped recording is multiplied under new group names (`benchmarks.multiplied`) and
audited as a user does. Printed are the wall time and the CPU time of each phase, the
latter for Python's workers and for Java, and the memory of the largest worker.
Rates are per second of CPU: on a machine with other work, the wall time says little.

``--distinct`` shifts the committed offsets of each copy, so that its lags differ and
hardly any two rebalances are equal; ``--skewed`` gives half of all rebalances to one
group.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.multiplied import Shape, multiplied
from benchmarks.processes import PHASES, Usage, measured

RECORDING: Final = Path(__file__).resolve().parent.parent / "recordings" / "churn"
REBALANCES: Final = 657
"""Rebalances of the recording."""


def main() -> None:
    """Multiply, audit, and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebalances", type=int, default=20_000)
    parser.add_argument("--assignors", help="as the option of the audit")
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--skewed", action="store_true")
    parser.add_argument("--days", type=int, default=1, help="spread over so many days")
    parser.add_argument("--master", default="local[2]")
    arguments = parser.parse_args()
    copies = -(-arguments.rebalances // (REBALANCES * (2 if arguments.skewed else 1)))
    shape = Shape(
        copies=max(copies, 1),
        skewed=arguments.skewed,
        distinct=arguments.distinct,
        days=arguments.days,
    )
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python "
          f"{platform.python_version()}; {shape}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "source", Path(folder) / "out"
        multiplied(RECORDING, source, shape)
        command = [sys.executable, "-m", "oracle", "audit", str(source)]
        command += ["--out", str(out), "--master", arguments.master]
        command += ["--assignors", arguments.assignors] if arguments.assignors else []
        usage = measured(command)
        manifest = json.loads((out / "audit.json").read_bytes())
        size = sum(path.stat().st_size for path in out.rglob("*.parquet"))
        print(report(manifest, usage, table_bytes=size))


def report(manifest: dict[str, Any], usage: Usage, *, table_bytes: int) -> str:
    """Return the measurements as text; the manifest is that of the audit."""
    number = manifest["rows"]["rebalances"]
    lines = [f"{number:,} rebalances; rows: {manifest['rows']}"]
    lines.append(
        f"{'phase':8}{'wall s':>9}{'Python s':>10}{'Java s':>9}{'per CPU s':>11}"
        f"{'worker MiB':>12}"
    )
    total = 0.0
    for phase in PHASES:
        python, java = usage.python.get(phase, 0.0), usage.java.get(phase, 0.0)
        total += python + java
        wall = usage.wall.get(phase, 0.0)
        lines.append(
            f"{phase:8}{wall:9.1f}{python:10.1f}{java:9.1f}"
            f"{_rate(number, python + java):>11}"
            f"{usage.worker_bytes.get(phase, 0) / 2**20:12,.0f}"
        )
    wall = sum(usage.wall.values())
    lines.append(f"{'all':8}{wall:9.1f}{'':19}{_rate(number, total):>11}")
    lines.append(f"tables: {table_bytes / 2**20:,.0f} MiB")
    return "\n".join(lines)


def _rate(number: int, seconds: float) -> str:
    return f"{number / seconds:,.0f}" if seconds else ""


if __name__ == "__main__":
    main()
