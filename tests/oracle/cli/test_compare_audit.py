"""``compare`` and ``audit`` report equal results on every scenario of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import play
from pipeline.tables import read_table
from rebalance import to_json
from tests.conformance.corpus.scenes import SCENARIOS
from tests.oracle.cli.commands import Cli
from tests.pipeline.local_audit import local_audit

FIGURES = (
    "loads",
    "kip54_score",
    "kip54_balanced",
    "dec_min_balanced",
    "kept",
    "moves",
    "rack_mismatches",
)
LAG_FIGURES = ("peak_lag", "lag_spread")


@pytest.fixture(params=[24, pytest.param(1, marks=pytest.mark.heavy)])
def rebalances(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write readable rebalances of the corpus, every 24th or all, one per line."""
    lines = [
        to_json(scene.rebalance).decode()
        for scenario in SCENARIOS.values()
        for scene in play(scenario, lambda _: None)
    ]
    source = tmp_path / "rebalances.jsonl"
    source.write_text("\n".join(lines[:: request.param]) + "\n")
    return source


def of_compare(answer: Mapping[str, Any], bound: int | None) -> dict[str, Any]:
    """Return an answer of comparison/1, with the names of the table's columns."""
    if not answer["applies"]:
        return {"applies": False, "refused": answer["refused"]}
    figures, gap = answer["figures"], answer["gap"] or {}
    lag = {name: figures[name] if bound is not None else None for name in LAG_FIGURES}
    proved = answer.get("proved", {})
    return {
        "applies": True,
        "verdict": answer["verdict"],
        "status": answer.get("status"),
        "peak_lag_bound": bound,
        "needless": gap.get("moves"),
        "score_gap": gap.get("kip54_score"),
        "kip54_gap": answer["kip54_gap"],
        "proved": [proved.get("dec_min"), proved.get("stickiness")],
        **{name: figures[name] for name in FIGURES},
        **lag,
    }


def of_audit(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same columns of a row of ``answers``."""
    if not row["applies"]:
        return {"applies": False, "refused": row["refused"]}
    is_settled = row["moves_least_kip54"] is not None and row["verdict"] == "valid"
    has_kip54_gap = is_settled and row["kip54_balanced"]
    is_program = row["status"] is not None
    names = ("proved_dec_min", "proved_stickiness")
    return {
        "applies": True,
        "needless": difference(row["moves"], row["moves_least"]),
        "score_gap": difference(row["kip54_score"], row["kip54_score_least"]),
        "kip54_gap": (
            difference(row["moves"], row["moves_least_kip54"])
            if has_kip54_gap
            else None
        ),
        "proved": [row[name] if is_program else None for name in names],
        **{
            name: row[name]
            for name in ("verdict", "status", "peak_lag_bound", *FIGURES, *LAG_FIGURES)
        },
        # Null without racks of partitions, where `compare` counts no mismatch.
        "rack_mismatches": row["rack_mismatches"] or 0,
    }


def difference(value: int, least: int | None) -> int | None:
    return None if least is None else value - least


@pytest.mark.heavy
def test_compare_and_audit_agree_on_the_corpus(
    cli: Cli, rebalances: Path, tmp_path: Path
) -> None:
    compared = {
        (f"{rebalances.name}:{line}", answer["assignor"]): of_compare(
            answer, document["peak_lag_bound"]
        )
        for line, document in enumerate(cli("compare", rebalances).documents, start=1)
        for answer in document["answers"]
    }
    audit = local_audit([rebalances], tmp_path / "audit", assignors=["all"])
    audited = {
        (row["rebalance_id"], row["assignor"]): of_audit(row)
        for row in read_table(Path(audit.out), "answers").to_pylist()
    }
    assert audited.keys() == compared.keys()
    for key, row in audited.items():
        assert row == compared[key], key
