"""Tables of a run of ``fuzz``: counts per family, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from conformance.runs import Category, Finding, RunSummary, ShrunkRecord
from oracle.cli.parts import Cell, Line, Part
from oracle.cli.tables import table_of
from oracle.names import visible
from oracle.wording import counted
from rebalance import plain_of

REASON_SHOWN = 200
COMMAND_SHOWN = 400
INSTANCE_SHOWN = 1_000


def fuzz_parts(
    findings: Sequence[Finding], summaries: Sequence[RunSummary]
) -> Iterator[Part]:
    """Lay out the counts, then one finding after the other, the worst first."""
    yield _counts(summaries)
    order = [category.value for category in Category]
    for finding in sorted(findings, key=lambda one: order.index(one.category)):
        yield Line("")
        yield from _finding(finding)


def _counts(summaries: Sequence[RunSummary]) -> Part:
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


def _finding(finding: Finding) -> Iterator[Part]:
    kind = " ".join(part for part in (finding.category, finding.detail) if part)
    yield Line(f"{finding.family} · {visible(kind, limit=120)}", bold=True)
    case = finding.shrunk or finding
    if case.reason:
        yield Line(visible(case.reason, limit=REASON_SHOWN))
    if finding.shrunk is not None:
        yield Line(_how_shrunk(finding.shrunk))
        instance = orjson.dumps(plain_of(case.instance)).decode()
        yield visible(instance, limit=INSTANCE_SHOWN)
    yield visible(finding.command, limit=COMMAND_SHOWN)


def _how_shrunk(shrunk: ShrunkRecord) -> str:
    partitions = sum(one.partitions for one in shrunk.instance.topics.values())
    members = counted(len(shrunk.instance.members), "member")
    parts = [f"{members}, {counted(partitions, 'partition')}"]
    parts += ["minimal" if shrunk.minimal else "not minimal"]
    if shrunk.seen is not None:
        k, n = shrunk.seen
        parts.append(f"flaky: seen {k} of {n}")
    return ", ".join(parts)
