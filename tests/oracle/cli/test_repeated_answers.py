"""``fuzz`` and ``conform`` of programs whose answers differ when they are repeated."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conformance.runs import parse_finding, parse_run
from tests.conformance.tap_reading import read_tap
from tests.docs.test_printed_documents import check as validated
from tests.oracle.cli.commands import Cli

VARYING = Path(__file__).parents[2] / "conformance" / "varying_adapter.py"
DEPENDENCES = ["process", "hash-seed", "order", "history"]
FEW = ("--family", "fresh", "--count", "12")


def varying(dependence: str) -> str:
    return f"{sys.executable} -S {VARYING} {dependence}"


@pytest.mark.heavy
@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_fuzz_finds_a_difference(cli: Cli, dependence: str) -> None:
    """It is a note of a command, and a finding of what is declared deterministic."""
    command = ("--command", varying(dependence), *FEW)
    ended = cli("fuzz", *command)
    assert ended.code == 0
    (finding,) = [
        found
        for found in ended.documents
        if found.get("category") == "nondeterministic"
    ]
    parse_finding(json.dumps(finding))
    assert finding["detail"] == dependence
    first, second = finding["repeats"]
    assert held(first) != held(second)
    assert first["new"]
    assert second["new"] == (dependence != "history")
    if dependence != "history":
        assert len(finding["shrunk"]["instance"]["members"]) == 2
        one, other = finding["shrunk"]["repeats"]
        assert (one["sent"] == other["sent"]) == (dependence != "order")
        seeds = one["hash_seed"], other["hash_seed"]
        assert (len(set(seeds)) == 2) == (dependence == "hash-seed")
    (counts,) = [found for found in ended.documents if found["format"] == "run/1"]
    parse_run(json.dumps(counts))
    assert (counts["repeated"], counts["deterministic"]) == (12, False)
    differing = counts["outcomes"]["nondeterministic"]
    assert 0 < differing <= 12
    assert f"{differing} of 12 repeated answers differ; it is not decl" in ended.err
    assert ": nondeterministic" not in said_found(ended.err)
    declared = cli("fuzz", *command, "--deterministic", "--no-shrink")
    assert declared.code == 1
    assert "it is not declared" not in declared.err
    assert ": nondeterministic: " in said_found(declared.err)


@pytest.mark.heavy
def test_differences_of_other_families_are_one_note(cli: Cli) -> None:
    """Of what is declared deterministic, one of each family is examined."""
    several = ("--family", "fresh", "--family", "claims", "--count", "12")
    command = ("--command", varying("process"), *several, "--no-shrink")
    ended = cli("fuzz", *command)
    differing = [
        document
        for document in ended.documents
        if document.get("category") == "nondeterministic"
    ]
    assert len(differing) == 1
    declared = cli("fuzz", *command, "--deterministic")
    found = said_found(declared.err)
    for family in ("fresh", "claims"):
        assert re.search(f"nondeterministic: family {family}, ", found)


def said_found(err: str) -> str:
    return "\n".join(line for line in err.splitlines() if line.startswith("found: "))


def held(repeat: dict[str, dict[str, dict[str, list[int]]]]) -> set[object]:
    return {
        (member, topic, number)
        for member, topics in repeat["members"].items()
        for topic, numbers in topics.items()
        for number in numbers
    }


@pytest.mark.heavy
def test_a_deterministic_program_has_none(cli: Cli) -> None:
    command = ("--command", varying("none"), "--deterministic", "--no-shrink")
    ended = cli("fuzz", *command, "--count", "20")
    assert ended.code == 0
    for counts in ended.documents:
        if counts["format"] == "run/1":
            assert counts["outcomes"]["nondeterministic"] == 0
            own_leader = counts["family"] == "restarted"  # which remembers
            repeated = 0 if own_leader else counts["rebalances"]
            assert counts["repeated"] == repeated
            assert counts["deterministic"]
    once = cli("fuzz", *command, *FEW, "--no-repeat")
    (counts,) = [found for found in once.documents if found["format"] == "run/1"]
    assert "repeated" not in counts
    assert "deterministic" not in counts


@pytest.mark.heavy
@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_conform_fails_what_is_declared(cli: Cli, dependence: str) -> None:
    """The report names the instance, both answers, and a command that repeats it."""
    command = ("--command", varying(dependence), "--no-corpus", *FEW)
    ended = cli("conform", *command, "--deterministic", "--tap")
    assert ended.code == 1
    failing = [point for point in read_tap(ended.out.decode()) if not point.is_ok]
    about = failing[0].about
    assert about["result"] == "nondeterministic"
    assert about["reasons"][0].startswith(f"nondeterministic {dependence}: ")
    assert about["rebalance"]["format"] == "rebalance/1"
    first, second = about["repeats"]
    assert held(first) != held(second)
    if dependence == "history":
        return
    again = cli(*shlex.split(about["command"])[1:])
    assert again.code == 1
    (point,) = read_tap(again.out.decode())
    assert point.about["result"] == "nondeterministic"
    for repeat in (first, second):  # as the documentation says it can be repeated
        shown = subprocess.run(
            shlex.split(varying(dependence)),
            input=repeat["sent"] + "\n",
            env={"PYTHONHASHSEED": str(repeat["hash_seed"])},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        if dependence != "process":
            assert held(json.loads(shown.stdout)) == held(repeat)


@pytest.mark.heavy
def test_conform_notes_what_is_not_declared(cli: Cli, tmp_path: Path) -> None:
    command = ("--command", varying("order"), "--no-corpus", *FEW)
    junit = tmp_path / "junit.xml"
    ended = cli("conform", *command, "--json", "--junit", str(junit))
    assert ended.code == 0
    noted = [check for check in ended.documents if "notes" in check]
    assert all(check["passed"] for check in ended.documents)
    for check in ended.documents:
        assert validated(check) == "check/1"
        assert ("repeats" in check) == ("notes" in check)
    details = [check["notes"][0].split(":")[0] for check in noted]
    assert details[:3] == ["nondeterministic order"] * 3
    assert set(details[3:]) == {"nondeterministic"}  # not examined
    root = ET.fromstring(junit.read_bytes())  # noqa: S314 - our own output
    said = [case.findtext("system-out") or "" for case in root.iter("testcase")]
    assert sum("repeats: [" in text for text in said) == len(noted)
    text = " ".join(cli("conform", *command).out.decode().split())
    assert f"{len(noted)} of 12 repeated answers differ, first fresh 0/" in text
    points = read_tap(cli("conform", *command, "--tap").out.decode())
    assert all(point.is_ok for point in points)
    about = next(point.about for point in points if "notes" in point.about)
    assert "--check fresh/0/" in about["command"]
    best = cli("conform", *command, "--require", "optimum", "--tap")
    failing = [point.about for point in read_tap(best.out.decode()) if not point.is_ok]
    assert failing
    for about in failing:
        assert about["result"] != "nondeterministic"
        assert ("notes" in about) == ("repeats" in about)
    assert any("notes" in about for about in failing)


@pytest.mark.heavy
def test_a_fault_of_the_twin_fails(cli: Cli) -> None:
    """Members in another order are no other rebalance: what raises then is a fault."""
    ended = cli("conform", "--command", varying("raises-by-order"), *FEW, "--json")
    assert ended.code == 1
    found = [check for check in ended.documents if check["part"] == "fresh"]
    assert {check["result"] for check in found if not check["passed"]} == {"error"}
    fuzzed = cli("fuzz", "--command", varying("raises-by-order"), *FEW)
    assert fuzzed.code == 1
    finding = next(
        document for document in fuzzed.documents if document.get("category") == "error"
    )
    assert len(finding["shrunk"]["instance"]["members"]) == 2


@pytest.mark.heavy
def test_a_time_ends_the_twin_as_well(cli: Cli) -> None:
    arguments = ("--seconds", "600", "--time", "3", *FEW)
    ended = cli("fuzz", "--command", varying("sleeps-by-seed"), *arguments)
    (counts,) = [found for found in ended.documents if found["format"] == "run/1"]
    assert (counts["rebalances"], counts["repeated"]) == (1, 0)
