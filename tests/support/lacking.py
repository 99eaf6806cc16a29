"""Pytest plugin: list the programs that heavy tests need and this machine lacks.

Their tests fail, each with its reason: what was not tested never counts as passed. The
tests that run commands as another user are skipped without root, that of a container's
command also without mounts, the reproducer in C without librdkafka's headers, and that
of the metrics without promtool; all of them are listed as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.clients import MissingClientError, all_client_assignors
from tests.support.containers import lacking_for_containers
from tests.support.librdkafka_headers import lacking_for_c
from tools import browser, promtool, proofs


def lacking() -> Iterator[str]:
    """Yield what is missing, with the command that installs it or states why not."""
    if programs := proofs.missing():
        yield f"Coq ({', '.join(programs)}): make proofs"
    if browser.find() is None:
        yield "a headless browser: make browser"
    if clients := sorted(set(missing_clients())):
        yield f"clients ({', '.join(clients)}): make clients"


def missing_clients() -> Iterator[str]:
    """Yield the clients whose programs are not built, which needs Go, Node, or Java."""
    for client in all_client_assignors():
        if client.kind == "adapter":
            try:
                client.program()
            except MissingClientError:
                yield f"{client.client}@{client.version}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if found := list(lacking()):
        terminalreporter.section("missing on this machine: its tests have failed")
        for line in found:
            terminalreporter.line(line)
    lacking_promtool = None if promtool.find() else "promtool: make promtool"
    skipped = (lacking_for_containers(), lacking_for_c(), lacking_promtool)
    if reasons := [*filter(None, skipped)]:
        terminalreporter.section("missing on this machine: its tests were skipped")
        for reason in reasons:
            terminalreporter.line(reason)
