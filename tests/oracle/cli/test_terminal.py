"""Terminal output: tables without control characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.cli.commands import (
    AS_IT_STANDS,
    CHAIN,
    Cli,
    group_of,
    on_terminal,
    write_lines,
)
from tests.support.snapshots import check_snapshot

EVIL = "\x1b[31m[red]m\x9b2J\x07\r\n\u202e\u200b:smile:[/]"
SHOWN = r"\x1b[31m[red]m\x9b2J\x07\r\n\u202e\u200b:smile:[/]"
HOSTILE = group_of(EVIL, {EVIL: [EVIL], "b": [EVIL]}, {EVIL: 3}, id=EVIL)
ACTING = ("\x1b", "\x9b", "\x07", "\u202e", "\u200b")


def harmless(text: str) -> bool:
    return not any(character in text for character in ACTING)


@pytest.mark.parametrize(
    "arguments", [["solve"], ["assign", "--assignor", "range"], ["compare"]]
)
def test_names_are_shown_and_do_not_act(
    person: Cli, tmp_path: Path, arguments: list[str]
) -> None:
    source = write_lines(tmp_path / "r", HOSTILE)
    ended = person(*arguments, source)
    text = ended.out.decode()
    assert ended.code == 0
    assert harmless(text)
    # A name is cut by its middle; both its ends are there.
    assert r"\x1b[31m[red]m" in text
    assert r":smile:[/]" in text


def test_a_verdict_shows_names_that_do_not_act(person: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", HOSTILE)
    wrong = {
        "format": "assignment/1",
        "id": EVIL,
        "members": {EVIL: {EVIL: [0, 1]}, "b": {EVIL: [1, 7]}, f"{EVIL}?": {}},
    }
    answers = write_lines(tmp_path / "a", wrong)
    ended = person("judge", "--against", "optimum", source, answers)
    text = ended.out.decode()
    assert ended.code == 1
    assert harmless(text)
    assert SHOWN in text
    check_snapshot("judge/hostile-names.txt", text)


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


def test_control_characters_in_messages_are_escaped(cli: Cli, tmp_path: Path) -> None:
    bad = {**HOSTILE, EVIL: 1}
    ended = cli("solve", write_lines(tmp_path / "r\x1b[31m", bad))
    assert ended.code == 2
    assert harmless(ended.err)
    assert len(ended.err.splitlines()) == 1


@pytest.mark.heavy
def test_a_person_gets_a_table_of_the_answer(tmp_path: Path) -> None:
    """On a narrow terminal."""
    ended = on_terminal("solve", write_lines(tmp_path / "r", CHAIN, HOSTILE))
    text = ended.out.decode()
    assert harmless(text)
    check_snapshot("solve/narrow.txt", text.replace("\r\n", "\n"))


@pytest.mark.heavy
def test_names_are_wrapped_on_a_narrow_terminal(tmp_path: Path) -> None:
    ended = on_terminal("compare", write_lines(tmp_path / "r", CHAIN))
    text = ended.out.decode().replace("\r\n", "\n")
    check_snapshot("compare/narrow.txt", text)


def test_a_person_gets_a_table_of_the_verdict(person: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    answers = write_lines(tmp_path / "a", AS_IT_STANDS)
    ended = person("judge", "--against", "optimum", source, answers)
    assert ended.code == 0
    check_snapshot("judge/against-the-optimum.txt", ended.out.decode())


def test_an_optimum_shows_its_proof(person: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    (tmp_path / "a").write_bytes(person("solve", "--json", source).out)
    text = person("judge", source, tmp_path / "a").out.decode()
    check_snapshot("judge/proved.txt", text)


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
