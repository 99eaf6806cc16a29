"""Time of the audit of the shipped recording: ``python -m benchmarks.audit``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECORDING = Path(__file__).resolve().parent.parent / "recordings" / "churn"
REPEATS = 3


def main() -> None:
    """Run the audit as a user does, one process per run; print the wall times."""
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "oracle", "audit", str(RECORDING)]
            start = time.perf_counter()
            subprocess.run([*command, "--out", folder], check=True, capture_output=True)
            print(f"audit of {RECORDING.name}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
