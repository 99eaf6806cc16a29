"""``--family MODULE:FUNCTION``: a user's own generator of rebalances."""

from __future__ import annotations

import shlex
import sys
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.runs import family_of
from tests.oracle.cli.commands import Cli, faulty, shell

LOSE, CALM = faulty("lose"), faulty("none")
BURSTS = '''
    """Groups that grow in bursts."""

    def draw(rng):
        """One topic, and many members that arrive at once."""
        members = {f"m{i}": {"subscription": ["t"]} for i in range(rng.randint(1, 9))}
        topics = {"t": {"partitions": rng.randint(1, 12)}}
        return {"format": "rebalance/1", "group": "b", "topics": topics,
                "members": members}
'''


NUMBERS = count()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A name of a module in the working directory that no other test has imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return f"own_family_{next(NUMBERS)}"


def written(module: str, text: str) -> None:
    Path(f"{module}.py").write_text(dedent(text))


def test_draws_of_an_own_family_are_those_of_its_seed(module: str) -> None:
    written(module, BURSTS)
    family = family_of(f"{module}:draw")
    assert family.idea == "One topic, and many members that arrive at once."
    drawn = [family.first(3, index) for index in range(20)]
    assert drawn == [family.first(3, index) for index in range(20)]
    assert len({len(document["members"]) for document in drawn}) > 3
    assert drawn != [family.first(4, index) for index in range(20)]


def test_the_command_of_a_finding_repeats_its_draw(cli: Cli, module: str) -> None:
    written(module, BURSTS)
    chosen = ("--family", f"{module}:draw", "--no-shrink")
    ended = cli("fuzz", "--command", LOSE, *chosen, "--count=5", "--seed=5")
    finding, counts = ended.documents
    assert counts["family"] == finding["family"] == f"{module}:draw"
    assert counts["draws"] == 5
    again = cli(*shlex.split(finding["command"])[1:], "--no-shrink")
    assert finding in again.documents


@pytest.mark.heavy
def test_spawned_workers_import_it_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "bursts.py").write_text(dedent(BURSTS))
    arguments = "--family bursts:draw --family fresh --count 60 --no-shrink"
    command = f"$ORACLE fuzz --command {shlex.quote(CALM)} {arguments} --output"
    ended = shell(f"{command} one; {command} two --workers 2; cmp one two", tmp_path)
    assert (ended.code, ended.out) == (0, b"")
    assert len((tmp_path / "one").read_text().splitlines()) > 2


def test_conform_names_and_repeats_its_checks(cli: Cli, module: str) -> None:
    written(module, BURSTS)
    chosen = ("--no-corpus", "--family", f"{module}:draw", "--count=2")
    ended = cli("conform", "--command", LOSE, *chosen, "--json")
    assert [document["check"] for document in ended.documents] == ["0/0/0", "0/1/0"]
    name = f"{module}:draw/0/1/0"
    again = cli("conform", "--command", LOSE, "--check", name, "--json")
    assert again.documents == ended.documents[1:]


def test_a_later_draw_that_fails_ends_the_run(cli: Cli, module: str) -> None:
    text = BURSTS + "\n    first = draw\n\n    def late(rng):\n"
    text += "        return first(rng) if rng.random() < 0.5 else {}\n"
    written(module, text)
    chosen = ("--family", f"{module}:late", "--count=40", "--no-shrink")
    ended = cli("fuzz", "--command", CALM, *chosen)
    assert ended.code == 2
    assert f"family '{module}:late', seed 0, draw " in ended.err
