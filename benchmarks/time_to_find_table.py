"""The lines of `benchmarks.time_to_find` as a table of the page on conformance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
OUT: Final = ROOT / "docs" / "data" / "time-to-find.jsonl"
PAGE: Final = ROOT / "docs" / "conformance.md"
BEGIN: Final = "<!-- by python -m benchmarks.time_to_find --write -->"
END: Final = "<!-- end of time to find -->"
FIRST: Final = 11  # the seed in the column of its own

Line = dict[str, Any]


def read_lines(file: Path = OUT) -> list[Line]:
    """Return the lines of a record; none if there is no file."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def write_page(lines: Sequence[Line], wanted: Mapping[str, Sequence[str]]) -> None:
    """Replace the table between its marks."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, "the page has no marks"
    PAGE.write_text(
        f"{before}{BEGIN}\n{part(lines, wanted)}{END}{after}", encoding="utf-8"
    )


def part(lines: Sequence[Line], wanted: Mapping[str, Sequence[str]]) -> str:
    """Return the table: a row per version and finding that it has."""
    rows = sorted((subject, name) for subject in wanted for name in wanted[subject])
    head = (
        "| client | finding | seed 11: seconds | of | rebalances | family, draw | "
        "found of other seeds | their seconds |"
    )
    rule = "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |"
    return "\n".join([head, rule, *(_row(lines, *row) for row in rows)]) + "\n"


def _row(lines: Iterable[Line], subject: str, finding: str) -> str:
    mine = [
        line
        for line in lines
        if (line["subject"], line["finding"]) == (subject, finding)
    ]
    first = next((line for line in mine if line["seed"] == FIRST), None)
    others = [line for line in mine if line["seed"] != FIRST]
    hits = sorted(line["seconds"] for line in others if line["found"])
    seconds = ", ".join(f"{hit:.0f}" for hit in hits) or "–"
    of = f"{len(hits)} of {len(others)}" if others else "not run"
    link = f"[{finding}](findings/{finding}.md)"
    return f"| {subject} | {link} | {_first(first)} | {of} | {seconds} |"


def _first(line: Line | None) -> str:
    if line is None:
        return "not run | – | – | –"
    limit = line["limit_s"]
    if not line["found"]:
        return f"not found | {limit} | – | –"
    draw = f"{line['assignor']}: `{line['family']}`, {line['index']}"
    rebalances = line["rebalances"]
    count = "–" if rebalances is None else f"{rebalances:,}"
    return f"{line['seconds']:.0f} | {limit} | {count} | {draw}"
