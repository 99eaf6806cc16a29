"""CPU time of real processes, and the reference that it is compared with.

Reaches into `conformance.clients` to compare the clock with what processes say.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import verify
from conformance.clients import CpuClock
from conformance.clients import reference_time as reference
from conformance.clients.cpu_time import TICKS
from conformance.clients.reference_time import RebalanceSize, size_of, sized_rebalance

SPIN = """
import subprocess, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
if len(sys.argv) == 1:
    again = [sys.executable, "-I", "-S", sys.argv[0]]
    subprocess.run([*again, "ends"], check=True, stdout=subprocess.DEVNULL)
    stays = subprocess.Popen([*again, "stays"], stdout=subprocess.PIPE)
    stays.stdout.readline()
spin(0.1)
print("spun", flush=True)
"ends" in sys.argv or time.sleep(600)
"""


def test_processes_below_count_also_when_they_have_ended(tmp_path: Path) -> None:
    """Each of three uses 0.1 s; one of them has ended."""
    file = tmp_path / "spin.py"
    file.write_text(SPIN)
    command = [sys.executable, "-I", "-S", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, start_new_session=True
    ) as spun:
        assert spun.stdout is not None
        try:
            assert spun.stdout.readline() == b"spun\n"
            clock = CpuClock(spun.pid)
            ticks = clock.used().ticks
            assert ticks >= 0.3 * TICKS - 3
        finally:
            subprocess.run(["kill", "--", f"-{spun.pid}"], check=False)
            spun.kill()
    assert clock.used().ticks == ticks  # it does not run backwards
    assert not clock.used().is_busy


def test_a_process_that_runs_is_busy() -> None:
    command = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    with subprocess.Popen(command) as spins:
        clock = CpuClock(spins.pid)
        while not clock.used().is_busy:
            assert spins.poll() is None
        spins.kill()


@pytest.mark.parametrize(
    "size",
    [
        RebalanceSize(1, 1),
        RebalanceSize(2, 3),
        RebalanceSize(30, 1),
        RebalanceSize(64, 1000),
    ],
)
def test_the_reference_is_a_rebalance_of_its_size(size: RebalanceSize) -> None:
    document = sized_rebalance(size)
    assert size_of(document) == size
    assert verify.read_rebalance(json.dumps(document)) == document
    assert sized_rebalance(size) == document
    owned = [m["owned"].get("t", []) for m in document["members"].values()]
    assert sorted(n for ns in owned for n in ns) == list(range(-(-size[1] // 2)))


def test_a_size_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[RebalanceSize] = []
    built = reference.sized_rebalance

    def counted(size: RebalanceSize) -> dict[str, object]:
        measured.append(size)
        return built(size)

    monkeypatch.setattr(reference, "sized_rebalance", counted)
    reference._measured.cache_clear()
    first = reference.reference_seconds(RebalanceSize(20, 100))
    assert first > 0
    assert reference.reference_seconds(RebalanceSize(17, 128)) == first
    assert measured == [RebalanceSize(2, 2), RebalanceSize(32, 128)]
    reference._measured.cache_clear()


def test_sizes_are_stated_in_words() -> None:
    assert str(RebalanceSize(1, 1)) == "1 member, 1 partition"
    assert str(RebalanceSize(2100, 12)) == "2,100 members, 12 partitions"
