"""The published corpus and its JSON Schema equal what the command prints."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from conformance import corpus, corpus_documents, parse_scenario, scenario_schema
from rebalance import DocumentError
from tests.conformance.corpus.test_scenario import EXPECT, MEMBER, SCENARIO, changed
from tests.oracle.cli.commands import Cli

DATA = Path(__file__).resolve().parents[3] / "docs" / "data"
VALIDATOR = Draft202012Validator(scenario_schema())
STEP: list[str | int] = ["steps", 0]


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    return Cli(capsysbinary)


@pytest.mark.parametrize(
    ("file", "arguments"),
    [("corpus.jsonl", []), ("scenario-1.schema.json", ["--schema"])],
)
def test_the_published_file_is_what_the_command_prints(
    cli: Cli, file: str, arguments: list[str]
) -> None:
    printed = cli("corpus", *arguments).out
    command = " ".join(("assignor-oracle corpus", *arguments))
    assert (DATA / file).read_bytes() == printed, f"run {command} -o docs/data/{file}"


@pytest.mark.heavy
def test_a_line_is_a_scenario() -> None:
    lines = (DATA / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    assert [parse_scenario(line) for line in lines] == list(corpus())


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.heavy
def test_the_schema_accepts_every_scenario() -> None:
    for scenario in corpus_documents():
        assert list(VALIDATOR.iter_errors(scenario)) == [], scenario["name"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], "scenario/2"),
        (["colour"], "red"),
        (["steps"], []),
        (["tells"], None),
        ([*EXPECT, "of"], []),
        ([*EXPECT, "of"], "range"),
        ([*EXPECT, "kept"], 3),
        ([*EXPECT, "round"], 0),
        ([*EXPECT, "figures"], None),
        ([*EXPECT, "figures"], {"kept": -1}),
        ([*EXPECT, "claim_rule"], "oldest-claim"),
        ([*EXPECT, "loads_within"], [1]),
        ([*EXPECT, "holds"], {"a": {"t": ["0"]}}),
        ([*STEP, "owners"], {"oldest-claim": {}}),
        ([*STEP, "unreadable"], None),
        ([*STEP, "rebalance", "format"], "rebalance/2"),
        ([*MEMBER, "owned"], {"t": [-1]}),
        ([*MEMBER, "generation"], -2),
        ([*MEMBER, "subscription"], None),
    ],
)
def test_the_schema_and_the_reader_reject_the_same_damage(
    path: list[str | int], value: object
) -> None:
    damaged = changed(path, value)
    assert list(VALIDATOR.iter_errors(json.loads(damaged))) != []
    with pytest.raises(DocumentError):
        parse_scenario(damaged)


@pytest.mark.parametrize("key", ["format", "name", "source", "tells", "steps"])
def test_the_schema_requires_what_the_reader_requires(key: str) -> None:
    damaged: dict[str, Any] = copy.deepcopy(SCENARIO)
    del damaged[key]
    assert list(VALIDATOR.iter_errors(damaged)) != []
    with pytest.raises(DocumentError):
        parse_scenario(json.dumps(damaged))


def test_an_unreadable_step_may_hold_anything() -> None:
    """What the schema of rebalance/1 rejects is accepted, if the step states it."""
    damaged = json.loads(changed([*MEMBER, "owned"], {"t": [-1]}))
    assert list(VALIDATOR.iter_errors(damaged)) != []
    damaged["steps"][0]["unreadable"] = "$.members.a.owned.t[0]"
    assert list(VALIDATOR.iter_errors(damaged)) == []
    parse_scenario(json.dumps(damaged))
