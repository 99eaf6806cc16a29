"""``explain``: sentences, documents, exit codes, and bad input."""

from __future__ import annotations

from pathlib import Path

from tests.oracle.cli.commands import Cli, group_of, write_lines
from tests.support.shapes import Document


def test_what_a_limit_ends_is_not_called_the_best(cli: Cli, tmp_path: Path) -> None:
    lag = [(7919 * number) % 1000 * 10 for number in range(64)]
    members = {f"m{number}": ["t"] for number in range(9)}
    document = group_of("g", members, {"t": 64})
    document["topics"]["t"]["lag"] = lag
    source = write_lines(tmp_path / "r", document)
    policy = ("--policy", "per-topic; peak-lag", "--time-limit", "0.001")
    ended = cli("explain", *policy, source)
    assert ended.code == 0
    text = " ".join(ended.out.decode().split())
    assert "The best assignment found, which is not proved to be the best" in text
    assert "Reason: time limit of 0.001 s" in text
    assert "1. No allowed assignment has a peak-lag below " in text


def test_long_lists_are_shortened_and_names_escaped(cli: Cli, tmp_path: Path) -> None:
    members = {f"m{number:03}\x1b[31m": ["t"] for number in range(300)}
    source = write_lines(tmp_path / "r", group_of("g", members, {"t": 1000}))
    heavy: Document = {name: {} for name in sorted(members)}
    heavy[min(members)] = {"t": list(range(1000))}
    answers = write_lines(tmp_path / "a", {"format": "assignment/1", "members": heavy})
    for more in ([], [answers]):
        ended = cli("explain", source, *more)
        text = ended.out.decode()
        assert len(text.splitlines()) < 24
        assert "\x1b" not in text
    assert "996 transfers in 996 chains" in text
    assert "… and 295 statements on chains more" in text
