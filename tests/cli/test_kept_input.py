"""No command writes its output over what it reads (issue 31)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import CHAIN, Cli

NOW = {
    "format": "assignment/1",
    "members": {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}},
}
COMMANDS = {
    "solve": ["solve", "shop.json"],
    "assign": ["assign", "--assignor", "sticky", "shop.json"],
    "judge the instance": ["judge", "shop.json", "now.json"],
    "judge the assignment": ["judge", "now.json", "shop.json"],
    "compare": ["compare", "shop.json"],
    "explain": ["explain", "shop.json"],
    "explain from a file": ["explain", "--from", "shop.json"],
    "plan": ["plan", "shop.json", "--join", "z=t"],
    "front": ["front", "shop.json"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
def test_an_input_is_not_overwritten(
    command: list[str],
    kind: str,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    shop, other = Path("shop.json"), Path("other.json")
    shop.write_text(json.dumps(CHAIN))
    Path("now.json").write_text(json.dumps(NOW))
    if kind == "link":
        other.symlink_to(shop)
    elif kind == "hard link":
        other.hardlink_to(shop)
    target = shop if kind == "itself" else other
    ended = cli(*command, "-o", target)
    assert ended.code == 2
    assert f"{target} is read by this command" in ended.err
    assert shop.read_text() == json.dumps(CHAIN)


def test_a_page_is_not_written_over_the_source(tmp_path: Path, cli: Cli) -> None:
    shop = tmp_path / "shop.txt"
    text = (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST "
        "CLIENT-ID\ng  t  0  1  1  0  a  /1.1.1.1  a\n"
    )
    shop.write_text(text)
    ended = cli("explain", "--from", shop, "--html", shop)
    assert ended.code == 2
    assert shop.read_text() == text


def test_another_file_is_replaced(tmp_path: Path, cli: Cli) -> None:
    shop, answer = tmp_path / "shop.json", tmp_path / "answer.json"
    shop.write_text(json.dumps(CHAIN))
    answer.write_text("old")
    assert cli("solve", shop, "-o", answer).code == 0
    assert json.loads(answer.read_text())["status"] == "optimal"
