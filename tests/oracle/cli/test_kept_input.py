"""No command writes its output over what it reads (issue 31)."""

from __future__ import annotations

import json
import os
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from oracle.cli.app import VERBS, app
from oracle.cli.options.file_roles import FileRole, roles_of, with_kept_input
from oracle.cli.runs import fuzz_reproducers
from tests.oracle.cli.commands import CHAIN, Cli, shell
from tests.oracle.report.scenes import small_audit
from tests.pipeline.test_sources import LOG, jsonl


def test_another_file_is_replaced(tmp_path: Path, cli: Cli) -> None:
    shop, answer = tmp_path / "shop.json", tmp_path / "answer.json"
    shop.write_text(json.dumps(CHAIN))
    answer.write_text("old")
    assert cli("solve", shop, "-o", answer).code == 0
    assert json.loads(answer.read_text())["status"] == "optimal"


# Every option of every command, from its definition.

NAMES: Final = {
    *(
        "group",
        "groups",
        "group_name",
        "policy",
        "assignor",
        "client",
        "algorithm",
        "family",
    ),
    *("leave", "join", "subscribe", "partitions", "lag", "subscription"),
    *("bootstrap_server", "master", "cluster", "source_format", "columns", "encoding"),
    *("assignors", "check"),
}
"""Parameters whose texts are no files; ``lag`` is that of ``plan``."""
OTHERS: Final = {
    "assign": ["--assignor", "sticky"],
    "audit": ["--out", "out"],
    "snapshot": ["--bootstrap-server", "localhost:1"],
}
"""Options without which a command is not parsed."""


def is_text(hint: Any) -> bool:
    """Return whether a parameter can be given any text, or a path."""
    if typing.get_origin(hint) is typing.Literal:
        return False
    return hint in (str, Path) or any(map(is_text, typing.get_args(hint)))


def stated(verb: Callable[..., None]) -> dict[str, FileRole]:
    """Return the roles, by what is written on the command line; arguments first."""
    roles = roles_of(verb)
    command = typer.main.get_command(app).commands[verb.__name__]  # type: ignore[attr-defined]
    return {
        "" if param.param_type_name == "argument" else param.opts[0]: roles[param.name]
        for param in reversed(command.params)
        if param.name in roles
    }


def pairs() -> list[tuple[str, str, str, FileRole]]:
    return [
        (verb.__name__, output, source, role)
        for verb in VERBS
        for output, written in stated(verb).items()
        if written is FileRole.WRITTEN
        for source, role in stated(verb).items()
        if role in (FileRole.READ, FileRole.PROGRAM)
    ]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_every_parameter_that_can_be_a_file_states_its_role(
    verb: Callable[..., None],
) -> None:
    roles = roles_of(verb)
    for name, hint in typing.get_type_hints(verb, include_extras=True).items():
        if is_text(hint) and not (name in NAMES and name not in roles):
            assert name in roles, f"{verb.__name__}: state the FileRole of {name}"
    assert roles.get("lag") is (FileRole.READ if verb.__name__ == "audit" else None)


def test_the_pairs_are_those_of_all_commands() -> None:
    """The enumeration finds what is known to exist."""
    found = {(verb, output, source) for verb, output, source, _ in pairs()}
    assert ("snapshot", "--assignments", "--command-config") in found
    assert ("conform", "--junit", "--command") in found
    assert ("explain", "--html", "--from") in found
    assert {verb for verb, _, _ in found} == {
        verb.__name__ for verb in VERBS if verb.__name__ != "corpus"
    }


