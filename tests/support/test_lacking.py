"""What is missing on a machine is listed, and its tests fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import lacking
from tests.support.lacking import missing_clients
from tests.support.librdkafka_headers import lacking_for_c
from tools import browser, promtool, proofs


class Reporter:
    """Collects what a summary prints."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(f"[{title}]")

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.mark.heavy
def test_a_machine_without_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path / "clients"))
    monkeypatch.setattr(browser, "DOWNLOADED", tmp_path)
    monkeypatch.setattr(promtool, "FETCHED", tmp_path / "promtool")
    monkeypatch.delenv("CHROMIUM", raising=False)
    lacking_for_c.cache_clear()
    reporter = Reporter()
    lacking.pytest_terminal_summary(reporter)  # type: ignore[arg-type]
    lacking_for_c.cache_clear()
    head, coq, chromium, clients, skipped, root, headers, metrics = reporter.lines
    assert head == "[missing on this machine: its tests have failed]"
    assert coq.startswith("Coq (coqc, ocamlfind, ")
    assert coq.endswith("): make proofs")
    assert chromium == "a headless browser: make browser"
    assert "kafkajs@2.2.4" in clients  # needs Node
    assert clients.endswith("): make clients")
    assert skipped == "[missing on this machine: its tests were skipped]"
    assert root == "root, to run commands as another user"
    assert headers == "a C compiler (cc), for the reproducer in C"
    assert metrics == "promtool: make promtool"


def test_nothing_is_said_of_a_machine_with_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proofs, "missing", list)
    monkeypatch.setattr(browser, "find", lambda: Path("chromium"))
    monkeypatch.setattr(lacking, "missing_clients", list)
    monkeypatch.setattr(lacking, "lacking_for_containers", lambda: None)
    monkeypatch.setattr(lacking, "lacking_for_c", lambda: None)
    monkeypatch.setattr(promtool, "find", lambda: Path("promtool"))
    reporter = Reporter()
    lacking.pytest_terminal_summary(reporter)  # type: ignore[arg-type]
    assert reporter.lines == []


@pytest.mark.heavy
def test_clients_are_named_with_their_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path))
    assert {"franz-go@1.22.2", "aiokafka@0.14.0"} <= set(missing_clients())
