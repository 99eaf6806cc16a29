"""docs/actions.md has the settings of all clients, from their data.

Reaches into `oracle.report.client_settings` to compare its data. ``make snapshots``
renews the page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from oracle.report.client_settings import CLIENTS, ConsumerSettings, SettingChange

PAGE = Path(__file__).resolve().parents[2] / "docs" / "actions.md"
START, END = "<!-- settings: start -->\n", "<!-- settings: end -->\n"
COLUMNS = 100
PRESENT = {"kafkajs": None, "platformatic-kafka": "roundrobin"}
"""Assignors to start from, where it is not ``range``."""


def test_the_page_has_the_settings_of_all_clients() -> None:
    text = PAGE.read_text("utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    written = "\n".join(line for client in CLIENTS.values() for line in section(client))
    page = f"{before}{START}\n{written}{END}{after}"
    if os.environ.get("ORACLE_RENEW") == "1":
        PAGE.write_text(page, "utf-8")
    assert page == PAGE.read_text("utf-8")


def section(client: ConsumerSettings) -> Iterator[str]:
    """Yield the lines about a client."""
    ids = ", ".join(f"`{text}`" for text in client.client_ids) or "none"
    yield f"### {client.title}\n"
    yield item(f"client ids: {ids}")
    if client.own_assignors:
        yield item(f"names its assignor: {', '.join(map(code, client.own_assignors))}")
    if client.assignors:
        yield item(f"assignors: {', '.join(map(code, client.assignors))}")
    yield item(f"sources: {'; '.join(client.sources)}") + "\n"
    present = PRESENT.get(client.name, "range")
    shown = next(iter(client.targets), None)
    if shown is not None and client.targets[shown] != present:
        yield from steps(present, client.change(present, shown))
    if client.remote:
        yield from steps("server-range", client.change(None, "uniform"))


def steps(present: str | None, change: SettingChange) -> Iterator[str]:
    """Yield the steps of a change."""
    before = f" from {code(present)}" if present else ""
    yield f"To {code(change.assignor)}{before}:\n"
    for step in change.steps:
        yield f"{step.says}:\n\n```text\n{step.setting}\n```\n"
    if change.note:
        yield fill(change.note, COLUMNS, break_on_hyphens=False) + "\n"


def item(text: str) -> str:
    """Return an item of a list, wrapped."""
    return fill(f"- {text}", COLUMNS, subsequent_indent="  ", break_on_hyphens=False)


def code(name: str) -> str:
    return f"`{name}`"
