"""Run every test with random input of this night, and try mutants of every part.

CI draws the same instances in every run: it finds the effects of a change. A night
draws `INSTANCES` others, from a window of seeds that moves with the date, and
`EXAMPLES` of each property: it searches. ``--date`` repeats the random input of a
night.

If everything passes on a clean checkout, ``.ci/nightly-passed`` names the commit; from
then on CI tries mutants of those parts only that have changed since.

Exit code: 0 everything passed, otherwise 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from tools.nightly_passed import write_passed

ROOT: Final = Path(__file__).resolve().parent.parent
INSTANCES: Final = 50_000
EXAMPLES: Final = "thorough"
"""Profile of Hypothesis in tests/conftest.py: 500 examples."""

MUTATION: Final = (sys.executable, "-m", "tools.mutation")
PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "-q", "-rs", "-n", "logical"),
    *("-p", "tests.support.distribution", "-p", "tests.support.durations"),
    *("-p", "tests.support.lacking"),
    *("--dist", "loadgroup", "--no-loadscope-reorder"),
    *("--junitxml", "build/tests/test-nightly.xml"),
    *("--write-durations", "build/tests/test-nightly.tsv"),
)


def first_seed(night: date) -> int:
    """Return the first seed of a night: windows of different nights are disjoint."""
    return night.toordinal() * INSTANCES


def environment(night: date) -> dict[str, str]:
    """Return the variables that state how much is drawn, and from which seeds."""
    return {
        "ORACLE_INSTANCES": str(INSTANCES),
        "ORACLE_FIRST_SEED": str(first_seed(night)),
        "ORACLE_PROFILE": EXAMPLES,
    }


def commands(night: date) -> tuple[Sequence[str], ...]:
    """Return the commands to run, pytest last."""
    return MUTATION, (*PYTEST, f"--hypothesis-seed={first_seed(night)}")


def git(*arguments: str) -> str:
    """Return git's output about the checkout."""
    command = ["git", *arguments]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all commands, also after one that fails; record the commit if all passed."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.nightly", description=__doc__
    )
    words = "night whose random input is drawn (default: today, UTC)"
    parser.add_argument(
        "--date", type=date.fromisoformat, default=datetime.now(UTC).date(), help=words
    )
    night: date = parser.parse_args(arguments).date
    commit, began = git("rev-parse", "HEAD"), time.monotonic()
    drawn = environment(night)
    print(f"nightly: {' '.join(f'{k}={v}' for k, v in drawn.items())}", flush=True)
    codes = [
        subprocess.run(
            command, cwd=ROOT, env=os.environ | drawn, check=False
        ).returncode
        for command in commands(night)
    ]
    minutes = (time.monotonic() - began) / 60
    if any(codes):
        print(f"nightly: failed after {minutes:.0f} min; `--date {night}` repeats it")
        return 1
    if git("rev-parse", "HEAD") != commit or git("status", "--porcelain"):
        print(f"nightly: passed in {minutes:.0f} min, with changes that no commit has")
        return 0
    write_passed(commit, f"{night}, {minutes:.0f} min")
    print(f"nightly: passed in {minutes:.0f} min; commit .ci/nightly-passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
