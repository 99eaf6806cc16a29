"""Tables of a run of ``fuzz``: counts per family, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from conformance.runs import (
    Category,
    CategoryName,
    Finding,
    RepeatRecord,
    RunSummary,
    ShrunkRecord,
)
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine
from oracle.names import visible
from oracle.wording import counted
from rebalance import plain_of

REASON_SHOWN = 200
COMMAND_SHOWN = 400
_DIFFERS = Category.NONDETERMINISTIC.value  # counted without a detail
INSTANCE_SHOWN = 1_000


def fuzz_parts(
    findings: Sequence[Finding], summaries: Sequence[RunSummary]
) -> Iterator[Part]:
    """Lay out the counts, then one finding after the other, the worst first."""
    yield _counts(summaries)
    order = [category.value for category in Category]
    for finding in sorted(findings, key=lambda found: order.index(found.category)):
        yield TextLine("")
        yield from _finding(finding, summaries)


def subjects_parts(summaries: Sequence[Sequence[RunSummary]]) -> Iterator[Part]:
    """Lay out a row per assignor."""
    seen = _seen([summary for each in summaries for summary in each])
    rows: list[tuple[Cell, ...]] = [
        (
            visible(each[0].subject.name, limit=60),
            sum(summary.rebalances for summary in each),
            *(sum(summary.outcomes[name] for summary in each) for name in seen),
        )
        for each in summaries
    ]
    yield Sheet("all assignors", ("assignor", "rebalances", *seen), rows)


def short_counts(summaries: Sequence[RunSummary]) -> str:
    """Return the rebalances, and those of each category, in a line."""
    rebalances = sum(summary.rebalances for summary in summaries)
    parts = [
        f"{name} {sum(summary.outcomes[name] for summary in summaries):,}"
        for name in _seen(summaries)
    ]
    return ", ".join([counted(rebalances, "rebalance"), *parts])


def _seen(summaries: Sequence[RunSummary]) -> list[CategoryName]:
    names = summaries[0].outcomes
    return [
        name for name in names if any(summary.outcomes[name] for summary in summaries)
    ]


def _counts(summaries: Sequence[RunSummary]) -> Part:
    seen = _seen(summaries)
    rows: list[tuple[Cell, ...]] = [
        (summary.family, summary.rebalances, *(summary.outcomes[name] for name in seen))
        for summary in summaries
    ]
    if len(rows) > 1:
        total = [sum(summary.outcomes[name] for summary in summaries) for name in seen]
        rows.append(("all", sum(summary.rebalances for summary in summaries), *total))
    kind = "cooperative" if summaries[0].cooperative else "eager"
    title = f"{visible(summaries[0].subject.name, limit=REASON_SHOWN)} · {kind}"
    return Sheet(title, ("family", "rebalances", *seen), rows)


def _finding(finding: Finding, summaries: Sequence[RunSummary]) -> Iterator[Part]:
    kind = " ".join(part for part in (finding.category, finding.detail) if part)
    yield TextLine(visible(kind, limit=120), bold=True)
    if finding.place is not None:
        yield TextLine(f"in {visible(finding.place, limit=REASON_SHOWN)}")
    yield TextLine(f"seen: {_how_often(finding, summaries)}")
    case = finding.shrunk or finding
    if case.reason:
        yield TextLine(visible(case.reason, limit=REASON_SHOWN))
    if finding.shrunk is not None:
        yield TextLine(_how_shrunk(finding.shrunk))
    if case.repeats is not None:
        yield from map(_repeat, case.repeats)
    elif finding.shrunk is not None:
        instance = orjson.dumps(plain_of(case.instance)).decode()
        yield visible(instance, limit=INSTANCE_SHOWN)
    yield visible(finding.command, limit=COMMAND_SHOWN)


def _how_often(finding: Finding, summaries: Sequence[RunSummary]) -> str:
    """Return the families in which the same was seen, and in how many rebalances."""
    detail = None if finding.category == _DIFFERS else finding.detail
    wanted = (finding.category, detail or "", finding.place)
    return ", ".join(
        f"{summary.family} {mechanism.rebalances:,}"
        for summary in summaries
        for mechanism in summary.mechanisms or ()
        if (mechanism.category, mechanism.detail, mechanism.place) == wanted
    )


def _repeat(repeat: RepeatRecord) -> str:
    """Return the line that was sent, with the hash seed; its order can matter."""
    seed = repeat.hash_seed
    process = "as the run" if seed is None else f"hash seed {seed}"
    kind = "new process" if repeat.new else "process with a history"
    return f"{kind}, {process}: {visible(repeat.sent, limit=INSTANCE_SHOWN)}"


def _how_shrunk(shrunk: ShrunkRecord) -> str:
    partitions = sum(topic.partitions for topic in shrunk.instance.topics.values())
    members = counted(len(shrunk.instance.members), "member")
    parts = [f"{members}, {counted(partitions, 'partition')}"]
    parts += ["minimal" if shrunk.minimal else "not minimal"]
    if shrunk.seen is not None:
        k, n = shrunk.seen
        parts.append(f"flaky: seen {k} of {n}")
    return ", ".join(parts)
