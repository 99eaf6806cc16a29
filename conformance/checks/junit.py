"""Write checks as JUnit XML, the report that CI servers read.

There is no standard; elements and attributes are those that Apache Ant's formatter
introduced and that Jenkins and Surefire share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.checks.check import Check
from conformance.checks.diagnosis import (
    LONGEST,
    CommandOf,
    diagnosis,
    shown_repeats,
)
from conformance.runs import Category, Requirement

_FAILURE, _ERROR = "failure", "error"
_ERRORS: Final = frozenset(
    category.value for category in (Category.HANG, Category.CRASH, Category.ERROR)
)
_FORBIDDEN: Final = re.compile(
    r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(slots=True, kw_only=True)
class JunitReport:
    """One test suite per subject and part, one test case per check.

    Attributes
    ----------
    write : callable
        Receives the document at the end, UTF-8.
    command : callable
        Returns the command that repeats a check.
    longest : int or None
        Characters from which a document is cut; None: never.
    """

    write: Callable[[bytes], object]
    requirement: Requirement
    command: CommandOf
    longest: int | None = LONGEST
    _suites: dict[tuple[str, str], Element] = field(default_factory=dict)

    def add(self, subject: str, check: Check) -> None:
        """Add one test case: an error without an answer, a failure if it is wrong."""
        case = self._case(subject, check.part, check.name)
        if check.passes(self.requirement):
            said = list(check.notes)
            if check.result == Category.SLOW.value:
                said.insert(0, f"slow: {'; '.join(check.reasons)}")
            if check.notes:
                repeats = shown_repeats(check, longest=self.longest)
                said += _lines({"repeats": repeats})
                said.append(f"command: {self.command(subject, check)}")
            if said:
                SubElement(case, "system-out").text = _clean("\n".join(said))
            return
        kind = _ERROR if check.result in _ERRORS else _FAILURE
        command = self.command(subject, check)
        about = diagnosis(check, command, longest=self.longest)
        text = "\n".join((*check.reasons, *_lines(about)))
        self._fault(case, kind, check.result, "; ".join(check.reasons), text)

    def not_run(self, subject: str, reason: str) -> None:
        """Add an error, for checks that were not made."""
        case = self._case(subject, "not run", subject)
        self._fault(case, _ERROR, "not-run", reason, reason)

    def end(self) -> None:
        """Write the document."""
        self.write(self._to_xml())

    def _to_xml(self) -> bytes:
        root = Element("testsuites", name="conform")
        for (subject, part), suite in self._suites.items():
            faults = {
                kind: len(suite.findall(f"*/{kind}")) for kind in (_FAILURE, _ERROR)
            }
            suite.attrib |= {
                "name": _clean(f"{subject} / {part}"),
                "tests": str(len(suite)),
                "failures": str(faults[_FAILURE]),
                "errors": str(faults[_ERROR]),
                "skipped": "0",
            }
            root.append(suite)
        for count in ("tests", "failures", "errors"):
            root.set(count, str(sum(int(suite.attrib[count]) for suite in root)))
        indent(root)
        text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
        return text + b"\n"

    def _case(self, subject: str, part: str, name: str) -> Element:
        suite = self._suites.setdefault((subject, part), Element("testsuite"))
        class_name = _clean(f"{subject}.{part}")
        return SubElement(
            suite, "testcase", {"classname": class_name, "name": _clean(name)}
        )

    def _fault(
        self, case: Element, kind: str, result: str, message: str, text: str
    ) -> None:
        about = {"type": result, "message": _clean(message)}
        SubElement(case, kind, about).text = _clean(text)


def _lines(about: dict[str, Any]) -> Iterator[str]:
    """Yield a line per entry; those that elements have already are left out."""
    for key, value in about.items():
        if key not in {"result", "reasons"}:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{key}: {text}"


def _clean(text: str) -> str:
    """Replace characters that XML 1.0 cannot contain, such as control characters."""
    return _FORBIDDEN.sub("\ufffd", text)
