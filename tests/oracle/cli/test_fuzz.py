"""``fuzz``: exit codes, records, and tables."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import verify
from conformance.clients import (
    LINES,
    install,
    matching_client_assignors,
    suspecting,
)
from conformance.runs import FAMILIES, parse_finding, parse_run
from oracle.cli import run
from oracle.cli.input import subjects
from tests.oracle.cli.commands import (
    CHAIN,
    COMMAND,
    FAULTY,
    Cli,
    faulty,
    on_terminal,
    shell,
    write_lines,
)
from tests.support.waiting import wait_until


@pytest.mark.heavy
def test_findings_come_first_then_counts(cli: Cli) -> None:
    arguments = ("--count", "5", "--seed", "2", "--no-shrink")
    ended = cli("fuzz", "--command", faulty("lose"), *arguments)
    assert ended.code == 1
    findings = ended.of("finding/1")
    counts = ended.of("run/1")
    assert ended.documents == findings + counts
    assert [count["family"] for count in counts] == list(FAMILIES)
    for finding in findings:
        parse_finding(json.dumps(finding))
        assert finding["subject"] == {"name": faulty("lose"), "command": faulty("lose")}
    for count in counts:
        parse_run(json.dumps(count))
        assert sum(count["outcomes"].values()) == count["rebalances"]
    assert {(finding["category"], finding["detail"]) for finding in findings} >= {
        ("invalid", "unassigned")
    }


def test_the_optimum_of_a_finding_is_proved(cli: Cli) -> None:
    arguments = ("--family=claims", "--family=racks", "--count", "10", "--no-shrink")
    ended = cli("fuzz", "--command", faulty("none"), *arguments)
    assert ended.code == 0
    findings = ended.of("finding/1")
    assert findings
    for finding in findings:
        best = verify.judge(finding["instance"], finding["expected"])
        assert best["verdict"] == "valid"
        assert best["proved"]["dec_min"]
        assert best["status"]["found"] == "proved"
        (only,) = finding["rounds"]
        found = verify.judge(finding["instance"], {"members": only["members"]})
        assert found["figures"] == finding["figures"]
        if finding["category"] == "needless-moves":
            least = best["figures"]["moves"]
            assert finding["needless_moves"] == found["figures"]["moves"] - least > 0
        else:
            assert found["figures"]["loads"] > best["figures"]["loads"]


@pytest.mark.heavy
def test_the_command_of_a_finding_repeats_it(cli: Cli) -> None:
    arguments = ("--family=churn", "--family=stale", "--count=8", "--seed=5")
    ended = cli("fuzz", "--command", faulty("crash"), *arguments, "--no-shrink")
    findings = ended.of("finding/1")
    assert findings
    for finding in findings:
        program, *command = shlex.split(finding["command"])
        assert program == "assignor-oracle"
        again = cli(*command, "--no-shrink")
        assert finding in again.documents


@pytest.mark.parametrize(
    ("require", "code"), [("valid", 0), ("kip54", 1), ("optimum", 1)]
)
def test_a_requirement_decides_the_exit_code(
    cli: Cli, tmp_path: Path, require: str, code: int
) -> None:
    arguments = ("--family=fresh", "--count=20", "--require", require, "--no-shrink")
    assert cli("fuzz", "--command", faulty("none"), *arguments).code == code


def test_given_instances_are_tested(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, "{", CHAIN)
    arguments = ("--instances", source, "--no-shrink")
    ended = cli("fuzz", "--command", faulty("crash"), *arguments)
    assert ended.code == 2
    finding, counts = ended.documents
    assert (finding["family"], finding["category"]) == ("file", "crash")
    assert "seed" not in finding
    assert finding["instance"] == CHAIN
    assert counts["outcomes"]["crash"] == 2
    assert "r, line 2" in ended.complaints[0] or ":2" in ended.complaints[0]


def test_help_names_all_families(capsys: pytest.CaptureFixture[str]) -> None:
    run(["fuzz", "--help"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert ", ".join(FAMILIES) in shown


@pytest.mark.heavy
def test_people_see_tables() -> None:
    arguments = ("--family", "racks", "--family", "fresh", "--count", "9")
    ended = on_terminal("fuzz", "--command", faulty("raise"), *arguments, columns=200)
    text = ended.out.decode()
    assert ended.code == 1
    assert "LookupError" in text
    assert "no rack-aware path" in text
    assert "--family racks --seed 0" in text
    assert "finding/1" not in text
    assert "1 member, 1 partition, minimal" in text


@pytest.mark.heavy
def test_people_see_a_live_count() -> None:
    arguments = ("--family", "fresh", "--count", "1000000", "--time", "3s")
    ended = on_terminal("fuzz", "--command", faulty("none"), *arguments, "--no-shrink")
    assert ended.code == 0
    assert re.search(rb"rebalances +[\d,]+ done", ended.out)


@pytest.mark.heavy
def test_the_output_has_the_same_bytes_for_any_workers(tmp_path: Path) -> None:
    command = f"$ORACLE fuzz --command '{faulty('raise')}' --family racks --count 50"
    command += " --family stale --keep 2"
    one = shell(f"{command} --workers 1", tmp_path)
    two = shell(f"{command} --workers 2", tmp_path)
    assert one.code == two.code == 1
    assert one.out == two.out


@pytest.mark.heavy
def test_findings_are_shrunk(cli: Cli) -> None:
    arguments = ("--family", "racks", "--family", "chains", "--count", "12")
    ended = cli("fuzz", "--command", faulty("raise"), *arguments)
    findings = ended.of("finding/1")
    small = {
        (finding["family"], finding["category"]): finding["shrunk"]
        for finding in findings
    }
    raised = small["racks", "error"]
    assert raised["instance"] == {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t1": {"partitions": 1}},
        "members": {"m1": {"subscription": ["t1"], "rack": "r1"}},
    }
    assert raised["minimal"]
    assert "seen" not in raised
    assert raised["rounds"] == [
        {"verdict": "error", "reason": "LookupError: no rack-aware path"}
    ]
    for finding in findings:
        parse_finding(json.dumps(finding))
    moved = small["chains", "needless-moves"]
    assert moved["needless_moves"] == 1
    assert len(moved["instance"]["members"]) == 2


@pytest.mark.heavy
def test_a_hang_is_shrunk_and_confirmed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects, "PATIENCE", suspecting(0.5))
    arguments = ("--family", "chains", "--count", "2", "--seconds", "0.5")
    ended = cli("fuzz", "--command", faulty("hang"), *arguments, "--seed", "3")
    finding = next(
        document for document in ended.documents if document.get("category") == "hang"
    )
    shrunk = finding["shrunk"]
    assert shrunk["minimal"]
    assert len(shrunk["instance"]["topics"]) == 3
    (only,) = shrunk["rounds"]
    assert only["verdict"] == "hang"
    said = "no answer, and no CPU time used for 0.5 s; "
    assert only["reason"].startswith(said)


def test_slow_answers_are_recorded_as_they_are(cli: Cli) -> None:
    """They are not shrunk: a smaller instance takes less time."""
    arguments = ("--family=fresh", "--count=2", "--seconds=0.001")
    ended = cli("fuzz", "--command", faulty("spin"), *arguments)
    assert ended.code == 0
    finding, counts = ended.documents
    assert counts["outcomes"]["slow"] == counts["rebalances"] == 2
    parse_finding(json.dumps(finding))
    assert (finding["category"], finding["detail"]) == ("slow", "")
    assert finding["shrunk"]["instance"] == finding["instance"]
    assert finding["shrunk"]["tests"] == 0
    assert finding["rounds"][0]["verdict"] == "answered"
    assert finding["rounds"][0]["reason"] == finding["reason"]
    strict = cli("fuzz", "--command", faulty("spin"), *arguments, "--require=kip54")
    assert strict.code == 1


def test_the_command_of_a_finding_states_impatience(cli: Cli) -> None:
    arguments = ("--family=fresh", "--count=2", "--seconds=0.3", "--impatient")
    ended = cli("fuzz", "--command", faulty("spin"), *arguments, "--require=optimum")
    finding = ended.of("finding/1")[0]
    assert " --seconds 0.3 --impatient --family" in finding["command"]


@pytest.mark.heavy
def test_a_client_of_the_registry_is_fuzzed(cli: Cli) -> None:
    """Kafka's cooperative-sticky, in rounds, gives what another claimant has."""
    install(LINES["4.4.0"])
    client = "kafka-clients@4.4.0/cooperative-sticky"
    arguments = ("--client", client, "--count=15", "--memory=1GiB")
    ended = cli("fuzz", *arguments, "--family=stale", "--family=joiners")
    assert ended.code == 1
    findings = ended.of("finding/1")
    subject = {
        "name": client,
        "client": "kafka-clients",
        "version": "4.4.0",
        "assignor": "cooperative-sticky",
        "language": findings[0]["subject"]["language"],
    }
    assert all(document["subject"] == subject for document in ended.documents)
    assert all(document["cooperative"] for document in ended.documents)
    unrevoked = next(
        finding for finding in findings if finding["category"] == "unrevoked"
    )
    assert unrevoked["family"] == "stale"
    assert len(unrevoked["shrunk"]["instance"]["members"]) == 2
    joined = next(
        document for document in ended.documents if document.get("answers", 0) > 15
    )
    assert joined["most_rounds"] >= 2


