"""The runs of `benchmarks.lag` as Markdown: machine, versions, and tables."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

Line = dict[str, Any]
PROVED = "optimal"
PLAIN = ("cp-sat", "highs")
_HEAD = (
    "lag",
    "engine",
    "runs",
    "proved",
    "by terms",
    "gap, median",
    "gap, largest",
    "wall s, median",
    "wall s, largest",
    "CPU s, largest",
    "MiB",
)


def page_part(lines: Iterable[Line]) -> str:
    """Write the setting, the totals of our runs, and one table per size."""
    lines = list(lines)
    bounds = _bounds(lines)
    parts = ["\n".join(_about(lines))]
    sizes: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        sizes[line["size"], line["topics"]].append(line)
    for (size, topics), rows in sizes.items():
        limit = max(row["limit_s"] for row in rows if row["assignor"] == "ours")
        over = "1 topic" if topics == 1 else f"{topics} topics"
        title = f"### {size.replace('x', ' × ')}, {over} (limit {limit:g} s)"
        parts += [title, "\n".join(_table(rows, bounds))]
    return "\n\n".join(parts) + "\n"


def _bounds(lines: list[Line]) -> dict[str, int]:
    """Return the largest proved bound per instance."""
    found: dict[str, int] = defaultdict(int)
    for line in lines:
        found[line["instance"]] = max(found[line["instance"]], line["bound"] or 0)
    return found


def _about(lines: list[Line]) -> Iterator[str]:
    ours = [line for line in lines if line["assignor"] == "ours"]
    limits = {line["limit_s"] for line in lines if line["assignor"] in PLAIN}
    stated = sorted(
        {(line["date"], line["machine"], line["versions"]) for line in lines}
    )
    for date, machine, versions in stated:
        yield f"Measured {date} on {machine}; {versions}."
    proved = sum(map(_is_proved, ours))
    bounds = _bounds(lines)
    largest = max((_gap(line, bounds) for line in ours), default=0.0)
    by_terms = sum(line["rests_on"] == "terms" for line in ours if _is_proved(line))
    yield (
        f"{len(ours)} runs of ours, {proved} proved, {by_terms} of them by terms that "
        f"the judge added up again and the rest by search; largest gap {largest:.4%}."
    )
    yield "Seeds from 0 on, as many as there are runs."
    if limits:
        limits_text = " or ".join(f"{limit:g} s" for limit in sorted(limits))
        yield (
            f"Plain programs had {limits_text} each, on one topic and up to 200 "
            "partitions; HiGHS ran without presolve, which loses optima in 1.13 and "
            "1.14."
        )


def _is_proved(line: Line) -> bool:
    return bool(line["status"] == PROVED)


def _table(lines: list[Line], bounds: dict[str, int]) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield f"| --- | --- {'| ---: ' * (len(_HEAD) - 2)}|"
    groups: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line["draw"], line["assignor"]].append(line)
    for (draw, engine), rows in groups.items():
        gaps = [_gap(row, bounds) for row in rows]
        proved = [row for row in rows if _is_proved(row)]
        by_terms = sum(row["rests_on"] == "terms" for row in proved)
        cells = (
            draw,
            engine,
            str(len(rows)),
            "" if engine in ("greedy", "swaps") else f"{len(proved) / len(rows):.0%}",
            f"{by_terms / len(rows):.0%}" if engine == "ours" else "",
            _shown(statistics.median(gaps)),
            _shown(max(gaps)),
            f"{statistics.median(row['wall_s'] for row in rows):.2f}",
            f"{max(row['wall_s'] for row in rows):.2f}",
            f"{max(row['cpu_s'] for row in rows):.2f}",
            str(max(row["mebibytes"] for row in rows)),
        )
        yield f"| {' | '.join(cells)} |"


def _gap(row: Line, bounds: dict[str, int]) -> float:
    bound = bounds[row["instance"]]
    if row["objective"] is None:
        return float("inf")
    return float((row["objective"] - bound) / bound) if bound else 0.0


def _shown(gap: float) -> str:
    if gap == float("inf"):
        return "no answer"
    return "0" if gap == 0 else f"{gap:.4%}" if gap < 1 else f"{gap:.0%}"
