"""``conform``: exit codes and outputs of programs with known faults."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from conformance.clients import ClientAssignor, Program, suspecting
from conformance.runs import FAMILIES
from oracle.cli.input import subjects
from tests.conformance.tap_reading import Point, read_tap
from tests.oracle.cli.commands import Cli, Ended, faulty

PYTHON = sys.executable
LOOP = """\
import json, sys
for line in sys.stdin:
    document = json.loads(line)
    {body}
"""
LOST = """\
lost = {m: {} for m in document["members"]}
    print(json.dumps({"format": "assignment/1", "members": lost}), flush=True)
"""
ROUND_ROBIN = faulty("none")
CORPUS = ("--count", "0")
SHORT = ("--no-corpus", "--family", "fresh", "--count", "4")


@pytest.fixture
def program(tmp_path: Path) -> Any:
    def written(body: str, *, loop: bool = True) -> str:
        path = tmp_path / "program.py"
        path.write_text(LOOP.replace("{body}", body) if loop else body)
        return f"{PYTHON} -I -S {path}"

    return written


def refused(ended: Ended) -> list[Point]:
    """Return the test points of a TAP report that are not ok."""
    return [point for point in read_tap(ended.out.decode()) if not point.is_ok]


def check_repeats(cli: Cli, point: Point) -> list[str]:
    """Run the command of a finding, which repeats it; return its words."""
    words = shlex.split(point.about["command"])
    ended = cli(*words[1:])
    assert ended.code == 1
    assert read_tap(ended.out.decode()) == [point]
    return words


def results(ended: Any) -> set[str]:
    return {document["result"] for document in ended.documents}


@pytest.mark.heavy
def test_a_fault_of_quality_is_a_finding_if_it_is_required(cli: Cli) -> None:
    command = ("--command", ROUND_ROBIN, "--count", "2", "--json")
    ended = cli("conform", *command)
    assert ended.code == 0
    assert results(ended) > {"kip54-unbalanced", "optimal"}
    assert all(document["passed"] for document in ended.documents)
    assert not any("rounds" in document for document in ended.documents)
    strict = cli("conform", *command, "--require", "kip54")
    assert strict.code == 1
    for document in strict.documents:
        assert document["passed"] == (document["result"] != "kip54-unbalanced")
        assert ("rounds" in document) != document["passed"]
    parts = dict.fromkeys(document["part"] for document in strict.documents)
    assert list(parts) == ["corpus", *FAMILIES]
    assert cli("conform", *command).out == ended.out


def test_a_program_that_hangs_is_given_up(
    cli: Cli, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects, "PATIENCE", suspecting(0.2))
    command = program("pass")  # reads, and never answers
    hanging = ("--command", command, "--seconds", "0.2", *SHORT)
    ended = cli("conform", *hanging, "--json")
    assert ended.code == 1
    assert [document["result"] for document in ended.documents] == ["hang"] * 3 + [
        "not-run"
    ]
    text = " ".join(cli("conform", *hanging).out.decode().split())
    assert "not run:" in text
    assert "no answer 3 times in a row: the remaining checks" in text
    points = read_tap(cli("conform", *hanging, "--tap").out.decode())
    assert [point.is_ok for point in points] == [False] * 4


SLOW = ("--command", faulty("spin"), *SHORT, "--seconds", "0.001")


def test_bug_a_slow_program_does_not_hang(cli: Cli) -> None:
    """Once, an answer that came after the limit was a hang, on a busy machine."""
    ended = cli("conform", *SLOW, "--json")
    assert ended.code == 0
    assert results(ended) == {"slow"}
    assert len(ended.documents) == 4
    said = r"answered after .* s, later than 0\.001 s, .* s of CPU time; \d+ member.*"
    for document in ended.documents:
        assert document["passed"]
        assert re.fullmatch(said, document["reasons"][0])


@pytest.mark.parametrize("require", ["kip54", "optimum"])
def test_a_slow_answer_is_a_finding_where_quality_is_required(
    cli: Cli, tmp_path: Path, require: str
) -> None:
    junit = tmp_path / "junit.xml"
    reports = ("--tap", "--junit", str(junit))
    ended = cli("conform", *SLOW, *reports, "--require", require)
    assert ended.code == 1
    points = read_tap(ended.out.decode())
    assert [point.is_ok for point in points] == [False] * 4
    root = ET.fromstring(junit.read_bytes())  # noqa: S314  # our own
    failures = root.findall("*/*/failure")
    assert [failure.get("type") for failure in failures] == ["slow"] * 4


def test_reports_state_slow_answers_that_pass(cli: Cli, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    ended = cli("conform", *SLOW, "--tap", "--junit", str(junit))
    assert ended.code == 0
    text = ended.out.decode()
    assert [point.is_ok for point in read_tap(text)] == [True] * 4
    assert text.count('  result: "slow"') == 4
    root = ET.fromstring(junit.read_bytes())  # noqa: S314  # our own
    said = [element.text or "" for element in root.iter("system-out")]
    assert len(said) == 4
    assert all(message.startswith("slow: answered after ") for message in said)


def test_an_impatient_run_ends_with_its_seconds(cli: Cli, program: Any) -> None:
    """It cannot tell a hang; after three in a row, it gives up as well."""
    limits = ("--impatient", "--seconds", "0.2")
    ended = cli("conform", "--command", program("pass"), *SHORT, *limits, "--json")
    assert ended.code == 1  # of what was not run
    found = [document["result"] for document in ended.documents]
    assert found == ["slow"] * 3 + ["not-run"]
    assert ended.documents[0]["reasons"][0].startswith("no answer in 0.2 s, ")


def test_a_client_that_ends_before_any_answer_has_not_started(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = (PYTHON, "-S", "/nonexistent.py")
    monkeypatch.setattr(
        ClientAssignor,
        "program",
        lambda assignor: Program(name=assignor.spec, argv=argv),
    )
    ended = cli("conform", "--client", "sarama/range", *SHORT, "--json")
    assert ended.code == 3
    (only,) = ended.documents
    assert only["result"] == "not-run"
    assert "cannot start: exit code" in str(only)
    fuzzed = cli("fuzz", "--client", "sarama/range", "--family=fresh", "--count=4")
    assert fuzzed.code == 3
    assert fuzzed.documents == []
    assert "does not answer the simplest rebalance: exit code" in fuzzed.err


@pytest.mark.heavy
def test_a_program_that_cannot_be_started_is_code_3(cli: Cli, tmp_path: Path) -> None:
    ended = cli("conform", "--command", str(tmp_path / "nowhere"), *CORPUS)
    assert ended.code == 3
    assert ended.out == b""
    assert "nowhere" in ended.err
    no_program = tmp_path / "no-program"
    no_program.write_bytes(b"\x00\x01")
    no_program.chmod(0o755)
    ended = cli("conform", "--command", str(no_program), *CORPUS)
    assert ended.code == 3
    text = ended.out.decode()
    assert "not run:" in text
    assert "cannot start: exit code 127" in text
    assert "0 checks" in text
    shell = ("--command", "sh -c 'no-such-program-anywhere'", *CORPUS, "--json")
    ended = cli("conform", *shell)
    assert (ended.code, [document["result"] for document in ended.documents]) == (
        3,
        ["not-run"],
    )


@pytest.mark.heavy
def test_the_matrix_has_a_row_per_part(cli: Cli, program: Any, tmp_path: Path) -> None:
    command = program(LOST)
    junit = tmp_path / "report.xml"
    parts = ("--family", "fresh", "--family", "churn", "--count", "3")
    ended = cli("conform", "--command", command, *parts, "--junit", junit)
    text = ended.out.decode()
    assert ended.code == 1
    rows = [line.split("\t")[0] for line in text.splitlines() if "\t" in line]
    assert rows == ["part", "corpus", "fresh", "churn"]
    assert "invalid: corpus" in text
    assert "rule unassigned, topic" in text
    assert "more (--json: all)" in text
    for part in ("corpus", "fresh", "churn"):
        assert text.count(f"invalid: {part} ") == 3
    assert "(--require valid)" in text
    root = ET.fromstring(junit.read_bytes())  # noqa: S314  # our own
    assert len(root) == 3
    assert root.attrib["errors"] == "0"
    assert int(root.attrib["failures"]) > 60
    tap = cli("conform", "--command", command, *parts, "--tap").out.decode()
    points = read_tap(tap)
    assert len(points) == int(root.attrib["tests"])
    assert sum(not point.is_ok for point in points) == int(root.attrib["failures"])


def test_the_table_can_go_to_a_file(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "table.txt"
    command = ("--command", ROUND_ROBIN, *SHORT)
    printed = cli("conform", *command).out
    ended = cli("conform", *command, "-o", target)
    assert (ended.code, ended.out) == (0, b"")
    assert target.read_bytes() == printed


def test_the_command_of_a_finding_repeats_exactly_this_check(
    cli: Cli, program: Any, tmp_path: Path
) -> None:
    """The command is split as a shell does, and run."""
    ours = program(LOST)
    options = ("--command", ours, "--no-corpus", "--family", "fresh", "--count", "1")
    junit = tmp_path / "report.xml"
    first = cli("conform", *options, "--seconds", "30", "--tap", "--junit", junit)
    (point,) = refused(first)
    root = ET.fromstring(junit.read_bytes())  # noqa: S314  # our own
    (failure,) = root.iter("failure")
    assert f"command: {point.about['command']}\n" in (failure.text or "")
    words = check_repeats(cli, point)
    assert words[:2] == ["assignor-oracle", "conform"]
    assert tuple(words[words.index("--seconds") :][:2]) == ("--seconds", "30")


@pytest.mark.heavy
@pytest.mark.parametrize("rounds", ["--eager", "--cooperative"])
def test_the_command_of_a_finding_knows_every_option(cli: Cli, rounds: str) -> None:
    options = ("--as", "sticky", "--require", "optimum", "--memory", "2GiB", rounds)
    played = ("--command", ROUND_ROBIN, "--family", "churn", "--count", "2")
    points = refused(cli("conform", *played, *options, "--tap"))
    parts = {point.name.split(" / ")[1] for point in points}
    assert parts == {"corpus", "churn"}
    last = {point.name.split(" / ")[1]: point for point in points}
    if rounds == "--eager":  # a fault of a round ends the draw
        assert not last["churn"].name.endswith("/0")
    for point in last.values():
        words = check_repeats(cli, point)
        assert ("--cooperative" in words) == (rounds == "--cooperative")


@pytest.mark.heavy
def test_the_command_of_a_finding_names_a_client_on_the_wire(cli: Cli) -> None:
    arguments = ("--client", "librdkafka/roundrobin", "--seconds", "30")
    options = ("--no-corpus", "--family", "fresh", "--count", "3")
    found = cli("conform", *arguments, *options, "--require", "kip54", "--tap")
    points = refused(found)
    assert points
    for point in points:
        assert "--wire" not in check_repeats(cli, point)


def test_a_check_can_be_named(cli: Cli) -> None:
    names = ("fresh/0/2/0", "corpus/stickiness: new joins")
    options = [word for name in names for word in ("--check", name)]
    ended = cli("conform", "--command", ROUND_ROBIN, *options, "--json")
    assert [document["part"] for document in ended.documents] == ["fresh", "corpus"]
    assert [document["check"] for document in ended.documents] == [
        "0/2/0",
        "stickiness: new joins",
    ]


@pytest.mark.heavy
def test_what_it_claims_to_be_is_expected_of_it(cli: Cli) -> None:
    command = ("--command", ROUND_ROBIN, *CORPUS, "--json")
    assert "unmet" in results(cli("conform", *command, "--as", "sticky"))


@pytest.mark.heavy
@pytest.mark.parametrize("assignor", ["sticky", "constrained-sticky"])
def test_our_own_command_is_a_subject(cli: Cli, assignor: str) -> None:
    """``assign`` answers line by line, before it reads the next; one refuses some."""
    command = f"{PYTHON} -m oracle assign --errors --assignor {assignor} -"
    options = ("--as", assignor, "--count", "0", "--seconds", "30", "--json")
    ended = cli("conform", "--command", command, *options)
    findings = [document for document in ended.documents if not document["passed"]]
    assert {finding["result"] for finding in findings} <= {
        "error"
    }  # refused, not expected to
    assert all("the same topics" in finding["reasons"][0] for finding in findings)
    assert (findings != []) == (assignor == "constrained-sticky")
    assert ended.code == (1 if findings else 0)
    assert len(ended.documents) > 60


@pytest.mark.heavy
def test_a_client_that_is_not_installed_is_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path))
    options = ("--client", "sarama/range", *CORPUS)
    junit = tmp_path / "report.xml"
    ended = cli("conform", *options, "--json", "--junit", junit)
    assert ended.code == 3
    (one,) = ended.documents
    assert (one["result"], one["passed"]) == ("not-run", False)
    assert "make clients" in one["reasons"][0]
    assert ET.fromstring(junit.read_bytes()).attrib["errors"] == "1"  # noqa: S314
    (point,) = read_tap(cli("conform", *options, "--tap").out.decode())
    assert not point.is_ok
    both = cli("conform", *options, "--command", ROUND_ROBIN)
    assert both.code == 3
    assert "not run: sarama" in both.out.decode()


@pytest.mark.heavy
def test_several_subjects_are_a_matrix_with_a_row_each(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, program: Any
) -> None:
    words = tuple(shlex.split(program(LOST)))
    monkeypatch.setattr(
        ClientAssignor,
        "program",
        lambda assignor: Program(name=assignor.spec, argv=words),
    )

    def known(spec: str) -> tuple[ClientAssignor, ...]:
        return tuple(
            ClientAssignor(
                client=spec,
                version="1",
                assignor=name,
                cooperative=name == "b",
                deterministic=True,
                language="Python",
            )
            for name in ("a", "b")
        )

    monkeypatch.setattr("oracle.cli.input.subjects.matching_client_assignors", known)
    options = ("--client", "one", "--client", "two", *SHORT)
    ended = cli("conform", *options, "--command", ROUND_ROBIN)
    assert ended.code == 1
    lines = ended.out.decode().splitlines()
    rows = [line.split("\t") for line in lines if "\t" in line][-4:]
    subjects = [row[0] for row in rows]
    assert subjects == ["one@1/a", "one@1/b", "two@1/a", "two@1/b"]
    counts = [row[1:3] for row in rows]
    assert counts == [["4", "0"]] * 4  # they assign nothing
    documents = cli("conform", *options, "--json").documents
    assert {document["subject"] for document in documents} == set(subjects)


def test_a_client_without_an_adapter_is_tested_over_the_wire(cli: Cli) -> None:
    options = (*SHORT, "--seconds", "30", "--json")
    ended = cli("conform", "--client", "librdkafka/range", *options)
    assert ended.code == 0
    assert len(ended.documents) == 4
    for document in ended.documents:
        assert document["subject"].startswith("librdkafka@")
        assert document["passed"]
