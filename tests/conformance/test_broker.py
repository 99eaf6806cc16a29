"""The broker's process, with a stand-in for Java: messages, and termination."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from conformance.broker import VERSION, Broker
from conformance.broker import server as module
from conformance.broker.broker_settings import settings
from conformance.broker.server import _started
from rebalance import OutsideError

started = contextmanager(_started)


def stand_in(folder: Path, body: str, storage: str = "exit 0") -> list[str]:
    """Write a program that is called as Java would be, and notes its process."""
    program = folder / "java"
    program.write_text(
        f"""#!/bin/sh
echo $$ >> {folder}/processes
case "$*" in *StorageTool*) {storage};; esac
{body}
"""
    )
    program.chmod(0o755)
    return [str(program), "-cp", "x"]


def processes(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "processes").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def ended(process: int) -> bool:
    deadline = time.monotonic() + 10
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(process)


RUNS = "echo Kafka Server started; exec sleep 60"


def test_it_lasts_as_long_as_the_context(tmp_path: Path) -> None:
    with started(stand_in(tmp_path, RUNS), tmp_path, None) as broker:
        assert isinstance(broker, Broker)
        (_, process) = processes(tmp_path)
        assert is_alive(process)
        assert "started" in broker.log.read_text()
    assert ended(process)


def test_it_ends_after_an_error(tmp_path: Path) -> None:
    class OddError(Exception):
        pass

    with (
        pytest.raises(OddError),
        started(stand_in(tmp_path, RUNS), tmp_path, None),
    ):
        raise OddError
    assert ended(processes(tmp_path)[-1])


def test_a_broker_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.3)
    stubborn = "trap '' TERM; echo Kafka Server started; while :; do sleep 1; done"
    with started(stand_in(tmp_path, stubborn), tmp_path, None):
        pass
    assert ended(processes(tmp_path)[-1])


def test_it_ends_if_we_are_killed(tmp_path: Path) -> None:
    java = stand_in(tmp_path, RUNS)
    script = f"""
from pathlib import Path
from conformance.broker.server import _started
for broker in _started({java!r}, Path({str(tmp_path)!r}), None):
    print("up", flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as us:
        assert us.stdout is not None
        assert us.stdout.readline() == b"up\n"
        us.send_signal(signal.SIGKILL)
    assert ended(processes(tmp_path)[-1])


@pytest.mark.parametrize(
    ("body", "attempts", "reason"),
    [
        ("echo out of luck; exit 3", 1, "it ended with 3: out of luck"),
        ("echo Address already in use; exit 1", 3, "Address already in use"),
    ],
)
def test_why_it_does_not_start(
    tmp_path: Path, body: str, attempts: int, reason: str
) -> None:
    java = stand_in(tmp_path, body)
    with (
        pytest.raises(OutsideError, match=f"cannot start a broker: .*{reason}"),
        started(java, tmp_path, None),
    ):
        pass
    assert len(processes(tmp_path)) == 2 * attempts


def test_a_broker_that_never_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.3)
    java = stand_in(tmp_path, "echo thinking; exec sleep 60")
    with (
        pytest.raises(OutsideError, match=r"not up in 0\.3 s: thinking"),
        started(java, tmp_path, None),
    ):
        pass
    assert ended(processes(tmp_path)[-1])


def test_storage_that_cannot_be_made(tmp_path: Path) -> None:
    java = stand_in(tmp_path, RUNS, storage="echo no room; exit 1")
    with (
        pytest.raises(OutsideError, match="cannot format a broker's storage: no room"),
        started(java, tmp_path, None),
    ):
        pass


def test_every_jar_is_pinned() -> None:
    pins = json.loads((Path(module.__file__).parent / "jars.json").read_text())
    assert len({pin["name"] for pin in pins}) == len(pins) > 40
    assert {pin["version"] for pin in pins if pin["name"] == "kafka_2.13"} == {VERSION}
    for pin in pins:
        assert re.fullmatch("[0-9a-f]{64}", pin["sha256"]), pin


def test_settings_name_the_rack(tmp_path: Path) -> None:
    assert "broker.rack=r\n" in settings(tmp_path, 1, 2, rack="r")
    assert "broker.rack" not in settings(tmp_path, 1, 2, rack=None)
