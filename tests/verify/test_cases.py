"""Right and wrong pairs in folders, each with its whole verdict."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import verify
from tests.verify.commands import Capture, judged, verdict_on

RULES = (
    "assigned-twice",
    "missing-member",
    "unassigned",
    "unknown-member",
    "unknown-partition",
    "unrevoked",
    "unsubscribed",
)
CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/expect.json"))


def name_of(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def texts_of(folder: Path) -> tuple[bytes, bytes]:
    instance, assignment = folder / "instance.json", folder / "assignment.json"
    return instance.read_bytes(), assignment.read_bytes()


def expectation_of(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    expect = json.loads((folder / "expect.json").read_bytes())
    assert expect.keys() == {"about", "options", "verdict"}
    return expect["options"], expect["verdict"]


def shuffled(value: object, rng: Random) -> Any:
    """Return the same JSON with its keys in another order."""
    if not isinstance(value, dict):
        return value
    keys = rng.sample(list(value), len(value))
    return {key: shuffled(value[key], rng) for key in keys}


def test_every_verdict_has_cases() -> None:
    assert {folder.parent.name for folder in FOLDERS} == {"valid", "invalid"}
    assert len(FOLDERS) == len(list(CASES.glob("*/*")))


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_verdict(folder: Path, capfdbinary: Capture) -> None:
    options, expected = expectation_of(folder)
    assert expected["verdict"] == folder.parent.name
    assert verdict_on(*texts_of(folder), **options) == expected
    flags = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in options.items()
    ]
    files = folder / "instance.json", folder / "assignment.json"
    code = 0 if expected["verdict"] == "valid" else 1
    assert judged(capfdbinary, *files, *flags) == (code, [expected], "")


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_order_of_keys_never_shows(folder: Path) -> None:
    options, expected = expectation_of(folder)
    instance, assignment = map(json.loads, texts_of(folder))
    rng = Random(name_of(folder))  # noqa: S311
    for _ in range(5):
        verdict = verify.judge(
            shuffled(instance, rng), shuffled(assignment, rng), **options
        )
        assert json.dumps(verdict) == json.dumps(expected)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_judging_leaves_the_documents_alone(folder: Path) -> None:
    options, _ = expectation_of(folder)
    instance, assignment = map(json.loads, texts_of(folder))
    verify.judge(instance, assignment, **options)
    assert [instance, assignment] == [json.loads(text) for text in texts_of(folder)]


def test_every_rule_has_a_case_and_no_other() -> None:
    broken = {
        violation["rule"]
        for folder in FOLDERS
        for violation in expectation_of(folder)[1]["violations"]
    }
    assert tuple(sorted(broken)) == RULES
