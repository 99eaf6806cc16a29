"""The lines of `benchmarks.jvm` as Markdown: machine, fixed sizes, growth."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

Line = dict[str, Any]
KINDS: Final = {
    "equal": "equal subscriptions, 500 partitions a member, 1 % of the members joined",
    "mixed": "mixed subscriptions, 50 topics and 100 partitions a member, 1 % gone",
}
NOT_SLOWER: Final = ("range", "round-robin", "sticky")
GENERAL_RATIO: Final = 10
HEADLINE_MS: Final = 5
_TARGETS_HEAD: Final = ("| aim | CPU | wall | |", "| --- | ---: | ---: | --- |")
_HEAD: Final = (
    "assignor",
    "Java, first call",
    "Java, warmed",
    "Java, wall",
    "ours",
    "ours, wall",
    "assign alone",
    "Java ÷ ours",
)


def page_part(lines: Iterable[Line]) -> str:
    """Write all tables."""
    lines = merged(lines)
    parts = ["\n".join(_about(lines))]
    targets = list(_targets(lines))
    if targets:
        parts += ["### Targets", "\n".join([*_TARGETS_HEAD, *targets])]
    for name, rows in sorted(_by_case(lines).items()):
        if _kind(name) is None:
            parts += [f"### {name}: {rows[0]['about']}", "\n".join(_table(rows))]
    for kind, about in KINDS.items():
        grown = growth_of(lines, kind)
        if grown:
            parts += [f"### Growth: {about}", "\n".join(_growth(grown))]
    return "\n\n".join(parts) + "\n"


def merged(lines: Iterable[Line]) -> list[Line]:
    """Merge the runs per case and assignor: medians of times, all ratios.

    If Java was too slow or failed in a run, the merged line states this.
    """
    runs: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        runs[line["case"], line["ours"]].append(line)
    return [_merged(of_one) for of_one in runs.values()]


def _merged(runs: list[Line]) -> Line:
    line: Line = {}
    for run in runs:
        line |= run
    for key in line:
        if key.endswith("_ms"):
            line[key] = statistics.median(run[key] for run in runs if key in run)
    for clock in ("cpu", "wall"):
        line[f"{clock}_ratios"] = [
            run[f"java_{clock}_ms"] / run[f"whole_{clock}_ms"]
            for run in runs
            if f"java_{clock}_ms" in run
        ]
    line["runs"] = len(runs)
    return line


def _about(lines: list[Line]) -> Iterator[str]:
    runs = {
        (line["date"], line["machine"], line["versions"], line["kafka"], line["seed"])
        for line in lines
    }
    virtual = {(line["vm"], line["collector"]) for line in lines if "vm" in line}
    for date, machine, versions, kafka, seed in sorted(runs):
        yield f"Measured {date} on {machine}; {versions}; Kafka {kafka}; seed {seed}."
    for name, collector in sorted(virtual):
        yield f"{name}; {collector}."
    compared = [
        line["same_plan"] for line in lines if line.get("same_plan") is not None
    ]
    if compared:
        equal = sum(compared)
        yield f"Assignments compared with Java's: {len(compared)}; equal: {equal}."


def _targets(lines: list[Line]) -> Iterator[str]:
    """State per target by how much it was met or missed: Java's time ÷ ours."""
    found = {(line["case"], line["ours"]): line for line in lines}
    for name in NOT_SLOWER:
        for case in ("S1", "S2"):
            what = f"{name} at {case} no slower than Java"
            yield from _aim(what, found.get((case, name)), 1)
    for case in ("S3", "S5"):
        what = f"general sticky at {case} {GENERAL_RATIO} times as fast"
        yield from _aim(what, found.get((case, "sticky")), GENERAL_RATIO)
    headline = found.get(("S1", "constrained-sticky"))
    if headline is not None:
        cpu, wall = headline["whole_cpu_ms"], headline["whole_wall_ms"]
        met = _met(max(cpu, wall) <= HEADLINE_MS)
        what = f"KIP-615's headline case (S1) in {HEADLINE_MS} ms"
        yield f"| {what} | {_ms(cpu)} | {_ms(wall)} | {met} |"


