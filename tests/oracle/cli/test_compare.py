"""``compare``: every assignor and the optimum, with figures from the judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heuristics import ASSIGNORS
from rebalance import document_of, instance_of, parse_rebalance, plain_of
from tests.oracle.cli.commands import Cli, write_lines
from tests.support.strategies import SMALL, seeded_rebalance
from verify import judge, read_rebalance


@pytest.mark.heavy
def test_every_assignor_is_run_and_judged(cli: Cli, tmp_path: Path) -> None:
    drawn = [seeded_rebalance(seed, SMALL) for seed in range(25)]
    ended = cli("compare", write_lines(tmp_path / "r", *drawn))
    assert ended.code == 0
    names = ["optimum", "kip54-sticky", *ASSIGNORS]
    for document, comparison in zip(drawn, ended.documents, strict=True):
        answers = comparison["answers"]
        instance = instance_of(parse_rebalance(json.dumps(document)))
        assert [answer["assignor"] for answer in answers] == names
        for answer in answers[2:]:
            assignor = ASSIGNORS[answer["assignor"]]
            reason = assignor.refuses(instance)
            if reason is not None:
                assert answer["refused"] == reason
                continue
            given = plain_of(
                document_of(instance, assignor.assign(instance), assignor="x")
            )
            found = judge(read_rebalance(json.dumps(document)), given)
            assert answer["figures"] == found["figures"]
            best = answers[0]["figures"]
            if found["figures"]["kip54_balanced"]:
                least = answers[1]["figures"]["moves"]
                assert answer["kip54_gap"] == found["figures"]["moves"] - least >= 0
            else:
                assert answer["kip54_gap"] is None
            for name, gap in answer["gap"].items():
                assert gap == found["figures"][name] - best[name]
