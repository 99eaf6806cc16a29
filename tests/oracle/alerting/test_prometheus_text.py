"""Metrics in Prometheus' text format: read by its parser, named by its conventions."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from oracle.alerting import AuditFigures, metrics_text
from oracle.summary import FIGURES
from tools import promtool

AUDIT_PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text()
HOSTILE = 'a "b"\\n\\\n<é😀> {c="d"} # HELP'
FINISHED = datetime(2026, 3, 2, 1, 2, 3, 500_000, UTC)
NEWEST = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)


def figures_of(*groups: str, newest: datetime | None = NEWEST) -> AuditFigures:
    """Return figures of groups, all of them different."""
    rows: list[dict[str, Any]] = [
        {"cluster": HOSTILE, "group_id": group}
        | {name: 1000 * place + number for number, name in enumerate(FIGURES)}
        for place, group in enumerate(groups)
    ]
    return AuditFigures(
        cluster=HOSTILE, finished=FINISHED, newest=newest, groups=tuple(rows)
    )


def test_the_parser_reads_every_figure() -> None:
    figures = figures_of("", HOSTILE, "orders")
    text = metrics_text(figures).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    prefix = "assignor_oracle_"
    for name, at in (("audit", FINISHED), ("newest_record", NEWEST)):
        (sample,) = families.pop(f"{prefix}{name}_timestamp_seconds").samples
        assert (sample.labels, sample.value) == ({"cluster": HOSTILE}, at.timestamp())
    found = [
        (sample.labels["cluster"], sample.labels["group"], sample.value)
        for family in families.values()
        for sample in family.samples
    ]
    expected = [
        (HOSTILE, row["group_id"], row[name] / (1000 if name.endswith("_ms") else 1))
        for name in FIGURES
        for row in figures.groups
    ]
    assert sorted(found) == sorted(expected)
    assert {family.type for family in families.values()} == {"gauge"}


def test_names_and_helps() -> None:
    """As ``promtool check metrics`` demands: base units, no type, help for each."""
    lines = metrics_text(figures_of("orders")).decode().splitlines()
    helps = [line.split(" ", 3) for line in lines if line.startswith("# HELP")]
    types = [line.split(" ") for line in lines if line.startswith("# TYPE")]
    names = [words[2] for words in helps]
    assert names == [words[2] for words in types] == [*dict.fromkeys(names)]
    documented = re.findall(r"^\| `(assignor_oracle_\w+)`", AUDIT_PAGE, re.MULTILINE)
    assert names == documented
    for _, _, name, text in helps:
        assert re.fullmatch(r"assignor_oracle_[a-z]+(_[a-z]+)*", name)
        assert not re.search(r"_(ms|milliseconds|total|count|sum|gauge|info)$", name)
        assert text.endswith(".")


def promtool_finds(text: bytes) -> str:
    """Return the objections of Prometheus' own program."""
    program = promtool.find()
    if program is None:
        pytest.skip("no promtool: make promtool")
    command = [str(program), "check", "metrics"]
    ended = subprocess.run(command, input=text, capture_output=True, check=False)
    said = (ended.stdout + ended.stderr).decode()
    assert bool(said) == (ended.returncode != 0)
    return said


@pytest.mark.heavy
def test_promtool_has_no_objection() -> None:
    assert promtool_finds(metrics_text(figures_of("", HOSTILE, "orders"))) == ""


@pytest.mark.heavy
def test_promtool_finds_a_name_against_the_conventions() -> None:
    name = b"assignor_oracle_group_needless_moves"
    text = metrics_text(figures_of("orders"))
    said = promtool_finds(text.replace(name, name + b"_total"))
    assert f"{name.decode()}_total" in said


@pytest.mark.parametrize("newest", [NEWEST, None])
def test_a_time_that_is_not_known_has_no_sample(newest: datetime | None) -> None:
    text = metrics_text(figures_of("orders", newest=newest)).decode()
    assert ("newest_record" in text) == (newest is not None)


def test_no_group() -> None:
    families = text_string_to_metric_families(metrics_text(figures_of()).decode())
    assert sum(len(family.samples) for family in families) == 2
