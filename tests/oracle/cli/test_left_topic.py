"""What waits for a claimant that has left its topic: one rule for three commands.

In the first round, the partition can be withheld or be assigned at once; a second round
that still withholds it is invalid.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.runs import next_round
from tests.conformance.client_faults import LEFT
from tests.oracle.cli.commands import Cli, faulty, write_lines

WITHHELD: Any = {"a": {"u": [0]}, "b": {}}
ASSIGNED: Any = {"a": {"u": [0]}, "b": {"t": [0]}}


@pytest.mark.parametrize(
    ("before", "members", "options", "rules"),
    [
        (None, WITHHELD, ["--cooperative"], []),
        (None, ASSIGNED, ["--cooperative"], []),
        (WITHHELD, WITHHELD, ["--cooperative"], ["unassigned"]),
        (WITHHELD, ASSIGNED, ["--cooperative"], []),
        (None, WITHHELD, [], ["unassigned"]),
    ],
    ids=["first round", "at once", "second round", "then assigned", "eager"],
)
def test_judge(
    cli: Cli, tmp_path: Path, before: Any, members: Any, options: Any, rules: list[str]
) -> None:
    instance = LEFT if before is None else next_round(LEFT, before)
    answer = {"format": "assignment/1", "members": members}
    files = [write_lines(tmp_path / "i", instance), write_lines(tmp_path / "a", answer)]
    ended = cli("judge", *options, *files)
    (verdict,) = ended.documents
    assert [violation["rule"] for violation in verdict["violations"]] == rules
    assert ended.code == (1 if rules else 0)


@pytest.mark.parametrize(
    ("fault", "rounds", "category"),
    [("withhold", 2, None), ("none", 1, None), ("withhold for ever", 2, "invalid")],
)
def test_fuzz(
    cli: Cli, tmp_path: Path, fault: str, rounds: int, category: str | None
) -> None:
    given = ("--instances", write_lines(tmp_path / "r", LEFT), "--cooperative")
    ended = cli("fuzz", "--command", faulty(fault), *given, "--no-shrink")
    *findings, counts = ended.documents
    assert counts["answers"] == rounds
    found = [(finding["category"], finding["detail"]) for finding in findings]
    assert found == ([] if category is None else [(category, "unassigned")])
    assert ended.code == (0 if category is None else 1)


@pytest.mark.parametrize(
    ("fault", "result"),
    [("withhold", "optimal"), ("none", "optimal"), ("withhold for ever", "invalid")],
)
def test_conform(cli: Cli, fault: str, result: str) -> None:
    """In the scenario `left-topic-withheld` of the corpus."""
    only = ("--count", "0", "--cooperative", "--json")
    ended = cli("conform", "--command", faulty(fault), *only)
    (check,) = [
        document
        for document in ended.documents
        if document["check"] == "left-topic-withheld: a left t"
    ]
    assert check["result"] == result
    if result == "invalid":
        assert len(check["rounds"]) == 2
        assert "unassigned" in check["reasons"][0]