def _aim(what: str, row: Line | None, least: float) -> Iterator[str]:
    if row is None:
        return
    if "java_over_s" in row:
        yield f"| {what} | {_ratio(row)} | | met |"
    elif row["cpu_ratios"]:
        cpu, wall = row["cpu_ratios"], row["wall_ratios"]
        met = _met(min(*cpu, *wall) >= least)
        yield f"| {what} | {_range(cpu)} | {_range(wall)} | {met} |"


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def growth_of(lines: list[Line], kind: str) -> list[Line]:
    """Return the lines of one kind of group; the largest equal one is S2."""
    cases = {kind, "S2"} if kind == "equal" else {kind}
    grown = [line for line in lines if line["case"].partition("-")[0] in cases]
    return grown if any(_kind(line["case"]) for line in grown) else []


def _kind(case: str) -> str | None:
    kind, _, size = case.partition("-")
    return kind if size and kind in KINDS else None


def _by_case(lines: list[Line]) -> dict[str, list[Line]]:
    cases: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        cases[line["case"]].append(line)
    return cases


def _table(rows: list[Line]) -> Iterator[str]:
    """Write the table of one size, one row per assignor."""
    yield f"| {' | '.join(_HEAD)} |"
    yield f"| --- {'| ---: ' * (len(_HEAD) - 1)}|"
    for row in rows:
        if "refuses" in row:
            cells = [*[""] * 3, "refuses", *[""] * 3]
        else:
            cells = [
                _ms(row.get("java_first_ms")),
                java_cell(row),
                _ms(row.get("java_wall_ms")),
                _ms(row["whole_cpu_ms"]),
                _ms(row["whole_wall_ms"]),
                _ms(row["assign_cpu_ms"]),
                _ratio(row),
            ]
        yield f"| {row['ours']} | {' | '.join(cells)} |"


def java_cell(row: Line) -> str:
    """Format Java's time, or why there is none."""
    if "java_over_s" in row:
        return f"over {row['java_over_s']:g} s"
    if "java_not_run" in row:
        return "not run"
    if "java_error" in row:
        return "fails"
    return _ms(row.get("java_cpu_ms"))


def _ratio(row: Line) -> str:
    if "java_over_s" in row:
        least = row["java_over_s"] * 1e3 / row["whole_cpu_ms"]
        return f"> {least:,.0f}"
    return _range(row["cpu_ratios"])


def _range(ratios: list[float]) -> str:
    """Format the least and the largest ratio of all runs as a range."""
    ends = [f"{ratio:,.1f}" for ratio in (min(ratios), max(ratios))] if ratios else [""]
    return "–".join(dict.fromkeys(ends))


def _ms(time: float | None) -> str:
    """Format milliseconds with three significant digits."""
    if time is None:
        return ""
    if time >= 1000:
        return f"{time / 1000:.3g} s" if time < 1e6 else f"{time / 1000:,.0f} s"
    return f"{time:.3g} ms"


def _growth(rows: list[Line]) -> Iterator[str]:
    """Write the table of a kind of group: one row per assignor and side."""
    sizes = sorted({row["partitions"] for row in rows})
    yield f"| partitions | {' | '.join(f'{size:,}' for size in sizes)} | ns each |"
    yield f"| --- {'| ---: ' * (len(sizes) + 1)}|"
    by_assignor: dict[str, dict[int, Line]] = defaultdict(dict)
    for row in rows:
        by_assignor[row["ours"]][row["partitions"]] = row
    for name, found in by_assignor.items():
        if any(row["java"] for row in found.values()):
            yield _growth_row(f"{name}, Java", sizes, found, "java_cpu_ms")
        if any("whole_cpu_ms" in row for row in found.values()):
            yield _growth_row(name, sizes, found, "whole_cpu_ms")


def _growth_row(
    label: str, sizes: list[int], found: dict[int, Line], field: str
) -> str:
    """Format times with ratios to the previous size, and the time per partition."""
    cells, before, each = [], None, ""
    for size in sizes:
        row = found.get(size, {})
        now = row.get(field)
        if now is None:
            is_java = field == "java_cpu_ms"
            cells.append(java_cell(row) if is_java and row else "")
        else:
            ratio = f" ({now / before:.2f})" if before else ""
            cells.append(_ms(now) + ratio)
            each = f"{now * 1e6 / size:,.0f}"
        before = now
    return f"| {label} | {' | '.join(cells)} | {each} |"
