"""The survey stores what every assignor does, survives a kill, and is repeatable."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.clients import (
    ClientAssignor,
    MissingClientError,
    all_client_assignors,
    suspecting,
)
from conformance.findings import stored_records
from conformance.runs import (
    FAMILIES,
    Category,
    External,
    RunPlan,
    external_command,
    run_families,
)
from studies.survey import (
    Confirmed,
    Surveyed,
    SurveyPlan,
    record_file,
    survey,
    survey_run,
)
from studies.survey.__main__ import main

FAULTY = Path(__file__).parents[1] / "conformance" / "faulty_adapter.py"
PLAN = SurveyPlan(
    families=("fresh", "claims"),
    count=12,
    shrink_seconds=0.5,
    corpus=False,
    date="2026-01-31",
    oracle="0",
)
WHOLE = replace(PLAN, shrink_seconds=20.0)
"""More time than any needs, so that none is cut, and equal runs are equal."""
BOUNDED = tuple(name for name in FAMILIES if name != "large")


def client(assignor: str, name: str = "ours") -> ClientAssignor:
    """Return an assignor that `faulty_adapter.py` plays."""
    return ClientAssignor(
        client=name,
        version="1",
        assignor=assignor,
        cooperative=False,
        deterministic=True,
        language="Python",
    )


def started(assignor: ClientAssignor, *, seconds: float) -> External:
    if assignor.client == "missing":
        raise MissingClientError(assignor.client, assignor.version)
    command = f"{sys.executable} -S {FAULTY} {assignor.assignor}"
    program = external_command(command, seconds=seconds)
    return replace(program, client=assignor, option=f"--client {assignor.spec}")


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_run, "external_of", started)


def surveyed(
    clients: list[ClientAssignor], folder: Path, plan: SurveyPlan = PLAN
) -> list[Surveyed]:
    return list(survey(clients, plan, folder=folder, parts=folder / "parts"))


@pytest.mark.heavy
def test_a_file_has_the_records_of_all_assignors(tmp_path: Path) -> None:
    clients = [client("lose"), client("none"), client("none", "missing")]
    lose, none, missing = surveyed(clients, tmp_path, WHOLE)
    assert (lose.rebalances, none.rebalances) == (24, 24)
    assert "not installed" in (missing.problem or "")
    assert not record_file(tmp_path, "missing", "1").exists()
    stored = stored_records(tmp_path)
    places = [(count.subject.assignor, count.family) for count in stored.runs]
    families = ["fresh", "claims"]
    assert places == [(a, f) for a in ("lose", "none") for f in families]
    kinds = [
        (finding.subject.assignor, finding.family, finding.category)
        for finding in stored.findings
    ]
    assert len(kinds) == len(set(kinds))
    found = stored.findings
    faults = [finding for finding in found if finding.category == "invalid"]
    assert {fault.family for fault in faults} == {
        "fresh"
    }  # that of claims shrinks to it
    for fault in faults:
        assert fault.detail == "unassigned"
        assert fault.command.startswith("assignor-oracle fuzz --client ours@1/lose ")
        assert fault.shrunk is not None
        assert len(fault.shrunk.instance.members) == 2
    gaps = [finding for finding in found if finding.category == "kip54-unbalanced"]
    assert any(gap.shrunk is not None for gap in gaps)


@pytest.mark.heavy
def test_reasons_have_no_stack_traces(tmp_path: Path) -> None:
    """The crash writes two lines; the second names a path of the machine."""
    surveyed([client("trace")], tmp_path)
    found = stored_records(tmp_path).findings
    crashes = [finding for finding in found if finding.category == "crash"]
    assert crashes
    for crash in crashes:
        assert crash.shrunk is not None
        for case in (crash, crash.shrunk):
            reasons = {case.reason, *(part.reason for part in case.rounds)}
            assert reasons == {"exit code 2: panic: out of range"}


@pytest.mark.heavy
def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        surveyed([client("none")], tmp_path / name, WHOLE)
        written.append(record_file(tmp_path / name, "ours", "1").read_bytes())
    assert written[0] == written[1]
    assert written[0][4:8] == bytes(4)  # of gzip: no time


@pytest.mark.heavy
def test_an_interrupted_survey_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[str] = []

    def interrupted(assignor: ClientAssignor, *, seconds: float) -> External:
        requests.append(assignor.assignor)
        if requests == ["none", "lose"]:
            raise KeyboardInterrupt
        return started(assignor, seconds=seconds)

    monkeypatch.setattr(survey_run, "external_of", interrupted)
    clients = [client("none"), client("lose")]
    with pytest.raises(KeyboardInterrupt):
        surveyed(clients, tmp_path)
    assert not record_file(tmp_path, "ours", "1").exists()
    surveyed(clients, tmp_path, replace(PLAN, date="2026-02-01"))
    assert requests == ["none", "lose", "lose"]
    assert record_file(tmp_path, "ours", "1").exists()
    surveyed(clients, tmp_path, replace(PLAN, seed=2))
    assert requests[3:] == ["none", "lose"]  # another plan


def test_a_program_that_does_not_answer_at_all_is_not_surveyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(_one: ClientAssignor, *, seconds: float) -> External:
        return external_command("true", seconds=seconds)

    monkeypatch.setattr(survey_run, "external_of", ends)
    (only,) = surveyed([client("none")], tmp_path)
    assert "does not answer the simplest" in (only.problem or "")


ONCE = """
import json, os, sys, time
for line in sys.stdin:
    members = json.loads(line)["members"]
    if not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "w").close()
        time.sleep(60)
    print(json.dumps({"format": "assignment/1", "members": {m: {} for m in members}}))
    sys.stdout.flush()
