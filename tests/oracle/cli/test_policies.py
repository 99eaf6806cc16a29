"""``solve`` with policies: text form, limits, and exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from oracle.cli.options.solve import POLICIES
from solver import NAMED
from tests.oracle.cli.commands import (
    CHAIN,
    COMMAND,
    Cli,
    group_of,
    write_lines,
)
from tests.oracle.cli.test_endings import size, until
from tests.support.shapes import Document, shape


def hard(partitions: int = 60, members: int = 8) -> Document:
    """Return lags that no engine can balance in a day: odd numbers of 40 bits."""
    rng = Random(1)  # noqa: S311
    lag = [rng.randrange(1, 2**40, 2) for _ in range(partitions)]
    names = {f"m{number}": ["t"] for number in range(members)}
    document = group_of("hard", names, {"t": partitions}, id="hard")
    document["topics"]["t"]["lag"] = lag
    return document


HARD_POLICY = "none; lag-deviation"


@pytest.mark.parametrize("name", POLICIES)
def test_every_name_is_in_the_help_and_answers(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    assert name in "".join(cli("solve", "--help").out.decode().split())
    source = write_lines(tmp_path / "r", shape("LAG"))
    ended = cli("solve", "--policy", name, source)
    (answer,) = ended.documents
    assert ended.code == 0
    assert answer["status"] == "optimal"
    assert answer["policy"] == str(NAMED[name])


def test_control_characters_in_a_policy_are_escaped(cli: Cli, tmp_path: Path) -> None:
    for text in ("\x1b[31mx", "a\nb", "stickiness,\x85stickiness"):
        ended = cli("solve", "--policy", text, tmp_path / "none")
        assert ended.code == 2
        assert "\x1b" not in ended.err
        assert "\x85" not in ended.err


@pytest.mark.heavy
def test_a_time_limit_gives_the_best_found_with_its_bound(
    cli: Cli, tmp_path: Path
) -> None:
    source = write_lines(tmp_path / "r", hard())
    ended = cli("solve", "--policy", HARD_POLICY, "--time-limit", "1", source)
    (answer,) = ended.documents
    (level,) = answer["objectives"]
    assert ended.code == 0
    assert answer["status"] == "feasible"
    assert level["bound"] < level["value"]
    assert "time limit of 1 s" in answer["reason"]


def test_a_memory_limit_ends_the_search(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", hard())
    ended = cli("solve", "--policy", HARD_POLICY, "--memory-limit", "1MiB", source)
    (answer,) = ended.documents
    assert answer["status"] in {"feasible", "unknown"}
    assert "memory" in answer["reason"]


def test_the_same_seed_gives_the_same_bytes(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", shape("LAG_GREEDY_FAILS"), CHAIN | {"id": "c"})
    arguments = ("solve", "--policy", "kip54; stickiness, load", "--seed", "5", source)
    assert cli(*arguments).out == cli(*arguments).out


@pytest.mark.heavy
def test_an_interrupt_writes_the_best_found_and_ends(tmp_path: Path) -> None:
    easy, last = shape("LAG") | {"id": "easy"}, shape("LAG") | {"id": "last"}
    source = write_lines(tmp_path / "r", easy, hard(), last)
    target = tmp_path / "answers"
    command = [*COMMAND, "solve", "--policy", HARD_POLICY, source, "-o", str(target)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        until(lambda: [path for path in tmp_path.glob(".answers.*") if size(path)])
        time.sleep(2)  # seconds: it is at the hard one, which would take days
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        err = process.stderr.read().decode()
        assert process.wait(timeout=60) == 130
    assert "interrupted: writing the best found so far; Ctrl-C again" in err
    first, second = [json.loads(line) for line in target.read_text().splitlines()]
    assert (first["id"], first["status"]) == ("easy", "optimal")
    assert (second["id"], second["status"]) == ("hard", "feasible")
    assert second["reason"] == "interrupted"
    assert second["objectives"][0]["bound"] < second["objectives"][0]["value"]


def test_a_second_interrupt_ends_at_once() -> None:
    script = """if True:
        import os, signal, sys, threading, time
        from oracle.cli.runs.interrupts import run_stoppable
        def twice():
            for _ in range(2):
                time.sleep(0.3)
                os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=twice, daemon=True).start()
        try:
            run_stoppable(lambda: time.sleep(36_000), threading.Event())
        except KeyboardInterrupt:
            sys.exit(130)
    """
    ended = subprocess.run([sys.executable, "-c", script], check=False, timeout=600)
    assert ended.returncode == 130