@pytest.mark.heavy
def test_all_assignors_of_a_client_are_tested(cli: Cli, tmp_path: Path) -> None:
    """Each has its counts, its line, and the place of its errors."""
    arguments = ("--family=fresh", "--count=15", "--no-shrink")
    ended = cli("fuzz", "--client", "kafka-python@3.0.12", *arguments)
    assert ended.code == 1
    of_version = matching_client_assignors("kafka-python@3.0.12")
    names = [assignor.spec for assignor in of_version]
    assert len(names) == 4
    counts = ended.of("run/1")
    assert [count["subject"]["name"] for count in counts] == names
    assert [count["cooperative"] for count in counts] == [
        assignor.cooperative for assignor in of_version
    ]
    for name, count in zip(names, counts, strict=True):
        assert f"done: {name}: 15 rebalances" in ended.err
        bad = count["rebalances"] - count["outcomes"]["optimal"]
        assert sum(kind["rebalances"] for kind in count["mechanisms"]) == bad
    (raised,) = [
        document for document in ended.documents if document.get("category") == "error"
    ]
    assert raised["subject"]["assignor"] == "roundrobin"
    assert re.fullmatch(r"assign \(roundrobin\.py:\d+\)", raised["place"])
    assert f"found: {raised['subject']['name']}: error KeyError in assign" in ended.err


