"""Rates of the audit's judging alone, per CPU second: ``python -m benchmarks.judging``.

The rebalances of the shipped recording are judged in this process, without Spark:
first when each is evaluated, as in a cluster whose rebalances all differ, then when all
are known and only their names are filled in. The rows are converted to Arrow batches,
as a worker does before it returns them.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pipeline.audit.judged import judged_batches
from pipeline.evaluation import ALL, selection
from pipeline.history.stream import ORDER, histories
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instances import World
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.sources.rows import CASE, TOPIC, TOPIC_ID, Row, sighting_of
from pipeline.sources.sidecars import read_offsets, read_topics
from pipeline.topic_ids import text_of_id
from rebalance import ClaimRule
from tests.pipeline.local_reading import read_paths

RECORDING: Final = Path(__file__).resolve().parent.parent / "recordings" / "churn"
REPEATS: Final = 3
WARM_UP: Final = 60
SELECTIONS: Final = {
    "actual, optimum": ("optimum",),
    "default (all but kip54-sticky)": None,
    "all": (ALL,),
}


def main() -> None:
    """Print one line per selection of assignors."""
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python "
          f"{platform.python_version()}; rebalances per CPU second")  # fmt: skip
    cases, world = recorded()
    print(f"{'assignors':32}{'distinct':>10}{'repeated':>10}{'cache MiB':>11}")
    for name, asked in SELECTIONS.items():
        settings = Settings(
            cluster="bench",
            world=world,
            claim_rule=ClaimRule.NEWEST_CLAIM,
            assignors=selection(asked),
        )
        _seconds(
            cases[:WARM_UP], settings, EvaluatedCodes(claim_rule=ClaimRule.NEWEST_CLAIM)
        )
        known = EvaluatedCodes(claim_rule=ClaimRule.NEWEST_CLAIM)
        distinct = _seconds(cases, settings, known)
        again = min(_seconds(cases, settings, known) for _ in range(REPEATS))
        print(
            f"{name:32}{len(cases) / distinct:10,.0f}{len(cases) / again:10,.0f}"
            f"{known.n_bytes / 2**20:11,.0f}",
            flush=True,
        )


def recorded() -> tuple[list[Row], World]:
    """Return the cases of the recording, and what its files state besides."""
    rows = list(histories(sorted(read_paths([RECORDING]), key=_place)))
    ids = {text_of_id(r["key"]): r["record"] for r in rows if r["what"] == TOPIC_ID}
    seen = (sighting_of(r) for r in rows if r["what"] == TOPIC)
    world = World(
        counts=CountSources(
            at_end=read_topics(RECORDING / "topics.json").at_end,
            shown=known_counts(seen, ids),
        ),
        names=ids,
        logs=read_offsets(RECORDING / "offsets.json"),
    )
    return [row for row in rows if row["what"] == CASE], world


def _place(row: Row) -> list[tuple[bool, Any]]:
    """Sort as Spark does, nulls first."""
    return [(row.get(name) is not None, row.get(name)) for name in ORDER]


def _seconds(cases: Iterable[Row], settings: Settings, known: EvaluatedCodes) -> float:
    """Return the CPU seconds of judging and of writing Arrow batches."""
    began = time.process_time()
    for _ in judged_batches(0, judge_rows(cases, settings, known)):
        pass
    return time.process_time() - began


if __name__ == "__main__":
    main()
