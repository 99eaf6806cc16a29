"""Time and size of the page of a large audit: ``python -m benchmarks.audit_page``.

The tables are those of one audit, repeated under new names (`benchmarks.large_audit`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.large_audit import AuditSize, write_large_audit
from oracle.report import write_page


def main() -> None:
    """Write the tables and the page; print rebalances, seconds, and bytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("audit", type=Path, help="folder of an audit to repeat")
    parser.add_argument("--groups", type=int, default=3_000)
    parser.add_argument("--rebalances", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--keep", type=Path, help="keep the tables in this new folder")
    arguments = parser.parse_args()
    size = AuditSize(
        groups=arguments.groups, rebalances=arguments.rebalances, days=arguments.days
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch) / "audit"
        written = write_large_audit(arguments.audit, folder, size)
        start, cpu = time.perf_counter(), time.process_time()
        write_page(folder, folder / "index.html")
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        size_of_page = (folder / "index.html").stat().st_size
    print(
        f"{arguments.groups:,} groups, {written:,} rebalances: page in {seconds:.1f} s"
    )
    print(f"processor time {cpu:.1f} s; {size_of_page:,} bytes")


if __name__ == "__main__":
    main()
