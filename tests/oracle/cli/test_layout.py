"""Layout: terminals of 60 to 200 columns, tables in pipes, help, messages, NO_COLOR."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from oracle.cli.app import VERBS as SUBCOMMANDS
from oracle.cli.printing.parts import Sheet, TextLine
from oracle.cli.printing.terminal import console_of, printed
from tests.oracle.cli.commands import AS_IT_STANDS, CHAIN, Cli, group_of, write_lines
from tests.support.snapshots import check_snapshot

WIDTHS = (60, 80, 100, 137, 200)
VERBS = ("solve", "assign", "judge", "compare", "explain", "front", "conform", "fuzz")
LONG = "billing-round-robin-consumer-" + "x" * 60


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verb", ["solve", "compare", "judge", "front"])
def test_no_line_is_wider_than_the_terminal(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, verb: str, width: int
) -> None:
    long = group_of(LONG, {LONG: ["t"], "b": ["t", "u"]}, {"t": 5, "u": 3})
    source = write_lines(tmp_path / "r", CHAIN, long)
    arguments = [source]
    if verb == "judge":
        answer = {"format": "assignment/1", "members": {LONG: {"t": [0]}, "b": {}}}
        arguments.append(write_lines(tmp_path / "a", AS_IT_STANDS, answer))
    person = Cli(capsysbinary, columns=width)
    lines = person(verb, *arguments).out.decode().splitlines()
    assert any("─" in line or "━" in line for line in lines)
    assert max(map(cell_len, lines)) <= width


def test_a_table_in_a_pipe_has_tabs_and_never_wraps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = [(LONG, 1_234_567, None, True), *[("b", 1, 2, False)] * 80]
    table = Sheet("a title", ["name", "moves", "gap", "balanced"], rows)
    lines = printed(table, TextLine("after"), "").decode().split("\n")
    assert lines[:3] == [
        "a title",
        "name\tmoves\tgap\tbalanced",
        f"{LONG}\t1234567\t\tyes",
    ]
    assert len(lines) == 2 + len(rows) + len(["after", "", ""])


@pytest.mark.parametrize("verb", ["", *(verb.__name__ for verb in SUBCOMMANDS)])
def test_help(cli: Cli, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = cli(*verb.split(), "--help").out.decode()
    check_snapshot(f"help/{verb or 'command'}.txt", text)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("verb", VERBS)
def test_help_is_wrapped_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, verb: str, width: int
) -> None:
    """Within a paragraph, the first word of a line does not fit the line before."""
    monkeypatch.setenv("COLUMNS", str(width))
    text = cli(verb, "--help").out.decode()
    about = re.split(r"\n(?:Arguments|Options):\n", text)[0]
    paragraphs = [part.splitlines() for part in about.split("\n\n")[1:]]
    assert paragraphs
    for lines in paragraphs:
        assert max(map(len, lines)) <= width
        for line, following in pairwise(lines):
            # a word with a hyphen is also broken behind it
            first = re.split(r"(?<=\w-)", following.split()[0])[0]
            assert len(line) + 1 + len(first) > width - 2, (line, following)


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert console_of(sys.stderr).no_color
    monkeypatch.delenv("NO_COLOR")
    assert not console_of(sys.stderr).no_color


def test_summaries_of_subcommands_are_whole(cli: Cli) -> None:
    listed = cli("--help").out.decode().partition("Commands:")[2]
    sentences = re.split(r"\n  (?=\w)", listed.rstrip())[1:]
    assert len(sentences) == len(SUBCOMMANDS)
    assert all(
        sentence.endswith(".") and "..." not in sentence for sentence in sentences
    )
