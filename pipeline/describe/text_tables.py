"""Parser of the tables in ``kafka-consumer-groups --describe``, of any version.

Cells are aligned with their headings: column widths follow the longest value (in UTF-16
units, as in Java), so names with spaces and empty cells are unambiguous. In a column of
fixed width, a longer value shifts the rest of the row to the right; such a row is split
into words, whose number must equal that of the headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from pipeline.describe.messages import Note, note_of
from pipeline.sources.lines import Line


class Form(Enum):
    """Subject of a table."""

    OFFSETS = "offsets"  # the plain form: one row per partition
    MEMBERS = "members"  # --members, also with --verbose
    STATE = "state"  # --state


_HEADING: Final = re.compile(r"COORDINATOR \(ID\)|\S+")
_LEADING: Final = {
    Form.OFFSETS: ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    Form.MEMBERS: ("CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
    Form.STATE: ("STATE", "#MEMBERS"),
}
_NEEDED: Final = {
    Form.OFFSETS: ("GROUP", "TOPIC", "PARTITION", "LAG", "CONSUMER-ID", "HOST"),
    Form.MEMBERS: ("GROUP", "CONSUMER-ID", "HOST", "#PARTITIONS"),
    Form.STATE: ("GROUP", "STATE", "#MEMBERS"),
}
"""Columns that are never empty."""
_COORDINATOR: Final = "COORDINATOR (ID)"
_CUT: Final = "the text ends inside this line: cut off"
_TOO_LONG: Final = "a line too long to be read"
_BROKEN_OFF: Final = "the file cannot be read from here on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """One row: its line and its cells by heading, without padding."""

    line: int
    text: bytes
    by_name: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An unusable line; ``group_id`` is None if it is unknown."""

    line: int
    text: bytes
    reason: str
    group_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Table:
    """A heading and the rows below it; ``ended`` if its last line has a line feed."""

    form: Form
    line: int
    columns: tuple[tuple[str, int], ...]
    rows: list[Cells] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    ended: bool = True


Piece = Table | Note | Fault


def read_pieces(lines: Iterable[Line]) -> Iterator[Piece]:
    """Yield tables, notes, and lines that are neither, in order.

    A line of a table, or outside of all, that is too long to be read is a fault; an
    empty one marks the place where the file cannot be read further.
    """
    table: Table | None = None
    for line in lines:
        text = line.text.decode("utf-8", errors="replace")
        heading = heading_of(text)
        if heading is not None or (not text.strip() and line.whole):
            if table is not None:
                yield table
            table = None
        if heading is not None:
            form, columns = heading
            table = Table(form=form, line=line.number, columns=columns)
        elif note := note_of(text, line.number):
            yield note
        elif table is not None:
            _add(table, line, text)
        elif text.strip():
            reason = "a line outside any table" if line.whole else _TOO_LONG
            yield Fault(line=line.number, text=line.text, reason=reason)
    if table is not None:
        yield table


def heading_of(text: str) -> tuple[Form, tuple[tuple[str, int], ...]] | None:
    """Recognize a table's heading; return its form and the start of each column."""
    found = tuple((match[0], match.start()) for match in _HEADING.finditer(text))
    names = {name for name, _ in found}
    for form, leading in _LEADING.items():
        if names.issuperset(leading):
            return form, found
    return None


def _add(table: Table, line: Line, text: str) -> None:
    table.ended = line.ended
    last = table.rows[-1].by_name["GROUP"] if table.rows else None
    if not line.whole:
        why = _TOO_LONG if text else _BROKEN_OFF
        table.faults.append(
            Fault(line=line.number, text=line.text, reason=why, group_id=last)
        )
        return
    cells = _by_place(table.columns, text) or _by_count(table.columns, text)
    reason = _why_unusable(table, cells, is_ended=line.ended)
    if cells is None or reason is not None:
        group_id = (cells or {}).get("GROUP") or (None if line.ended else last)
        reason = reason or "cells are not aligned with headings"
        table.faults.append(
            Fault(line=line.number, text=line.text, reason=reason, group_id=group_id)
        )
    else:
        table.rows.append(Cells(line=line.number, text=line.text, by_name=cells))


def _why_unusable(
    table: Table, cells: dict[str, str] | None, *, is_ended: bool
) -> str | None:
    """Return the reason if a cell is missing.

    A last line without a line feed is complete if it reaches the last column. All
    columns with partitions and members are before it, except in the forms that count
    or repeat them (`group_case`).
    """
    if cells is None:
        return None if is_ended else _CUT
    if not is_ended and not cells[table.columns[-1][0]]:
        return _CUT
    missing = [name for name in _NEEDED[table.form] if not cells.get(name)]
    return f"no {missing[0]}" if missing else None


def _by_place(columns: tuple[tuple[str, int], ...], text: str) -> dict[str, str] | None:
    """Split a row at its headings; None if a value crosses a border."""
    wide = any(ord(letter) > 0xFFFF for letter in text)
    row = text.encode("utf-16-le") if wide else None
    cells = {}
    ends = [start for _, start in columns[1:]] + [None]
    for (name, start), end in zip(columns, ends, strict=True):
        if row is None:
            cell, border = text[start:end], text[start - 1 : start] if start else ""
        else:
            last = None if end is None else 2 * end
            cell = row[2 * start : last].decode("utf-16-le", errors="replace")
            before = row[2 * start - 2 : 2 * start] if start else b""
            border = before.decode("utf-16-le", errors="replace")
        if border.strip():
            return None
        cells[name] = cell.strip()
    return cells


def _by_count(columns: tuple[tuple[str, int], ...], text: str) -> dict[str, str] | None:
    """Split a row into words, if there are as many as headings."""
    words = text.split()
    names = [name for name, _ in columns]
    if _COORDINATOR in names and len(words) == len(names) + 1:
        at = names.index(_COORDINATOR)
        words[at : at + 2] = [" ".join(words[at : at + 2])]
    return dict(zip(names, words, strict=True)) if len(words) == len(names) else None
