"""Write checks in the Test Anything Protocol, version 14 (testanything.org)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.checks.check import Check
from conformance.checks.diagnosis import (
    LONGEST,
    CommandOf,
    diagnosis,
    shown_repeats,
)
from conformance.runs import Category, Requirement

_UNPRINTABLE: Final = re.compile(
    r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Not printable in YAML 1.2, or a line break for some readers."""


@dataclass(slots=True, kw_only=True)
class TapReport:
    """A stream of test points, one per check; the plan comes last.

    Attributes
    ----------
    write : callable
        Receives the text, line by line.
    command : callable
        Returns the command that repeats a check.
    longest : int or None
        Characters from which a document is cut; None: never.
    """

    write: Callable[[str], None]
    requirement: Requirement
    command: CommandOf
    longest: int | None = LONGEST
    _points: int = field(default=0)

    def __post_init__(self) -> None:
        self.write("TAP version 14\n")

    def add(self, subject: str, check: Check) -> None:
        """Write one test point; one that is not ok has its diagnosis.

        So has one that is slow, or has a note, in short.
        """
        name = f"{subject} / {check.part} / {check.name}"
        passes = check.passes(self.requirement)
        about: dict[str, Any] = {}
        if not passes:
            command = self.command(subject, check)
            about = diagnosis(check, command, longest=self.longest)
        elif check.result == Category.SLOW.value or check.notes:
            about = {"result": check.result, "reasons": check.reasons}
            if check.notes:
                about |= {
                    "notes": check.notes,
                    "repeats": shown_repeats(check, longest=self.longest),
                    "command": self.command(subject, check),
                }
        self._point(name, is_ok=passes, about=about)

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
    r"""Escape characters that would start a directive: ``\`` and ``#``; one line."""
    one_line = " ".join(text.split())
    return one_line.replace("\\", "\\\\").replace("#", "\\#")


def _yaml(value: object) -> str:
    """Write a value as JSON, which YAML 1.2 contains, on one line.

    Characters beyond the basic plane stand as they are: an escape of JSON would be a
    pair of surrogates, which are not characters in YAML.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    return _UNPRINTABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    is_surrogate = 0xD800 <= code <= 0xDFFF  # alone, no character
    return r"\ufffd" if is_surrogate else f"\\u{code:04x}"
