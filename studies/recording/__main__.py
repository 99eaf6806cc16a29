"""Record real groups under churn: ``python -m studies.recording --out DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.recording.record import record
from studies.recording.scenarios import SCENARIOS


def main() -> None:
    """Record, and print the number of records."""
    parser = argparse.ArgumentParser(prog="python -m studies.recording")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument(
        "--group", action="append", choices=list(SCENARIOS), help="default: all"
    )
    parser.add_argument(
        "--seconds", type=float, default=0, help="of random churn after each scenario"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random churn")
    arguments = parser.parse_args()
    groups = arguments.group or list(SCENARIOS)
    count = record(
        arguments.out, groups=groups, seconds=arguments.seconds, seed=arguments.seed
    )
    print(f"{arguments.out}: {count} records of __consumer_offsets")


if __name__ == "__main__":
    main()
