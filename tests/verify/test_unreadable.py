"""Documents that cannot be read: each with the JSON path and reason of its error.

The documents and errors are in ``tests/data/unreadable``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import verify
from tests.support.shapes import CHAIN, rebalance
from tests.support.unreadable import ASSIGNMENTS, REBALANCES, check_error
from tests.verify.commands import verdict_on

EMPTY = json.dumps(rebalance({}, {}))
NOTHING_GIVEN = '{"format": "assignment/1", "members": {}}'


@pytest.mark.parametrize("path", REBALANCES, ids=lambda path: path.stem)
def test_unreadable_instance(path: Path) -> None:
    check(path, "instance", verdict_on(path.read_bytes(), NOTHING_GIVEN))


@pytest.mark.parametrize("path", ASSIGNMENTS, ids=lambda path: path.stem)
def test_unreadable_assignment(path: Path) -> None:
    check(path, "assignment", verdict_on(EMPTY, path.read_bytes()))


def check(path: Path, document: str, verdict: dict[str, Any]) -> None:
    """Compare a verdict: nothing but where the document has a fault, and which."""
    fault = verdict["evidence"]["unreadable"]
    assert verdict == unreadable(document, fault["path"], fault["reason"])
    check_error(path, "judge", f"{fault['path']}: {fault['reason']}")


def unreadable(document: str, path: str, reason: str) -> dict[str, Any]:
    return {
        "format": "verdict/1",
        "verdict": "unreadable",
        "violations": [],
        "figures": {},
        "evidence": {
            "unreadable": {"document": document, "path": path, "reason": reason}
        },
        "proved": {"dec_min": False, "stickiness": False, "peak_lag": False},
    }


def test_of_two_the_instance_is_named() -> None:
    verdict = verdict_on("{", "[]")
    assert verdict["evidence"]["unreadable"]["document"] == "instance"


def test_the_id_of_a_readable_instance_is_kept() -> None:
    verdict = verdict_on(json.dumps(CHAIN | {"id": "r7"}), "[]")
    assert list(verdict)[:3] == ["format", "id", "verdict"]
    assert verdict["id"] == "r7"


def test_bug_a_topic_of_twenty_million_partitions_is_rejected_at_once() -> None:
    """60 bytes occupied the judge for 50 s; the limit can be raised and lowered."""
    text = json.dumps(rebalance({"t": 3}, {}))
    assert verify.read_rebalance(text, max_partitions=3)["topics"]["t"]
    with pytest.raises(verify.Unreadable, match="above the limit 2"):
        verify.read_rebalance(text, max_partitions=2)
