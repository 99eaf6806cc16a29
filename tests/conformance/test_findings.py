"""Definitions of findings select what they describe, and nothing safe is left over."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from conformance import SHAPES
from conformance.clients import all_client_assignors, client_assignor
from conformance.findings import (
    Definition,
    all_definitions,
    definition,
    example,
    findings_by_definition,
    stored_records,
    try_examples,
    uncovered,
)
from conformance.findings.definitions import read_definition
from conformance.runs import Finding, parse_finding
from rebalance import OutsideError, rebalance_of
from tests.support.shapes import Document, member, rebalance

MIXED = rebalance({"t": 1}, {"a": member([]), "b": member(["t"])})
TEXT = """
title = "t"
status = "open"
summary = "s"
mechanism = "m"
provable = "p"
reachable = "r"
[[selectors]]
clients = ["kafka-*"]
categories = ["error"]
[[examples]]
scenario = "sticky-endless"
[searched]
date = "2026-11-26"
"""
FIXED = """
[[statuses]]
client = "sarama"
status = "fixed"
first_fixed = "2.0"
note = "n"
url = "https://example.org"
"""


def finding(category: str, detail: str, **more: object) -> Finding:
    """Return a finding of kafka-python's roundrobin."""
    document: Document = {
        "format": "finding/1",
        "subject": {
            "name": "kafka-python@3.0.12/roundrobin",
            "client": "kafka-python",
            "version": "3.0.12",
            "assignor": "roundrobin",
            "language": "Python",
        },
        "cooperative": False,
        "family": "fresh",
        "seed": 0,
        "index": 3,
        "step": 0,
        "category": category,
        "detail": detail,
        "command": "assignor-oracle fuzz",
        "instance": MIXED,
        "rounds": [{"verdict": "error", "reason": detail}],
        "expected": {"format": "assignment/1", "members": {"a": {}, "b": {"t": [0]}}},
    }
    return parse_finding(orjson.dumps(document | more))


@pytest.mark.parametrize(
    "definition", all_definitions(), ids=lambda definition: definition.id
)
def test_each_definition_has_an_example_for_each_of_its_clients(
    definition: Definition,
) -> None:
    clients = {
        each.client
        for each in all_client_assignors()
        if definition.is_about(each.client, each.version, each.assignor)
    }
    assert clients
    for client in clients:
        shown = example(definition, client)
        assert definition.is_about(shown.client, shown.version, shown.assignor)
        assert rebalance_of(shown.instance).members


def test_a_finding_belongs_to_the_definition_that_selects_it() -> None:
    one = finding("error", "KeyError")
    assert findings_by_definition([one])["roundrobin-key-error"] == (one,)
    assert uncovered([one]) == ()


def test_a_finding_of_safety_that_nothing_selects_stops_the_pages() -> None:
    one = finding("invalid", "assigned-twice")
    assert uncovered([one]) == (one,)
    with pytest.raises(OutsideError, match=r"fresh 3/0: invalid assigned-twice"):
        findings_by_definition([one])


def test_gaps_of_quality_need_no_definition() -> None:
    gap = finding("needless-moves", "")
    assert not any(findings_by_definition([gap]).values())


def test_an_instance_without_members_is_not_the_smallest() -> None:
    """A group without members has no leader, so shrinking went past the mechanism."""
    case = finding("error", "KeyError").model_dump(
        exclude_none=True, include={"rounds", "expected"}
    )
    empty = rebalance({}, {})
    none = {"format": "assignment/1", "members": {}}
    shrunk = case | {"instance": empty, "expected": none, "tests": 1, "minimal": True}
    one = finding("error", "KeyError", shrunk=shrunk)
    assert findings_by_definition([one])["roundrobin-key-error"] == (one,)


