"""Rates of the audit's judging alone, per CPU second: ``python -m benchmarks.judging``.

Copies of the shipped recording, of which no two rebalances are equal, are judged in
this process as an audit judges them, but without Spark: first when each is evaluated,
then when all are known and only their names are filled in; with a judge that checks one
rebalance in 16, and with one that checks every real answer and every optimum. The rows
are converted to Arrow batches, as a worker does before it returns them.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa

from benchmarks.multiplied import Shape, multiplied
from pipeline.audit.judged import judged_batches
from pipeline.evaluation import selection
from pipeline.history.stream import ORDER
from pipeline.history.whole_groups import histories_of_groups
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.rows import CASES, ROWS, TOPIC, TOPIC_ID, Row, sighting_of
from pipeline.side_files.sidecars import read_offsets, read_topics
from pipeline.topic_ids import text_of_id
from rebalance import ClaimRule
from tests.pipeline.local_reading import read_paths

RECORDING: Final = Path(__file__).resolve().parent.parent / "recordings" / "churn"
REPEATS: Final = 3
SELECTIONS: Final = (
    ("actual, optimum", ("optimum",), False),
    ("the same, every answer judged", ("optimum",), True),
    ("default (all but kip54-sticky)", None, False),
)


def main() -> None:
    """Print one line per selection of assignors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=8)
    copies = parser.parse_args().copies
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python "
          f"{platform.python_version()}; rebalances per CPU second")  # fmt: skip
    cases, facts = recorded(copies)
    count = sum(row["records"] for row in cases)
    print(f"{count:,} rebalances")
    print(f"{'assignors':32}{'distinct':>10}{'repeated':>10}{'cache MiB':>11}")
    for name, chosen, is_every in SELECTIONS:
        settings = Settings(
            cluster="bench",
            facts=facts,
            claim_rule=ClaimRule.NEWEST_CLAIM,
            assignors=selection(chosen),
            are_optima_judged=is_every,
        )
        _seconds(cases[:1], settings, EvaluatedCodes(claim_rule=ClaimRule.NEWEST_CLAIM))
        known = EvaluatedCodes(claim_rule=ClaimRule.NEWEST_CLAIM)
        distinct = _seconds(cases, settings, known)
        again = min(_seconds(cases, settings, known) for _ in range(REPEATS))
        print(
            f"{name:32}{count / distinct:10,.0f}{count / again:10,.0f}"
            f"{known.n_bytes / 2**20:11,.0f}",
            flush=True,
        )


def recorded(copies: int) -> tuple[list[Row], ClusterFacts]:
    """Return rows of cases of the recording, and other facts in its files."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        multiplied(RECORDING, source, Shape(copies=copies, distinct=True))
        read = pa.Table.from_pylist(list(read_paths([source])), ROWS)
    ordered = read.sort_by([(name, "ascending") for name in ORDER])
    rows = list(histories_of_groups(ordered.to_batches()))
    ids = {text_of_id(r["key"]): r["record"] for r in rows if r["what"] == TOPIC_ID}
    seen = (sighting_of(row) for row in rows if row["what"] == TOPIC)
    facts = ClusterFacts(
        counts=CountSources(
            at_end=read_topics(RECORDING / "topics.json").at_end,
            shown=known_counts(seen, ids),
        ),
        names=ids,
        logs=read_offsets(RECORDING / "offsets.json"),
    )
    return [row for row in rows if row["what"] == CASES], facts


def _seconds(cases: Iterable[Row], settings: Settings, known: EvaluatedCodes) -> float:
    """Return the CPU seconds of judging and of writing Arrow batches."""
    began = time.process_time()
    for _ in judged_batches(0, judge_rows(cases, settings, known)):
        pass
    return time.process_time() - began


if __name__ == "__main__":
    main()
