"""Changes between two audits, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.audit_diff import AuditDiff, news_of
from oracle.cli.printing.parts import Part, TextLine
from oracle.names import visible
from oracle.report.news import NewsLine

NOTHING = "Nothing is new."


def diff_parts(diff: AuditDiff) -> Iterator[Part]:
    """Lay out the periods, the lines of each part, and the limits."""
    news = news_of(diff)
    yield TextLine(f"{news.compared}.")
    for part in news.parts:
        yield TextLine("")
        yield TextLine(f"{part.title}:", bold=True)
        yield from (TextLine(f"- {_text(line)}") for line in part.lines)
        if part.more:
            yield TextLine(f"- … and {part.more:,} more (--json: all)")
    if not news.parts:
        yield TextLine(NOTHING)
    if news.notes:
        yield TextLine("")
    yield from (TextLine(f"Note: {note}.") for note in news.notes)


def _text(line: NewsLine) -> str:
    assignors = " → ".join(map(visible, line.assignors))
    more = f", assignor {assignors}" if assignors else ""
    return f"{visible(line.group)}: {line.words}{more}"
