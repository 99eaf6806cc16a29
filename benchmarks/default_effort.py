"""CPU seconds of the default effort: ``python -m benchmarks.default_effort``.

Every rebalance and snapshot of the recordings and of the tests' data, and every
instance of the corpus, is solved without limits under every named policy and two more
without a balance, then once more where that took a second. The record in ``docs/data``
has a line per solve of a second or more, and a last line about all of them. Exits with
1 if a solve takes more than `SECONDS_MAX`, or if a repeated one has other bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from conformance import corpus, play
from rebalance import Instance, instance_of, parse_rebalance, to_json
from solver import DEFAULT_EFFORT, NAMED, load_kernels, parse_policy, solve
from tests.pipeline.local_audit import local_audit

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = (
    "recordings/churn",
    "recordings/first-look",
    "tests/data/churn-describe",
    "tests/data/describe-4.3.1",
    "tests/data/log-segments",
)
POLICIES: Final = (*NAMED, "none; peak-lag", "none; topic-peak-lag")
OUT: Final = ROOT / "docs" / "data" / "default-effort.jsonl"
SECONDS_MAX: Final = 60.0
LISTED_SECONDS: Final = 1.0
PACKAGES: Final = ("numpy", "numba", "ortools")

Line = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffortCase:
    """An instance, and where it is from."""

    source: str
    name: str
    text: str


def main() -> None:
    """Solve, write the lines, and print the last one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--policy", nargs="*", default=POLICIES)
    options = parser.parse_args()
    for text in options.policy:
        load_kernels(parse_policy(text))
    lines = [line for case in cases() for line in _lines(case, options.policy)]
    listed = [line for line in lines if line["cpu_s"] >= LISTED_SECONDS]
    last = _summary(lines)
    with options.out.open("w", encoding="utf-8") as out:
        for line in (*listed, last):
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(json.dumps(last, indent=1))
    if last["cpu_s_largest"] > SECONDS_MAX or not last["same_bytes"]:
        raise SystemExit(1)


def cases() -> Iterator[EffortCase]:
    """Yield every distinct instance, in order."""
    seen: set[str] = set()
    for case in (*_recorded(), *_corpus()):
        if case.text not in seen:
            seen.add(case.text)
            yield case


def _recorded() -> Iterator[EffortCase]:
    for source in SOURCES:
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "audit"
            local_audit([ROOT / source], out, assignors=["range"])
            for table in ("rebalances", "snapshots"):
                for row in pq.read_table(out / table).to_pylist():
                    if row.get("instance"):
                        name = f"{row['group_id']} {row.get('generation', '')}".strip()
                        yield EffortCase(source=source, name=name, text=row["instance"])


def _corpus() -> Iterator[EffortCase]:
    for scenario in corpus():
        for scene in play(scenario, lambda _: None):
            name = f"{scenario.name}, {scene.step.name}"
            text = to_json(scene.rebalance).decode()
            yield EffortCase(source="corpus", name=name, text=text)


def _lines(case: EffortCase, policies: list[str]) -> Iterator[Line]:
    instance = instance_of(parse_rebalance(case.text))
    for text in policies:
        if parse_policy(text).needs_lag and instance.lag is None:
            continue
        line = _solved(instance, text)
        if line["cpu_s"] >= LISTED_SECONDS:
            line["same_bytes"] = _solved(instance, text)["sha256"] == line["sha256"]
        yield {"source": case.source, "instance": case.name, **line}


def _solved(instance: Instance, text: str) -> Line:
    cpu = time.process_time()
    result = solve(instance, parse_policy(text))
    cpu = time.process_time() - cpu
    return {
        "members": len(instance.members),
        "partitions": instance.n_partitions,
        "policy": text,
        "status": result.status.value,
        "cpu_s": round(cpu, 2),
        "sha256": hashlib.sha256(to_json(result.to_document(instance))).hexdigest(),
    }


def _summary(lines: list[Line]) -> Line:
    return {
        "solves": len(lines),
        "proved": sum(line["status"] == "optimal" for line in lines),
        "default_effort": DEFAULT_EFFORT,
        "cpu_s_largest": max(line["cpu_s"] for line in lines),
        "cpu_s_all": round(sum(line["cpu_s"] for line in lines), 1),
        "same_bytes": all(line.get("same_bytes", True) for line in lines),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }


if __name__ == "__main__":
    main()
