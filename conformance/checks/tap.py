"""Write checks in the Test Anything Protocol, version 14 (testanything.org)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from conformance.checks.check import Check
from conformance.runs import Requirement


@dataclass(slots=True, kw_only=True)
class TapReport:
    """A stream of test points, one per check; the plan comes last.

    Attributes
    ----------
    write : callable
        Receives the text, line by line.
    """

    write: Callable[[str], None]
    requirement: Requirement
    _points: int = field(default=0)

    def __post_init__(self) -> None:
        self.write("TAP version 14\n")

    def add(self, subject: str, check: Check) -> None:
        """Write one test point; one that is not ok has its diagnosis."""
        passes = check.passes(self.requirement)
        about = {
            "result": check.result,
            "reasons": check.reasons,
            "rebalance": check.outcome.rounds[0].rebalance,
        }
        name = f"{subject} / {check.part} / {check.name}"
        self._point(name, is_ok=passes, about={} if passes else about)

    def not_run(self, subject: str, reason: str) -> None:
        """Write a test point that is not ok, for checks that were not made."""
        about = {"result": "not-run", "reasons": [reason]}
        self._point(f"{subject} / not run", is_ok=False, about=about)

    def end(self) -> None:
        """Write the plan."""
        self.write(f"1..{self._points}\n")

    def _point(self, name: str, *, is_ok: bool, about: dict[str, Any]) -> None:
        self._points += 1
        self.write(f"{'ok' if is_ok else 'not ok'} {self._points} - {_escaped(name)}\n")
        if about:
            lines = (f"  {key}: {_yaml(value)}\n" for key, value in about.items())
            self.write(f"  ---\n{''.join(lines)}  ...\n")


def _escaped(text: str) -> str:
    r"""Escape what would start a directive: ``\`` and ``#``; one line."""
    one_line = " ".join(text.split())
    return one_line.replace("\\", "\\\\").replace("#", "\\#")


def _yaml(value: object) -> str:
    """Write a value as JSON, which YAML contains."""
    return json.dumps(value, separators=(", ", ": "))
