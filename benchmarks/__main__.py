"""Run all benchmarks in sequence: ``make bench``."""

from __future__ import annotations

import subprocess
import sys

NAMES = ("core", "heuristics", "documents", "audit")

for name in NAMES:
    print(f"\n== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
