"""Kernels give the same results without a compiler.

`tests.oracle.cli.test_small_input` compares them in the quick tests.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.heuristics.routes import LAYABLE, fits
from tests.support import last_drawn
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document
from tests.support.strategies import LARGER, seeded_rebalance

SCRIPT = """
from heuristics import ASSIGNORS
from tests.heuristics.routes import assigned, instance
from tests.heuristics.test_interpreted import documents

for place, (seed, document) in enumerate(documents()):
    for name, assignor in ASSIGNORS.items():
        if assignor.refuses(instance(document)) is None:
            print(place, name, assigned(name, document))
"""


def documents() -> list[tuple[int | None, Document]]:
    """Return the named shapes, and drawn rebalances with their seeds."""
    drawn = (
        (seed, seeded_rebalance(seed, LARGER))
        for seed in seeds(min(60, INSTANCES // 400))
    )
    return [
        *((None, document) for document in LAYABLE),
        *(pair for pair in drawn if fits(pair[1])),
    ]


def printed(*, disable_jit: str) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=os.environ | {"NUMBA_DISABLE_JIT": disable_jit},
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout.splitlines()


@pytest.mark.heavy
def test_interpreted_kernels_agree_with_compiled_ones() -> None:
    compiled = printed(disable_jit="0")
    assert len(compiled) > 200
    every = documents()
    for line, other in zip(compiled, printed(disable_jit="1"), strict=True):
        seed, document = every[int(line.split()[0])]
        last_drawn.note(document, seed)
        assert line == other
