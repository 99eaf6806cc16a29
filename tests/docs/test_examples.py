"""The examples in README and docs run, and print what the pages state.

A `console` block holds commands after ``$`` and what they print; ``...`` stands for
anything, and white space does not count. A `pycon` block holds a Python session. A
`json` block is a document.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

import verify
from conformance import parse_scenario
from conformance.runs import parse_finding, parse_run
from oracle.cli import run
from oracle.explanation import Explanation
from rebalance import parse_assignment, parse_rebalance, parse_record
from tests.support.pages import ROOT, blocks

LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what it should print."""
    assert text.startswith("$ "), "a console block starts with a command"
    for part in ("\n" + text).split("\n$ ")[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more
        yield command, expected


def is_plain(page: str, command: str) -> bool:
    """Whether a command can do without a shell; what the README shows has its own."""
    starts = command.startswith("assignor-oracle ")
    return starts and page != "README.md" and not set(command) & set("|&;<>$\"'")


LISTED = [
    (page, line, command, expected)
    for page, line, text in blocks("console")
    for command, expected in commands(text)
]
CONSOLE, PLAIN = (
    [
        pytest.param(
            *(command, expected),
            id=f"{page}:{line}:{command[:60]}",
            marks=() if plain or page == "README.md" else pytest.mark.heavy,
        )
        for page, line, command, expected in LISTED
        if is_plain(page, command) is plain
    ]
    for plain in (False, True)
)
JSON = [pytest.param(t, id=f"{page}:{line}") for page, line, t in blocks("json")]
PYTHON = [  # the sessions of a page go on from one another
    pytest.param("\n".join(text for _, _, text in of_page), id=page)
    for page, of_page in groupby(blocks("pycon"), lambda block: block[0])
]


@pytest.mark.parametrize(("command", "expected"), CONSOLE)
def test_commands_print_the_output_on_the_page(command: str, expected: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env=os.environ | {"PATH": path, "COLUMNS": "88", "NO_COLOR": "1"},
        capture_output=True,
        check=False,
        text=True,
    )
    printed = ran.stdout + ran.stderr
    assert ran.returncode in {0, 1}, printed  # 1: the answer is no
    assert agrees(expected, printed), printed


@pytest.mark.parametrize(("command", "expected"), PLAIN)
def test_plain_commands_print_the_output_on_the_page(
    command: str,
    expected: str,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    code = run(shlex.split(command)[1:])
    printed = b"".join(capsysbinary.readouterr()).decode()
    assert code in {0, 1}, printed  # 1: the answer is no
    assert agrees(expected, printed), printed


def agrees(expected: str, printed: str) -> bool:
    """Compare without blanks, and without what only a terminal's tables have.

    Pages show the tables of a terminal: with lines, separators of thousands, and dashes
    in cells without a value. In a pipe, tables have none of these.
    """
    want, got = (
        "".join(re.sub(r"[┃│━╇–]|(?<=\d),(?=\d{3}\b)", "", text).split())
        for text in (expected, printed)
    )
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


def test_a_wrong_page_would_be_noticed() -> None:
    assert agrees('{..."a": 1,\n ...}\n', '{"b":2,"a":1,"c":3}')
    assert not agrees('{..."a": 2...}', '{"b":2,"a":1,"c":3}')
    assert not agrees("", "surprise")


@pytest.mark.parametrize("text", JSON)
def test_documents_on_the_page_have_the_stated_format(text: str) -> None:
    kind = json.loads(text)["format"]
    readers: dict[str, Callable[[str], object]] = {
        "rebalance/1": parse_rebalance,
        "assignment/1": parse_assignment,
        "scenario/1": parse_scenario,
        "finding/1": parse_finding,
        "run/1": parse_run,
        "explanation/1": partial(parse_record, Explanation),
    }
    if kind == "verdict/1":
        chain = json.loads((ROOT / "docs/examples/chain.json").read_text())
        assert (
            json.loads(text).keys()
            == verify.judge(
                chain | {"id": "r7"}, {"format": "assignment/1", "members": {}}
            ).keys()
        )
    else:
        readers[kind](text)


@pytest.mark.parametrize("text", PYTHON)
def test_sessions_print_the_output_on_the_page(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    session = doctest.DocTestParser().get_doctest(text, {}, "page", None, 0)
    runner = doctest.DocTestRunner(optionflags=LENIENT)
    runner.run(session)
    assert runner.summarize(verbose=False).failed == 0


def test_there_are_examples_to_run() -> None:
    assert len(CONSOLE) >= 5
    assert len(PLAIN) >= 20
    assert len(JSON) >= 3
    assert len(PYTHON) >= 1
