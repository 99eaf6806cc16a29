"""``front``: table, JSON, picture, limits, and exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.oracle.cli.commands import CHAIN, COMMAND, Cli, write_lines
from tests.oracle.cli.test_policies import hard
from tests.oracle.cli.test_terminal import EVIL, HOSTILE, harmless
from tests.support.shapes import shape

PNG = b"\x89PNG\r\n\x1a\n"


def hard_owned() -> dict[str, object]:
    """Return a rebalance with hard lags, all owned by one member."""
    document = hard()
    document["members"]["m0"]["owned"] = {"t": list(range(60))}
    return document


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
    assert "interrupted: writing the best found so far; Ctrl-C again" in err.decode()
    (front,) = [json.loads(line) for line in out.splitlines()]
    assert (first["id"], first["complete"]) == ("easy", True)
    assert (front["id"], front["complete"]) == ("hard", False)
    assert front["reason"] == "interrupted"
