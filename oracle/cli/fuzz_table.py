"""Tables of a run of ``fuzz``: counts per family, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from conformance.runs import Category, Finding, RunSummary
from oracle.cli.tables import Cell, table_of
from oracle.names import visible

REASON_SHOWN = 200
COMMAND_SHOWN = 400


def fuzz_parts(
    findings: Sequence[Finding], summaries: Sequence[RunSummary]
) -> Iterator[RenderableType]:
    """Lay out the counts, then one finding after the other, the worst first."""
    yield _counts(summaries)
    order = [category.value for category in Category]
    for finding in sorted(findings, key=lambda one: order.index(one.category)):
        yield Text("")
        yield from _finding(finding)


def _counts(summaries: Sequence[RunSummary]) -> RenderableType:
    seen = [
        name
        for name in summaries[0].outcomes
        if any(one.outcomes[name] for one in summaries)
    ]
    rows: list[tuple[Cell, ...]] = [
        (one.family, one.rebalances, *(one.outcomes[name] for name in seen))
        for one in summaries
    ]
    if len(rows) > 1:
        total = [sum(one.outcomes[name] for one in summaries) for name in seen]
        rows.append(("all", sum(one.rebalances for one in summaries), *total))
    kind = "cooperative" if summaries[0].cooperative else "eager"
    title = f"{visible(summaries[0].subject.name, limit=REASON_SHOWN)} · {kind}"
    return table_of(title, ("family", "rebalances", *seen), rows)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    kind = " ".join(part for part in (finding.category, finding.detail) if part)
    yield Text(f"{finding.family} · {visible(kind, limit=120)}", style="bold")
    if finding.reason:
        yield Text(visible(finding.reason, limit=REASON_SHOWN))
    yield Text(visible(finding.command, limit=COMMAND_SHOWN))
