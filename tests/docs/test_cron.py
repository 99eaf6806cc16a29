"""The line for cron is one that cron accepts, and its command works in cron's shell."""

from __future__ import annotations

import fcntl
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conformance.broker import Broker
from tests.oracle.plugins.real import Place
from tests.support.recipes import COMMAND, RECIPES, ROOT, SECONDS

FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""Least and greatest number of minute, hour, day, month, and day of the week."""
GROUP = "of-cron"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crontab:
    """A file of /etc/cron.d with one job, as cron(8) reads it."""

    variables: dict[str, str]
    schedule: list[str]
    user: str
    command: str


def crontab() -> Crontab:
    """Read the recipe. Cron takes values as they are, without a shell's rules."""
    text = (RECIPES / "assignor-oracle.cron").read_text()
    assert text.endswith("\n"), "cron ignores a last line without a line feed"
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    *settings, job = lines
    pairs = [re.fullmatch(r"([A-Z]+)=(\S+)", line) for line in settings]
    assert all(pairs), settings
    *schedule, user, command = job.split(None, 6)
    variables = {pair[1]: pair[2] for pair in pairs if pair}
    return Crontab(variables=variables, schedule=schedule, user=user, command=command)


def test_cron_accepts_the_line() -> None:
    job = crontab()
    for field, (least, greatest) in zip(job.schedule, FIELDS, strict=True):
        assert field == "*" or least <= int(field) <= greatest
    assert re.fullmatch(r"[a-z][a-z-]*", job.user)
    assert job.user != "root"
    assert "%" not in job.command, "cron replaces it by a line feed"
    named = set(re.findall(r"\$([A-Z]+)", job.command))
    assert named == {*job.variables} - {"SHELL", "PATH", "MAILTO"}


@pytest.fixture
def place(broker: Broker) -> Iterator[Place]:
    """A group that has rebalanced at the broker."""
    place = Place(broker=broker, group=GROUP, topics={"of-cron": 4})
    place.make_topics()
    member = place.kafka_python("range")
    place.settled(member)
    yield place
    member.leave()


def mailed(job: Crontab, given: dict[str, str], home: Path) -> str:
    """Run a job with variables; return the output that cron would mail."""
    ran = subprocess.run(
        [job.variables["SHELL"], "-c", job.command],
        cwd=home,
        env={"HOME": str(home), "LOGNAME": job.user, "PYTHONPATH": str(ROOT)}
        | job.variables
        | given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return ran.stdout


@pytest.mark.heavy(minutes=1)
def test_the_command_audits_a_cluster(place: Place, tmp_path: Path) -> None:
    """Cron's environment: the variables of the file, HOME, LOGNAME, no more."""
    job, state, metrics = crontab(), tmp_path / "state", tmp_path / "audit.prom"
    state.mkdir()
    client = tmp_path / "client.properties"
    client.write_text("security.protocol=PLAINTEXT\n")
    given = {
        "ORACLE": str(COMMAND),
        "BROKERS": place.broker.address,
        "CLIENT": str(client),
        "STATE": str(state),
        "METRICS": str(metrics),
    }
    assert mailed(job, given, tmp_path) == ""
    assert (state / "audit" / "index.html").is_file()
    assert GROUP in (state / "audit.log").read_text()
    samples = [
        sample
        for family in text_string_to_metric_families(metrics.read_text())
        for sample in family.samples
    ]
    assert GROUP in {sample.labels.get("group") for sample in samples}

    before = metrics.read_bytes()
    with (state / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = mailed(job, given, tmp_path)
    assert refused.startswith(f"not audited: no lock on {state}/lock")
    given["CLIENT"] = str(tmp_path / "absent")
    failed = mailed(job, given, tmp_path)
    assert re.match(r"exit code 2\nassignor-oracle: .*absent", failed)
    assert metrics.read_bytes() == before
