"""Tables of the results page, from a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks.quality.assignor_order import MARK, marked, ranked, refusals
from benchmarks.quality.study_plan import COUNT
from conformance.runs import SAFETY, Category

Line = dict[str, Any]
Cells = Sequence[str]

SHORT: Final = 16
"""Digits of a digest that tables show."""
HEADINGS: Final = {
    "reference": "### With {reference}",
    "version": "### Versions of a client",
    "ours": "### Assignors of this project with those that they follow",
}
ABOUT: Final = {
    "reference": "Each assignor minus `{reference}`, on the same instances.",
    "version": "The newer version minus the older one.",
    "ours": "Ours minus Kafka's.",
}


def results_part(lines: Sequence[Line], *, pictures: str) -> str:
    """Return the generated part of the page.

    Parameters
    ----------
    pictures : str
        Folder of the figures, relative to the page.
    """
    study = lines[0]
    assignors = [line for line in lines if "assignor" in line]
    pairs = [line for line in lines if "pair" in line]
    best_first = ranked(assignors)
    parts = [
        _about(study, assignors),
        "## Totals",
        UNITS,
        _table(TOTALS, (_totals(line) for line in best_first)),
        *_notes(study, assignors),
        f"![Outcomes of every assignor]({pictures}/outcomes.svg)",
        "## Optimal answers by family",
        "Per cent of the instances of the family.",
        _by_family(study, best_first),
        "## Answers that are not valid",
        _failures(assignors),
        "## Paired differences",
        PAIRED,
        f"![Paired differences from {study['reference']}]({pictures}/differences.svg)",
    ]
    for kind, heading in HEADINGS.items():
        rows = [_difference(line) for line in pairs if line["pair"] == kind]
        if rows:
            values = {"reference": study["reference"]}
            parts += [heading.format(**values), ABOUT[kind].format(**values)]
            parts.append(_table(DIFFERENCE, rows))
    parts += ["## Digests", *_digests(study, assignors)]
    return "\n\n".join(part for part in parts if part) + "\n"


UNITS: Final = (
    "Families have equal weight. Shares are per cent of the instances; the mean gap in "
    "spread is in partitions, that in moves per 100 partitions, both of valid answers. "
    "An answer that is less balanced than the optimum can have fewer moves. 95 % "
    "intervals in brackets."
)
PAIRED: Final = (
    "Differences in percentage points (valid, optimal), partitions (spread), and moves "
    "per 100 partitions. *Better* and *worse* count the instances on which only the "
    "first, or only the second, is optimal."
)
TOTALS: Final = (
    "assignor", "valid", "KIP-54", "dec-min", "optimal", "spread", "moves"
)  # fmt: skip
DIFFERENCE: Final = (
    "assignors", "instances", "better", "worse", "valid", "optimal", "spread", "moves"
)  # fmt: skip


def _about(study: Line, assignors: Sequence[Line]) -> str:
    families = study["families"]
    instances = sum(row["instances"] for row in families.values())
    records = sum(
        row["records"] for line in assignors for row in line["families"].values()
    )
    text = (
        f"Version {study['version']} of this project, {study['date']}: "
        f"**{instances:,} instances** of {len(families)} families "
        f"({study['count']:,} per family, {study['seeds']} seeds), answered by "
        f"{len(assignors)} assignors: {records:,} records."
    )
    if study["count"] < COUNT:
        text += (
            f" **This is a small run**: {study['count']:,} instances per family, not "
            f"the {COUNT:,} of the protocol. The intervals state what that costs."
        )
    return text


def _totals(line: Line) -> Cells:
    total = line["total"]
    return (
        _named(line),
        *(_percent(total[name]) for name in ("valid", "kip54", "balanced")),
        _percent(total["optimal"], bold=True),
        _number(total.get("spread_gap")),
        _number(total.get("moves_gap")),
    )


def _named(line: Line) -> str:
    name, mark, _ = marked(line).partition(MARK)
    return f"`{name}`{mark}"


def _sum(line: Line, key: str) -> int:
    return sum(row[key] for row in line["families"].values())


def _notes(study: Line, assignors: Sequence[Line]) -> Iterator[str]:
    """Yield the measures that do not cover all instances, and why."""
    whole = {family: row["instances"] for family, row in study["families"].items()}
    partly = [
        f"- `{line['assignor']}` † applies to {_sum(line, 'n'):,} of "
        f"{_sum(line, 'records'):,} instances."
        for line in assignors
        if refusals(line)
    ]
    cut = [
        f"- `{line['assignor']}` answered {row['records']:,} of {whole[family]:,} "
        f"instances of `{family}` in {study['family_seconds']:g} s."
        for line in assignors
        for family, row in line["families"].items()
        if row["records"] < whole[family]
    ]
    if partly:
        yield "Algorithms that refuse instances are measured on the others (†):"
        yield "\n".join(partly)
    if cut:
        yield "Assignors that were too slow to answer all, and answered the first ones:"
        yield "\n".join(cut)
    else:
        yield "Every assignor answered all instances."


def _by_family(study: Line, assignors: Sequence[Line]) -> str:
    families = list(study["families"])
    rows = []
    for line in assignors:
        cells = [line["families"][family].get("optimal") for family in families]
        shown = ["–" if cell is None else f"{100 * cell[1]:.1f}" for cell in cells]
        rows.append((_named(line), *shown))
    return _table(("assignor", *families), rows)


def _failures(assignors: Sequence[Line]) -> str:
    names = [category.value for category in (*SAFETY, Category.SLOW)]
    counts: dict[str, dict[str, int]] = {}
    for line in assignors:
        for row in line["families"].values():
            for name, number in row["outcomes"].items():
                if name in names:
                    found = counts.setdefault(line["assignor"], {})
                    found[name] = found.get(name, 0) + number
    seen = {name for found in counts.values() for name in found}
    shown = sorted(seen)
    if not shown:
        return "Every answer is valid."
    rows = [
        (
            f"`{name}`",
            *(f"{found[fault]:,}" if fault in found else "" for fault in shown),
        )
        for name, found in counts.items()
    ]
    return _table(("assignor", *shown), rows)


def _difference(line: Line) -> Cells:
    total = line["total"]
    return (
        f"`{line['first']}` − `{line['second']}`"
        if line["pair"] != "reference"
        else f"`{line['first']}`",
        *(f"{total[name]:,}" for name in ("n", "better", "worse")),
        *(_number(_times(total.get(name), 100)) for name in ("valid", "optimal")),
        *(_number(total.get(name)) for name in ("spread_gap", "moves_gap")),
    )


def _digests(study: Line, assignors: Sequence[Line]) -> Iterator[str]:
    yield f"Instances: `{study['instances']}`"
    yield _table(
        ("family", "instances", "members", "partitions", "digests of the seeds"),
        (
            (
                f"`{family}`",
                f"{row['instances']:,}",
                f"{row['members']:.1f}",
                f"{row['partitions']:.1f}",
                " ".join(f"`{digest[:SHORT]}`" for digest in row["digests"].values()),
            )
            for family, row in study["families"].items()
        ),
    )
    yield (
        "Records, without times. A rerun has the same digest where the assignor is "
        "deterministic and answered all instances."
    )
    yield _table(
        ("assignor", "deterministic", "digest of the records"),
        (
            (
                f"`{line['assignor']}`",
                "yes" if line["deterministic"] else "no",
                f"`{line['records']}`",
            )
            for line in assignors
        ),
    )


def _percent(interval: Sequence[float], *, bold: bool = False) -> str:
    mean, low, high = (100 * value for value in interval)
    shown = f"**{mean:.1f}**" if bold else f"{mean:.1f}"
    return f"{shown} [{low:.1f}, {high:.1f}]"


def _number(interval: Sequence[float] | None) -> str:
    if interval is None:
        return "–"
    mean, low, high = (
        f"{value + 0.0:.2f}".replace("-0.00", "0.00") for value in interval
    )
    return f"{mean} [{low}, {high}]".replace("-", "−")


def _times(interval: Sequence[float] | None, factor: float) -> list[float] | None:
    return None if interval is None else [factor * value for value in interval]


def _table(heads: Sequence[str], rows: Iterator[Cells] | Sequence[Cells]) -> str:
    def line(cells: Cells) -> str:
        return f"| {' | '.join(cells)} |"

    rule = ["---", *("---:" for _ in heads[1:])]
    return "\n".join([line(heads), line(rule), *map(line, rows)])
