"""Make ``build/spark-4.0``: the present environment, but with the oldest Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.installer import SetUpError
from tools.set_up import FROM_SOURCE
from tools.side_environment import ROOT, side_environment

LOCK = ROOT / "requirements" / "spark-4.0.lock"
VENV = ROOT / "build" / "spark-4.0"


def make_oldest_spark() -> Path:
    """Make the environment if it is not current; return its Python."""
    VENV.parent.mkdir(exist_ok=True)
    side_environment(VENV, LOCK, FROM_SOURCE, is_overlay=True)
    return VENV / "bin" / "python"


def main() -> int:
    """Make the environment and print its Python."""
    try:
        print(make_oldest_spark())
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        print(f"oldest-spark: failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
