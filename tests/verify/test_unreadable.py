"""Documents that cannot be read: each with the JSON path and reason of its error."""

from __future__ import annotations

import json
from typing import Any

import pytest

import verify
from tests.support.shapes import CHAIN, rebalance
from tests.verify.commands import verdict_on
from tests.verify.unreadable_assignments import ASSIGNMENTS
from tests.verify.unreadable_instances import INSTANCES, topics

EMPTY = json.dumps(rebalance({}, {}))
NOTHING_GIVEN = '{"format": "assignment/1", "members": {}}'


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [case[1:] for case in INSTANCES],
    ids=[case[0] for case in INSTANCES],
)
def test_unreadable_instance(text: str | bytes, path: str, reason: str) -> None:
    verdict = verdict_on(text, NOTHING_GIVEN)
    assert verdict == unreadable("instance", path, reason)


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [case[1:] for case in ASSIGNMENTS],
    ids=[case[0] for case in ASSIGNMENTS],
)
def test_unreadable_assignment(text: str | bytes, path: str, reason: str) -> None:
    verdict = verdict_on(EMPTY, text)
    assert verdict == unreadable("assignment", path, reason)


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
    text = topics('{"t": {"partitions": 3}}')
    assert verify.read_rebalance(text, max_partitions=3)["topics"]["t"]
    with pytest.raises(verify.Unreadable, match="above the limit 2"):
        verify.read_rebalance(text, max_partitions=2)
