"""A strict reader of TAP version 14, as far as it is written here."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_POINT = re.compile(r"(not )?ok (\d+) - ((?:[^\\#\n]|\\[\\#])+)\Z")
_ENTRY = re.compile(r"  ([a-z]+): (.*)\Z")


class Point(NamedTuple):
    is_ok: bool
    name: str
    about: dict[str, Any]


def read_tap(text: str) -> list[Point]:
    """Read a stream; anything but version, points, diagnoses, and plan is an error."""
    assert text.endswith("\n")
    lines = text.splitlines()
    assert lines[0] == "TAP version 14"
    assert lines[-1] == f"1..{sum('ok ' in line[:7] for line in lines[1:-1])}"
    points: list[Point] = []
    body = iter(lines[1:-1])
    for line in body:
        if line == "  ---":
            assert points, "a diagnosis follows its test point"
            for entry in iter(lambda: next(body), "  ..."):
                found = _ENTRY.match(entry)
                assert found is not None, entry
                points[-1].about[found[1]] = json.loads(found[2])  # YAML contains JSON
            continue
        found = _POINT.match(line)
        assert found is not None, line
        assert int(found[2]) == len(points) + 1
        name = re.sub(r"\\(.)", r"\1", found[3])
        points.append(Point(found[1] is None, name, {}))
    return points
