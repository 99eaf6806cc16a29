"""TAP and JUnit XML: read back by parsers, whatever names and reasons contain."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conformance.checks import Check, JunitReport, TapReport, Totals
from conformance.clients import Answer, Verdict
from conformance.runs import Category, DrivenRebalance, JudgedAnswer, Requirement
from tests.conformance.tap_reading import read_tap
from tests.support.shapes import rebalance

HOSTILE = 'a # b \\ <c> & "d"\n]]> ok 3 \x00\x1b\ufffe … -->'
DOCUMENT = rebalance({"t#": 1}, {})


def check(
    category: Category, *, part: str = "corpus", name: str = "n", reason: str = "why"
) -> Check:
    answer = Answer(verdict=Verdict.CRASH, reason=reason)
    one = JudgedAnswer(rebalance=DOCUMENT, answer=answer)
    given = None if category is Category.OPTIMAL else reason
    outcome = DrivenRebalance(rounds=(one,), category=category, reason=given)
    return Check(part=part, name=name, outcome=outcome)


CHECKS = [
    check(Category.OPTIMAL, name="fine"),
    check(Category.CRASH, reason="SIGSEGV"),
    check(Category.UNREVOKED, part="churn"),
    check(Category.NEEDLESS_MOVES, part="churn"),
    check(Category.INVALID, part="churn", name=HOSTILE, reason=HOSTILE),
]


def command(subject: str, check: Check) -> str:
    return f"try {subject} {check.part}/{check.name}"


def tap(requirement: Requirement = Requirement.VALID) -> str:
    lines: list[str] = []
    report = TapReport(write=lines.append, requirement=requirement, command=command)
    for checked in CHECKS:
        report.add("me", checked)
    report.not_run("other", "not installed")
    report.end()
    return "".join(lines)


def junit(requirement: Requirement = Requirement.VALID) -> ET.Element:
    written: list[bytes] = []
    report = JunitReport(write=written.append, requirement=requirement, command=command)
    for checked in CHECKS:
        report.add("me", checked)
    report.not_run("other", "not installed")
    report.end()
    (text,) = written
    return ET.fromstring(text)  # noqa: S314  # our own


def test_tap_is_read_back() -> None:
    points = read_tap(tap())
    assert [point.is_ok for point in points] == [True, False, False, True, False, False]
    assert points[0].name == "me / corpus / fine"
    assert points[1].about == {
        "result": "crash",
        "reasons": ["SIGSEGV"],
        "command": "try me corpus/n",
        "rebalance": DOCUMENT,
        "answer": {"error": "SIGSEGV"},
        "optimum": {
            "status": "optimal",
            "policy": "dec-min; stickiness",
            "figures": points[1].about["optimum"]["figures"],
            "members": {},
        },
    }
    assert points[3].about == {}
    assert points[4].about["reasons"] == [HOSTILE]
    assert points[5].name == "other / not run"
    assert points[5].about == {"result": "not-run", "reasons": ["not installed"]}


@pytest.mark.skipif(shutil.which("prove") is None, reason="needs Perl's prove")
def test_another_reader_of_tap_agrees(tmp_path: Path) -> None:
    """Perl's TAP::Parser knows version 13, whose points and diagnoses are the same."""
    stream = tmp_path / "stream.tap"
    stream.write_text(tap().replace("TAP version 14", "TAP version 13"))
    command = ["prove", "--exec", "cat", str(stream)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "Tests: 6 Failed: 4" in ran.stdout
    assert "Failed tests:  2-3, 5-6" in ran.stdout
    assert "Parse errors" not in ran.stdout


def test_the_requirement_decides_what_is_ok() -> None:
    points = read_tap(tap(Requirement.OPTIMUM))
    assert [point.is_ok for point in points] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert points[3].about["result"] == "needless-moves"


@pytest.mark.parametrize(
    "damage",
    [
        ("TAP version 14\n", "TAP version 13\n"),
        ("1..6", "1..5"),
        ("ok 1 ", "ok 2 "),
        ("  ...\n", ""),
        ("\\#", "#"),
    ],
)
def test_the_reader_of_tap_is_strict(damage: tuple[str, str]) -> None:
    with pytest.raises((AssertionError, StopIteration, RuntimeError)):
        read_tap(tap().replace(*damage))


def test_junit_has_the_shape_that_servers_read() -> None:
    root = junit()
    assert root.tag == "testsuites"
    assert root.attrib == {
        "name": "conform",
        "tests": "6",
        "failures": "2",
        "errors": "2",
    }
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["me / corpus", "me / churn", "other / not run"]
    for suite in root:
        assert suite.tag == "testsuite"
        cases = list(suite)
        assert int(suite.attrib["tests"]) == len(cases)
        for kind, plural in (("failure", "failures"), ("error", "errors")):
            assert int(suite.attrib[plural]) == len(suite.findall(f"testcase/{kind}"))
        for case in cases:
            assert case.tag == "testcase"
            assert {"classname", "name"} == case.attrib.keys()
            assert len(case) <= 1
            for fault in case:
                assert {"type", "message"} == fault.attrib.keys()
                assert fault.text


def test_junit_separates_errors_from_failures() -> None:
    found = {
        fault.attrib["type"]: fault.tag
        for case in junit(Requirement.OPTIMUM).iter("testcase")
        for fault in case
    }
    assert found == {
        "crash": "error",
        "unrevoked": "failure",
        "needless-moves": "failure",
        "invalid": "failure",
        "not-run": "error",
    }


def test_totals_count_by_subject_and_part() -> None:
    totals = Totals(requirement=Requirement.VALID)
    for subject in ("me", "you"):
        for checked in CHECKS:
            totals.add(subject, checked)
    assert [
        (total.subject, total.part, total.checks, total.passed) for total in totals
    ] == [
        ("me", "corpus", 2, 1),
        ("me", "churn", 3, 1),
        ("you", "corpus", 2, 1),
        ("you", "churn", 3, 1),
    ]
    assert totals.findings == 6
    sums = totals.by_subject()
    assert [(name, total.checks, total.passed) for name, total in sums.items()] == [
        ("me", 5, 2),
        ("you", 5, 2),
    ]
    assert sums["you"].results["crash"] == 1
    assert totals.results == ["crash", "invalid", "unrevoked", "needless-moves"]
