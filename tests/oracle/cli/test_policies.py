"""``solve`` with policies: text form, limits, and exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from oracle.cli.options.limits import parse_seconds, parse_size
from oracle.cli.options.solve import POLICIES, EngineName
from oracle.cli.runs import interrupts
from solver import NAMED, Engine
from solver.policy import OPTIMA
from tests.oracle.cli.commands import (
    CHAIN,
    COMMAND,
    Cli,
    group_of,
    on_terminal,
    write_lines,
)
from tests.oracle.cli.test_endings import size, until
from tests.support.shapes import Document, shape
from tests.support.snapshots import check_snapshot


def hard(partitions: int = 60, members: int = 8) -> Document:
    """Return lags that no engine can balance in a day: odd numbers of 40 bits."""
    rng = Random(1)  # noqa: S311
    lag = [rng.randrange(1, 2**40, 2) for _ in range(partitions)]
    names = {f"m{number}": ["t"] for number in range(members)}
    document = group_of("hard", names, {"t": partitions}, id="hard")
    document["topics"]["t"]["lag"] = lag
    return document


HARD_POLICY = "none; lag-deviation"


def test_names_offered_are_those_there_are() -> None:
    assert POLICIES == OPTIMA
    assert NAMED.keys() == OPTIMA.keys()
    assert set(get_args(EngineName)) == {engine.value for engine in Engine}


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


@pytest.mark.parametrize("engine", ["cp-sat", "highs"])
def test_each_engine_states_its_proof(cli: Cli, tmp_path: Path, engine: str) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    ended = cli("solve", "--engine", engine, "--policy", "dec-min; stickiness", source)
    (answer,) = ended.documents
    (moves,) = answer["objectives"]
    assert (moves["value"], moves["bound"]) == (3, 3)
    assert answer["status"] == "optimal"
    assert moves["proof"]["engine"].startswith(engine)


def test_an_unknown_word_is_underlined(cli: Cli, tmp_path: Path) -> None:
    ended = cli("solve", "--policy", "dec-min; stickyness", tmp_path / "none")
    assert ended.code == 2
    assert ended.complaints == [
        "policy: 'stickyness' is unknown; did you mean 'stickiness'?",
        "  dec-min; stickyness",
        "           ^^^^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("policy", "culprit"),
    [
        ("spread=-1; stickiness", "spread below 0"),
        ("spread; stickiness", "spread needs a number"),
        ("max-moves=-2", "max-moves below 0"),
        ("max-moves=1; max-moves=2", "a second budget"),
        ("0*stickiness", "a weight outside 1 to"),
        ("none; -3*rack", "a negative weight"),
        (f"none; {10**30}*rack", "a weight outside 1 to"),
        ("1.5*rack", "'1.5' is not a whole number"),
        ("stickiness, stickiness", "stickiness twice"),
        ("2*load", "load is a vector"),
        ("dec-min; kip54; stickiness", "a balance or a name comes first"),
        ("sticky; peak-lag", "a named policy has its objectives"),
        ("none; sum-of-squares", "sum-of-squares is weighed by front, and by it alone"),
    ],
)
def test_an_invalid_policy_is_reported_with_its_text(
    cli: Cli, tmp_path: Path, policy: str, culprit: str
) -> None:
    ended = cli("solve", "--policy", policy, write_lines(tmp_path / "r", CHAIN))
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaints[0].startswith(f"policy: {culprit}")
    assert ended.complaints[1].strip() == policy


def test_numbers_past_64_bits_are_named_and_the_others_answered(
    cli: Cli, tmp_path: Path
) -> None:
    lagging = shape("LAG") | {"id": "lag"}
    primes = (999_999_937, 999_999_929, 999_999_893, 999_999_883, 999_999_797)
    members = {f"m{w}": {"subscription": ["t"], "capacity": w} for w in primes}
    topics = {"t": {"partitions": 2, "lag": [1, 2]}}
    large = {"format": "rebalance/1", "group": "g", "topics": topics}
    source = write_lines(tmp_path / "r", lagging, large | {"members": members}, lagging)
    for verb in (
        ("solve", "--policy", "lag-aware"),
        ("front", "--objective", "peak-lag"),
    ):
        ended = cli(*verb, source)
        assert ended.code == 2
        assert [answer["id"] for answer in ended.documents] == ["lag", "lag"]
        (complaint,) = ended.complaints
        assert "document 2: policy: peak-lag could reach" in complaint
        assert "past 2^63 - 1" in complaint


def test_control_characters_in_a_policy_are_escaped(cli: Cli, tmp_path: Path) -> None:
    for text in ("\x1b[31mx", "a\nb", "stickiness,\x85stickiness"):
        ended = cli("solve", "--policy", text, tmp_path / "none")
        assert ended.code == 2
        assert "\x1b" not in ended.err
        assert "\x85" not in ended.err


def test_one_without_lag_is_named_and_the_others_answered(
    cli: Cli, tmp_path: Path
) -> None:
    lagging = shape("LAG") | {"id": "lag"}
    source = write_lines(tmp_path / "r", lagging, CHAIN, lagging)
    ended = cli("solve", "--policy", "lag-aware", source)
    assert ended.code == 2
    assert [answer["id"] for answer in ended.documents] == ["lag", "lag"]
    (complaint,) = ended.complaints
    assert complaint.startswith(f"{source}: document 2: policy needs lag for peak-lag")


def test_an_infeasible_policy_is_code_1_with_a_reason(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, shape("LAG"))
    policy = "dec-min; stickiness; max-moves=1"
    ended = cli("solve", "--policy", policy, source)
    first, second = ended.documents
    assert ended.code == 1
    assert (first["status"], second["status"]) == ("infeasible", "optimal")
    assert "max-moves" in first["reason"]
    assert all(held == {} for held in first["members"].values())


def test_unreadable_input_takes_precedence_over_infeasible(
    cli: Cli, tmp_path: Path
) -> None:
    source = write_lines(tmp_path / "r", CHAIN, "{bad")
    assert cli("solve", "--policy", "dec-min; max-moves=1", source).code == 2


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


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2GiB", 2**31), ("500MiB", 500 * 2**20), ("3 kb", 3000), ("4b", 4)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "arguments",
    [
        ["--memory-limit", "lots"],
        ["--memory-limit", "0"],
        ["--memory-limit", "-1"],
        ["--memory-limit", "9999999999TiB"],
        ["--memory-limit", "1.5GiB"],
        ["--time-limit", "nan"],
        ["--time-limit", "inf"],
        ["--time-limit", "-1"],
        ["--time-limit", "soon"],
        ["--workers", "0"],
        ["--seed", "-1"],
        ["--engine", "gurobi"],
        ["--policy", ""],
    ],
)
def test_bad_limits_are_bad_usage(
    cli: Cli, tmp_path: Path, arguments: list[str]
) -> None:
    ended = cli("solve", *arguments, write_lines(tmp_path / "r", CHAIN))
    assert ended.code == 2
    assert ended.out == b""


def test_seconds_may_have_a_fraction() -> None:
    assert parse_seconds("0.5") == 0.5


@pytest.mark.heavy
def test_sticky_starts_no_integer_program(tmp_path: Path) -> None:
    script = (
        "import sys; from oracle.cli.invocation import run; code = run(sys.argv[1:]);"
        "print({'ortools.sat', 'pulp'} & sys.modules.keys(), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, "solve", write_lines(tmp_path / "r", CHAIN)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.strip() == "set()"


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
    assert interrupts.INTERRUPTED in err
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


@pytest.mark.heavy
def test_a_terminal_shows_the_proof_of_each_objective(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, shape("LAG"))
    shown = on_terminal("solve", "--policy", "dec-min; load, stickiness", source)
    check_snapshot("solve/objectives.txt", shown.out.decode().replace("\r\n", "\n"))
    none = on_terminal("solve", "--policy", "dec-min; max-moves=0", source)
    text = " ".join(none.out.decode().split())
    assert none.code == 1
    assert "orders chain · oracle · infeasible" in text
    assert "max-moves allows 0" in text
