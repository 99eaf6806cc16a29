"""``front``: table, JSON, picture, limits, and exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

from oracle.cli.options.front import BalanceName
from oracle.cli.runs import interrupts
from tests.oracle.cli.commands import CHAIN, COMMAND, Cli, on_terminal, write_lines
from tests.oracle.cli.test_policies import hard
from tests.oracle.cli.test_terminal import EVIL, HOSTILE, harmless
from tests.support.shapes import shape

PNG = b"\x89PNG\r\n\x1a\n"


def hard_owned() -> dict[str, object]:
    """Return a rebalance with hard lags, all owned by one member."""
    document = hard()
    document["members"]["m0"]["owned"] = {"t": list(range(60))}
    return document


def test_balances_offered_are_solved(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", shape("LAG"))
    assert cli("front", source).documents[0]["measure"] == "sum-of-squares"
    for balance in get_args(BalanceName):
        arguments = ("--objective", "peak-lag", "--balance", balance)
        assert cli("front", *arguments, source).documents[0]["balance"] == balance


def test_there_is_one_document_per_rebalance(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, "{bad", shape("STAIRCASE"))
    ended = cli("front", source)
    assert ended.code == 2
    chain, stairs = ended.documents
    assert (chain["format"], chain["group"], chain["id"]) == (
        "front/1",
        "orders",
        "chain",
    )
    assert [(p["moves"], p["value"]) for p in chain["points"]] == [(0, 6), (3, 4)]
    assert [p["kip54_score"] for p in chain["points"]] == [6, 0]
    assert [p["status"] for p in stairs["points"]] == ["optimal"] * 3
    assert all(front["complete"] for front in (chain, stairs))
    (last,) = [p["assignment"] for p in chain["points"] if p["moves"] == 3]
    assert last["figures"]["loads"] == [1, 1, 1, 1]


def test_one_without_lag_is_named_and_the_others_answered(
    cli: Cli, tmp_path: Path
) -> None:
    source = write_lines(tmp_path / "r", CHAIN, shape("LAG"))
    ended = cli("front", "--objective", "peak-lag", source)
    assert ended.code == 2
    assert len(ended.documents) == 1
    (complaint,) = ended.complaints
    assert complaint.startswith(f"{source}: document 1: policy needs lag for peak-lag")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--objective", "lag"], "'lag' is not one of"),
        (["--measure", "kip54-score"], "No such option: --measure"),
        (["--balance", "dec-min"], "--balance requires --objective peak-lag"),
        (["--picture", "x.pdf"], "expected .png or .svg"),
        (["--time-limit", "0"], "not a number of seconds"),
    ],
)
def test_bad_usage(cli: Cli, tmp_path: Path, arguments: list[str], reason: str) -> None:
    ended = cli("front", *arguments, write_lines(tmp_path / "r", CHAIN))
    assert ended.code == 2
    assert reason in ended.err
    assert len(ended.complaints) == 1


@pytest.mark.heavy
@pytest.mark.parametrize("objective", ["balance", "peak-lag"])
def test_a_picture_is_one_and_the_same(
    cli: Cli, tmp_path: Path, objective: str
) -> None:
    source = write_lines(tmp_path / "r", shape("LAG"))
    drawn: dict[str, set[bytes]] = {"png": set(), "svg": set()}
    for kind, pictures in drawn.items():
        target = tmp_path / f"front.{kind}"
        for _ in range(2):
            arguments = ("--objective", objective, "--picture", target)
            assert cli("front", *arguments, source).code == 0
            pictures.add(target.read_bytes())
    (png,), (svg,) = drawn["png"], drawn["svg"]
    assert png.startswith(PNG)
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314
    assert b"moves (owned partitions that leave their owner)" in svg
    words = b"KIP-54 score" if objective == "balance" else b"peak lag"
    assert words in svg


@pytest.mark.heavy
def test_a_picture_of_an_incomplete_front_states_it(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", hard_owned())
    target = tmp_path / "front.svg"
    arguments = ("--objective", "peak-lag", "--time-limit", "3", "--picture", target)
    ended = cli("front", *arguments, source)
    (document,) = ended.documents
    assert ended.code == 0
    assert not document["complete"]
    assert document["open"]
    assert document["reason"] == "time limit of 3 s"
    text = target.read_text()
    for words in ("proved: Pareto-optimal", "best found", "shaded"):
        assert words in text


@pytest.mark.heavy
@pytest.mark.parametrize("verb", ["front", "solve"])
def test_many_partitions(cli: Cli, tmp_path: Path, verb: str) -> None:
    """A group of 130 partitions is solved within its time limit."""
    source = write_lines(tmp_path / "r", hard(partitions=130))
    arguments = {
        "front": ("--objective", "peak-lag"),
        "solve": ("--policy", "none; peak-lag; max-moves=3"),
    }
    ended = cli(verb, *arguments[verb], "--time-limit", "3", source)
    assert (ended.code, len(ended.documents)) == (0, 1)


@pytest.mark.heavy
def test_several_pictures_get_numbers(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, shape("STAIRCASE"))
    assert cli("front", "--picture", tmp_path / "f.svg", source).code == 0
    assert {path.name for path in tmp_path.glob("*.svg")} == {"f.svg", "f-2.svg"}


def test_names_are_escaped_in_a_picture(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "front.svg"
    source = write_lines(tmp_path / "r", HOSTILE)
    assert cli("front", "--picture", target, source).code == 0
    text = target.read_text()
    ElementTree.fromstring(text)  # noqa: S314
    assert EVIL not in text
    assert harmless(text)


def test_a_picture_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    ended = cli("front", "--picture", tmp_path / "no" / "f.png", source)
    assert ended.code == 2
    assert "no such file or directory" in ended.err


def test_points_are_judged(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    (front,) = cli("front", source).documents
    (plain,) = cli("solve", source).documents
    answers = [*(point["assignment"] for point in front["points"]), plain]
    given = write_lines(tmp_path / "a", *answers)
    judged = cli("judge", source, given)
    assert judged.code == 0
    stayed, moved, _ = judged.documents
    assert stayed["policy"]["of"] == "none; sum-of-squares; max-moves=0"
    assert stayed["objectives"][0]["value"] == 6
    assert moved["objectives"][0]["rests_on"] == "search"
    against = cli("judge", "--against", "optimum", source, given)
    assert against.code == 2
    assert len(against.documents) == 1
    assert len(against.complaints) == 2
    assert (
        "sum-of-squares is weighed by front, and by it alone" in against.complaints[0]
    )


@pytest.mark.heavy
def test_a_person_gets_a_table(tmp_path: Path) -> None:
    shown = on_terminal("front", write_lines(tmp_path / "r", CHAIN, HOSTILE))
    text = shown.out.decode()
    assert shown.code == 0
    assert "orders chain · moves against sum-of-squares · complete" in text
    for words in ("less by", "KIP-54 score", "bound", "optimal", "rests on"):
        assert words in text
    assert harmless(text)


@pytest.mark.heavy
def test_an_interrupt_writes_the_points_found(tmp_path: Path) -> None:
    easy, last = shape("LAG") | {"id": "easy"}, shape("LAG") | {"id": "last"}
    source = write_lines(tmp_path / "r", easy, hard_owned(), last)
    command = [*COMMAND, "front", "--objective", "peak-lag", "--time-limit", "600"]
    with subprocess.Popen(
        [*command, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        time.sleep(2)  # seconds: it is at the hard one, which would take ten minutes
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
    assert interrupts.INTERRUPTED in err.decode()
    (front,) = [json.loads(line) for line in out.splitlines()]
    assert (first["id"], first["complete"]) == ("easy", True)
    assert (front["id"], front["complete"]) == ("hard", False)
    assert front["reason"] == "interrupted"