@pytest.mark.parametrize(("verb", "output", "source", "role"), pairs())
def test_no_output_is_written_over_an_input(
    verb: str,
    output: str,
    source: str,
    role: FileRole,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input").write_text("kept")
    Path("link").symlink_to("input")
    Path("hard").hardlink_to("input")
    read = "program --of input" if role is FileRole.PROGRAM else "input"
    given = [source, read] if source else [read]
    for target in ("input", "link", "hard"):
        ended = cli(verb, *given, *OTHERS.get(verb, ()), output, target)
        assert ended.code == 2
        assert f"{target} is read by this command" in ended.err
        assert Path("input").read_text() == "kept"
        assert Path("link").is_symlink()


def outputs() -> list[tuple[str, list[str]]]:
    """Return the commands with several outputs."""
    written = {
        verb.__name__: [
            option for option, role in stated(verb).items() if role is FileRole.WRITTEN
        ]
        for verb in VERBS
    }
    return [(verb, options) for verb, options in written.items() if len(options) > 1]


@pytest.mark.parametrize(("verb", "options"), outputs())
@pytest.mark.parametrize("exists", [False, True])
def test_no_two_outputs_are_one_file(
    verb: str, options: list[str], exists: bool, tmp_path: Path, cli: Cli
) -> None:
    target = tmp_path / "target"
    if exists:
        target.write_text("kept")
    given = [part for option in options for part in (option, str(target))]
    ended = cli(verb, *OTHERS.get(verb, ()), *given)
    assert (ended.code, exists) == (2, target.exists())
    assert f"{target} is written twice" in ended.err


def test_standard_streams_are_files_too(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(CHAIN))
    for line in ("solve - -o shop.json < shop.json", "solve shop.json >> shop.json"):
        ended = shell(f"$ORACLE {line}", tmp_path)
        assert ended.code == 2, ended.err
        assert "is read by this command" in ended.err
        assert json.loads((tmp_path / "shop.json").read_bytes()) == CHAIN


def test_a_file_of_a_folder_that_is_read(tmp_path: Path, cli: Cli) -> None:
    source = tmp_path / "source"
    (source / "below").mkdir(parents=True)
    shop = source / "below" / "shop.jsonl"
    shop.write_text(json.dumps(CHAIN))
    ended = cli("solve", "--from", source, "-o", shop)
    assert ended.code == 2
    assert f"{shop} is read by this command" in ended.err
    assert json.loads(shop.read_bytes()) == CHAIN
    assert cli("solve", "--from", source, "-o", tmp_path / "answer").code == 0


@pytest.mark.parametrize(
    ("name", "code"),
    [("audit.json", 2), ("index.html", 2), ("rebalances/x", 2), ("answers.jsonl", 0)],
)
def test_a_file_of_an_audit_that_is_read(
    name: str, code: int, tmp_path: Path, cli: Cli
) -> None:
    """Other files in the folder of an audit can be replaced."""
    small_audit().write(tmp_path / "out")
    target = tmp_path / "out" / name
    before = target.read_bytes() if target.exists() else b"old"
    target.write_bytes(before)
    given = ("--from", tmp_path / "out", "--group", "chain")
    ended = cli("solve", *given, "-o", target)
    assert ended.code == code, ended.err
    assert (target.read_bytes() == before) is (code == 2)


@pytest.mark.parametrize("name", ["index.html", "rebalances/log.jsonl", "audit.json"])
@pytest.mark.parametrize("option", ["source", "--topics", "--lag", "--command-config"])
def test_an_audit_does_not_replace_what_it_reads(
    name: str, option: str, tmp_path: Path, cli: Cli
) -> None:
    out, log = tmp_path / "out", tmp_path / "log.jsonl"
    log.write_text(jsonl(LOG.records))
    kept = out / name
    kept.parent.mkdir(parents=True)
    kept.write_text(jsonl(LOG.records) if option == "source" else "{}")
    before = kept.read_bytes()
    given: dict[str, list[str | Path]] = {
        "source": [kept],
        "--topics": [log, "--topics", kept],
        "--lag": [log, "--lag", kept],
        "--command-config": [
            "--bootstrap-server",
            "localhost:1",
            "--command-config",
            kept,
        ],
    }
    ended = cli("audit", *given[option], "--out", out)
    assert ended.code == 2
    assert "which would replace it: write to another folder" in ended.err
    assert kept.read_bytes() == before


def test_a_reproducer_is_not_written_over_the_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is known once there is a finding."""
    found = tmp_path / "fresh-invalid-0-1" / "test_it.py"
    found.parent.mkdir()
    found.write_text("kept")
    given = {"files": {found.name: "new"}, "file": found.name}
    shown = {"result": "shown"}
    finding = {"family": "fresh", "category": "invalid", "index": 0, "step": 1}

    class Of:
        def __init__(self, values: dict[str, Any]) -> None:
            vars(self).update(values)

    for name in ("case_of", "confirm", "record_of"):
        monkeypatch.setattr(fuzz_reproducers, name, lambda *_, **__: Of(shown))
    monkeypatch.setattr(fuzz_reproducers, "render", lambda _case: Of(given))

    def verb(instances: typing.Annotated[str, FileRole.READ]) -> None:
        assert instances
        findings: Any = [Of(finding)]
        list(fuzz_reproducers.write_reproducers(findings, tmp_path, date="today"))

    with pytest.raises(typer.BadParameter, match="is read by this command"):
        with_kept_input(verb)(instances=os.fspath(found))
    assert found.read_text() == "kept"
