"""The example of docs/diff.md is what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from oracle.audit_diff import AuditDiff
from oracle.cli.options.times import parse_time
from rebalance import document_schema
from tests.oracle.cli.commands import Cli
from tests.pipeline.local_audit import local_audit
from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")


@pytest.mark.heavy
def test_the_example_is_what_the_commands_print(
    capsysbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The audits are made without Spark, which writes the same tables."""
    before = PAGE.split("<!-- example: start -->")[0]
    *audits, compared = re.findall(r"^assignor-oracle (.*)$", before, re.MULTILINE)[-3:]
    for line in audits:
        verb, source, _, out, window, at = shlex.split(line)
        assert verb == "audit"
        times: dict[str, Any] = {window.removeprefix("--"): parse_time(at)}
        local_audit(
            [ROOT / source],
            tmp_path / out,
            assignors=["optimum"],
            **times,
        )
    monkeypatch.chdir(tmp_path)
    printed = Cli(capsysbinary)(*shlex.split(compared)).out.decode()
    (shown,) = re.findall(r"start -->\n```text\n(.*?)```\n", PAGE, re.DOTALL)
    assert printed == shown


def test_every_list_and_figure_is_named() -> None:
    schema = document_schema(AuditDiff)
    (figures,) = {
        tuple(record["properties"]["by"]["enum"])
        for record in schema["$defs"].values()
        if "by" in record["properties"]
    }
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert table == [*figures]
    lists = [name for name, kind in schema["properties"].items() if "items" in kind]
    assert [name for name in lists if f"`{name}`" not in PAGE] == []
