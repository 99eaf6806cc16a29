"""Kernels give the same results without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.amount import INSTANCES

SCRIPT = """
from heuristics import ASSIGNORS
from tests.heuristics.routes import LAYABLE, assigned, fits, instance
from tests.strategies import LARGER, seeded_rebalance

drawn = [seeded_rebalance(seed, LARGER) for seed in range({drawn})]
for document in [*LAYABLE, *filter(fits, drawn)]:
    for name, assignor in ASSIGNORS.items():
        if assignor.refuses(instance(document)) is None:
            print(name, assigned(name, document))
"""

DRAWN = str(min(60, INSTANCES // 100))


def printed(*, disable_jit: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT.replace("{drawn}", DRAWN)],
        env=os.environ | {"NUMBA_DISABLE_JIT": disable_jit},
        check=True,
        capture_output=True,
    ).stdout


def test_interpreted_kernels_agree_with_compiled_ones() -> None:
    compiled = printed(disable_jit="0")
    assert compiled.count(b"\n") > 200
    assert compiled == printed(disable_jit="1")