def test_shapes_tell_instances_apart() -> None:
    left = rebalance(
        {"t": 1, "u": 1}, {"a": member(["u"], {"t": [0]}, 1), "b": member(["t"])}
    )
    rivals = rebalance(
        {"t": 1}, {"a": member(["t"], {"t": [0]}, 1), "b": member(["t"], {"t": [0]}, 2)}
    )
    lost = rebalance({"t": 1}, {"a": member(["t"], {"t": [1]})})
    missing = rebalance({"t": 1}, {"a": member(["t", "u"])})
    racked = rebalance({"t": 1}, {"a": member(["t"], rack="r")})
    names = {
        "left": {name for name, holds in SHAPES.items() if holds(left)},
        "rivals": {name for name, holds in SHAPES.items() if holds(rivals)},
        "lost": {name for name, holds in SHAPES.items() if holds(lost)},
        "missing": {name for name, holds in SHAPES.items() if holds(missing)},
        "racked": {name for name, holds in SHAPES.items() if holds(racked)},
        "mixed": {name for name, holds in SHAPES.items() if holds(MIXED)},
    }
    assert names == {
        "left": {"left-claims", "mixed"},
        "rivals": {"double-claims", "older-claims"},
        "lost": {"lost-claims"},
        "missing": {"missing-topic"},
        "racked": {"racks"},
        "mixed": {"mixed", "idle-member"},
    }


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"open"', '"shut"', r"x\.toml: status"),
        ('"open"', '"withdrawn"', r"x\.toml: .*status_note"),
        ('"error"', '"errors"', r"x\.toml: selectors\.0\.categories"),
        ('"sticky-endless"', '"nowhere"', r"x\.toml: examples\.0.*'nowhere'"),
        ('"open"', '"fixed"', r"x\.toml: .*first_fixed"),
        ('date = "2026-11-26"', 'date = "today"', r"x\.toml: searched\.date"),
        ("title", "titel", r"x\.toml: "),
        ("[[examples]]", "[[examples]", r"x\.toml: "),
    ],
)
def test_a_bad_definition_is_named(old: str, new: str, reason: str) -> None:
    assert read_definition(TEXT, name="x").selectors[0].is_about("kafka-go", "1", "a")
    with pytest.raises(OutsideError, match=reason):
        read_definition(TEXT.replace(old, new), name="x")


def test_a_client_can_have_a_status_of_its_own() -> None:
    one = read_definition(TEXT + FIXED, name="x")
    assert one.status_of("sarama") == "fixed"
    assert one.status_of("kafka-go") == "open"
    whole = (TEXT + FIXED).replace('"open"', '"fixed"')
    assert read_definition(whole, name="x").status == "fixed"


@pytest.mark.parametrize(
    "line", ['first_fixed = "2.0"\n', 'url = "https://example.org"\n']
)
def test_a_repair_names_its_version_and_its_place(line: str) -> None:
    with pytest.raises(OutsideError, match=r"x\.toml: statuses\.0"):
        read_definition(TEXT + FIXED.replace(line, ""), name="x")


def test_an_unknown_finding_is_named() -> None:
    with pytest.raises(OutsideError, match="no finding 'nothing'"):
        definition("nothing")


def test_a_bad_record_is_named(tmp_path: Path) -> None:
    line = finding("error", "KeyError").model_dump_json(exclude_none=True)
    path = tmp_path / "kafka-python@3.0.12.jsonl.gz"
    path.write_bytes(gzip.compress(f"{line}\n{{}}\n".encode(), mtime=0))
    with pytest.raises(OutsideError, match=r"3\.0\.12\.jsonl\.gz, line 2: "):
        stored_records(tmp_path)


@pytest.mark.heavy
def test_a_trial_shows_the_finding_of_the_version_that_has_it() -> None:
    """The KeyError of roundrobin appeared after kafka-python 2.0.6."""
    missing: list[str] = []
    assignors = tuple(
        client_assignor(f"kafka-python@{version}/roundrobin")
        for version in ("3.0.12", "2.0.6")
    )
    trials = try_examples(
        date="2026-11-23",
        oracle="0",
        missing=missing.append,
        definitions=(definition("roundrobin-key-error"),),
        assignors=assignors,
    )
    assert {trial.version: trial.shows for trial in trials} == {
        "3.0.12": True,
        "2.0.6": False,
    }
    assert missing == []
