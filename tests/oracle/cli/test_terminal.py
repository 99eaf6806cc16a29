"""Terminal output: tables without control characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.cli.commands import (
    CHAIN,
    Cli,
    group_of,
    on_terminal,
    write_lines,
)

EVIL = "\x1b[31m[red]m\x9b2J\x07\r\n\u202e\u200b:smile:[/]"
SHOWN = r"\x1b[31m[red]m\x9b2J\x07\r\n\u202e\u200b:smile:[/]"
HOSTILE = group_of(EVIL, {EVIL: [EVIL], "b": [EVIL]}, {EVIL: 3}, id=EVIL)
ACTING = ("\x1b", "\x9b", "\x07", "\u202e", "\u200b")


def harmless(text: str) -> bool:
    return not any(character in text for character in ACTING)


@pytest.mark.heavy
def test_json_on_a_terminal_is_the_same_json_and_does_not_act(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", HOSTILE)
    ended = on_terminal("solve", "--json", source)
    assert harmless(ended.out.decode())
    (document,) = ended.documents
    assert document["group"] == EVIL
    assert EVIL in document["members"]


def test_json_in_files_is_plain_utf_8(cli: Cli, tmp_path: Path) -> None:
    ended = cli("solve", write_lines(tmp_path / "r", HOSTILE))
    assert "\u202e".encode() in ended.out
    assert ended.documents[0]["group"] == EVIL


def test_large_answers_are_cut_for_people_only(person: Cli, tmp_path: Path) -> None:
    members = {f"m{number:03}": ["t"] for number in range(200)}
    source = write_lines(tmp_path / "r", group_of("g", members, {"t": 400}))
    text = person("solve", source).out.decode()
    assert "m049" in text
    assert "m050" not in text
    assert "and 150 more" in text
    assert len(person("solve", "--json", source).documents[0]["members"]) == 200


@pytest.mark.heavy
def test_a_terminal_with_an_ascii_encoding(tmp_path: Path) -> None:
    document = group_of("größe 漢", {"a": ["漢"]}, {"漢": 1})
    source = write_lines(tmp_path / "r", document)
    few = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}
    ended = on_terminal("solve", source, env=few)
    assert ended.code == 0
    assert r"größe \u6f22" in ended.out.decode("latin-1")
    as_json = on_terminal("solve", "--json", source, env=few)
    assert as_json.documents[0]["group"] == "größe 漢"


def test_progress_is_for_terminals_only(tmp_path: Path, cli: Cli) -> None:
    source = write_lines(tmp_path / "r", *[CHAIN] * 50)
    assert cli("solve", source).err == ""
