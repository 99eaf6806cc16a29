"""Small HTML tables, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Final

MOST_ROWS: Final = 30


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], *, count: int
) -> str:
    """Return a table of at most `MOST_ROWS` of ``count`` rows; numbers are aligned."""
    shown = [_row(row) for row in islice(rows, MOST_ROWS)]
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    rest = f"<p>… and {count - MOST_ROWS:,} more</p>" if count > MOST_ROWS else ""
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{names}</tr></thead><tbody>{''.join(shown)}</tbody></table>{rest}"
    )


def _row(values: Sequence[object]) -> str:
    return f"<tr>{''.join(map(_cell, values))}</tr>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td style="text-align: right">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