"""


@pytest.mark.heavy
def test_a_hang_that_is_not_repeated_is_none(tmp_path: Path) -> None:
    program = tmp_path / "once.py"
    program.write_text(ONCE)
    command = f"{sys.executable} -S {program} {tmp_path / 'slow'}"
    source = Confirmed(external=external_command(command, seconds=1))
    plan = RunPlan(count=3, families=("fresh",))
    (found,) = run_families(source, plan).values()
    assert found.outcomes[Category.HANG] == 0
    assert found.rebalances == 3


@pytest.mark.heavy
def test_a_hang_is_confirmed_with_a_longer_limit() -> None:
    command = f"{sys.executable} -S {FAULTY} hang"
    external = external_command(command, seconds=0.4)
    source = Confirmed(external=replace(external, patience=suspecting(0.6)))
    plan = RunPlan(count=4, families=("fresh",))
    (found,) = run_families(source, plan).values()
    assert 0 < found.outcomes[Category.HANG] < 4
    reasons = {
        sighting.outcome.reason
        for sighting in found.sightings
        if sighting.kind[0].is_safety
    }
    said = "no answer, and no CPU time used for 0.6 s; "
    assert reasons
    assert all(reason is not None and reason.startswith(said) for reason in reasons)


def test_the_command_names_whole_versions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--client", "sarama/range"])
    assert "a whole version" in capsys.readouterr().err


@pytest.mark.heavy(minutes=1.2)
def test_every_installed_client_is_surveyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few draws of each family; a client that is missing fails."""
    monkeypatch.undo()
    plan = replace(PLAN, families=BOUNDED, count=1, seconds=20)
    clients = all_client_assignors()
    done = list(
        survey(clients, plan, folder=tmp_path, parts=tmp_path / "parts", workers=2)
    )
    assert [outcome.problem for outcome in done] == [None] * len(clients)
    places = {(client.client, client.version) for client in clients}
    assert all(record_file(tmp_path, *place).exists() for place in places)
    stored = stored_records(tmp_path)
    subjects = {finding.subject for finding in stored.findings}
    subjects |= {run.subject for run in stored.runs}
    assert {(subject.client, subject.version) for subject in subjects} == places
    assert sum(outcome.rebalances for outcome in done) > 4 * len(clients)