@pytest.mark.heavy
def test_every_assignor_is_given_the_instances_of_a_pipe(tmp_path: Path) -> None:
    write_lines(tmp_path / "r", CHAIN, CHAIN)
    command = "cat r | $ORACLE fuzz --client kafka-python@3.0.12 --instances - --json"
    ended = shell(f"{command} --no-shrink", tmp_path)
    found = [json.loads(line) for line in ended.out.splitlines()]
    counts = [record for record in found if record["format"] == "run/1"]
    assert [record["rebalances"] for record in counts] == [2, 2, 2, 2]


@pytest.mark.heavy
def test_an_assignor_that_is_missing_does_not_stop_the_others(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path))
    ended = cli("fuzz", "--client", "sarama", "--count=5")
    assert ended.code == 3
    assert ended.documents == []
    assert len(ended.complaints) == len(matching_client_assignors("sarama"))
    one = cli("fuzz", "--client", "sarama/sticky", "--count=5")
    assert (one.code, "make clients" in one.err) == (3, True)


@pytest.mark.heavy
def test_a_time_ends_a_program_that_hangs(cli: Cli) -> None:
    """The limit per answer is far longer; what was cut is no outcome, but stated."""
    arguments = ("--seconds", "600", "--time", "3", "--seed", "3")
    families = ("--family", "chains", "--family", "fresh")
    ended = cli("fuzz", "--command", faulty("hang"), *families, *arguments)
    chains, fresh = ended.of("run/1")
    assert chains["outcomes"]["hang"] == fresh["outcomes"]["hang"] == 0
    assert chains["outcomes"]["crash"] == fresh["outcomes"]["crash"] == 0
    assert fresh["draws"] == 0
    assert "--time ended the run" in ended.err
    assert "no draw of fresh" in ended.err


@pytest.mark.heavy
def test_what_a_time_ends_is_slow_if_it_was_late(cli: Cli) -> None:
    """It may be a hang, for which the time was too short to tell."""
    arguments = ("--seconds", "0.5", "--time", "4", "--seed", "3", "--family=chains")
    ended = cli("fuzz", "--command", faulty("hang"), *arguments)
    finding = next(found for found in ended.documents if "category" in found)
    assert (finding["category"], finding["detail"]) == ("slow", "")
    said = r"no answer in [\d.]+ s, when the run ended, [\d.]+ s of CPU time; .*"
    assert re.fullmatch(said, finding["reason"])
    assert ended.code == 0


@pytest.mark.heavy
def test_an_interrupt_ends_workers_and_programs(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = write_lines(
        tmp_path / "noting.py",
        "import os, sys",
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')",
        f"sys.argv = ['', 'none']; exec(open({str(FAULTY)!r}).read())",
    )
    command = [*COMMAND, "fuzz", "--command", f"{sys.executable} -S {program}"]
    with subprocess.Popen(
        [*command, "--count", "1000000", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as run:
        # So many that both workers have begun: one that starts can say what stopped it.
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) >= 8)
        os.killpg(run.pid, signal.SIGINT)
        try:
            out, err = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)  # else the context waits for ever
            raise
    assert run.returncode == 130
    said = [line for line in err.splitlines() if not line.startswith(b"found: ")]
    assert said == []
    for line in out.splitlines():  # those that were complete
        parse_finding(line)
    wait_until(lambda: not any(map(is_alive, pids.read_text().split())))


def is_alive(pid: str) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
