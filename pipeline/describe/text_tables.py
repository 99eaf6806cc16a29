"""Parser of the tables that describe groups, of any version and tool.

In the tables of ``kafka-consumer-groups``, cells are aligned with their headings:
column widths follow the longest value (in UTF-16 units, as in Java), so names with
spaces and empty cells are unambiguous. In a column of fixed width, a longer value
shifts the rest of the row to the right; such a row, and one of a table that lost its
alignment, is split into words, whose number must equal that of the headings.

A line that is not a row of the table, such as a shell prompt behind it, costs only
itself. A damaged row costs its group: it may have been that of a partition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from pipeline.describe.headings import (
    GROUP,
    MEMBER,
    OWNER,
    Form,
    Heading,
    Separation,
    entry_of,
    heading_of,
    title_of,
)
from pipeline.describe.tool_messages import Note, note_of
from pipeline.files.lines import Line

NO_GROUP: Final = "a table without the column GROUP: name its group with --group-name"
_NEEDED: Final = {
    Form.OFFSETS: ("TOPIC", "PARTITION", "LAG", MEMBER, "HOST"),
    Form.MEMBERS: (MEMBER, "HOST", "#PARTITIONS"),
    Form.STATE: ("STATE", "#MEMBERS"),
}
"""Columns that are never empty, of those that a table has, other than GROUP."""
_NUMBERS: Final = {
    Form.OFFSETS: ("PARTITION", "LAG"),
    Form.MEMBERS: ("#PARTITIONS",),
    Form.STATE: ("#MEMBERS",),
}
_NUMBER: Final = re.compile(r"-?\d+\Z|-\Z|unknown\Z")
_COORDINATOR: Final = "COORDINATOR (ID)"
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CUT: Final = "the text ends inside this line: cut off"
_TOO_LONG: Final = "a line too long to be read"
_BROKEN_OFF: Final = "the file cannot be read from here on"
_NOT_ALIGNED: Final = "cells are not aligned with headings"
OUTSIDE: Final = "a line outside any table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """One row: its line and its cells by heading, without padding."""

    line: int
    text: bytes
    by_name: dict[str, str]

    @property
    def holder(self) -> str:
        """The member, or the owner where the tool prints no member id."""
        return self.by_name.get(MEMBER) or self.by_name.get(OWNER) or "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An unusable line; ``group_id`` is None if it is unknown."""

    line: int
    text: bytes
    reason: str
    group_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Table:
    """A heading and the rows below it; ``ended`` if its last line has a line feed.

    ``group_id`` is that of a table without the column GROUP.
    """

    heading: Heading
    line: int
    group_id: str | None = None
    rows: list[Cells] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    ended: bool = True


Piece = Table | Note | Fault


def plain_text(line: Line | Fault) -> str:
    """Decode a line, without the colors of a terminal."""
    return _ANSI.sub("", line.text.decode("utf-8", errors="replace"))


def read_pieces(
    lines: Iterable[Line], group_name: str | None = None
) -> Iterator[Piece]:
    """Yield tables, notes, and lines that are neither, in order.

    A line of a table, or outside of all, that is too long to be read is a fault; an
    empty one marks the place where the file cannot be read further. ``group_name`` is
    the group of tables that do not name it.
    """
    table: Table | None = None
    block: Table | None = None  # the state of a group above its table, by rpk
    for line in lines:
        text = plain_text(line)
        if not text.strip() and line.whole:
            continue
        if (title := title_of(text)) is not None:
            yield from _closed(table, block)
            table, block = None, _block(title, line)
        elif (heading := heading_of(text)) is not None:
            yield from _closed(table)
            name = group_name if block is None else block.group_id
            table = Table(heading=heading, line=line.number, group_id=name)
        elif note := note_of(text, line.number):
            yield note
        elif table is not None:
            _add(table, line, text)
        elif block is not None and (entry := entry_of(text)) is not None:
            if entry[0] is not None:
                block.rows[0].by_name[entry[0]] = entry[1]
        else:
            reason = OUTSIDE if line.whole else _TOO_LONG
            yield Fault(line=line.number, text=line.text, reason=reason)
    yield from _closed(table, block)


def _block(title: str, line: Line) -> Table:
    heading = Heading(
        form=Form.STATE, columns=((GROUP, 0),), separation=Separation.WORDS
    )
    row = Cells(line=line.number, text=line.text, by_name={GROUP: title})
    return Table(heading=heading, line=line.number, group_id=title, rows=[row])


def _closed(*tables: Table | None) -> Iterator[Table | Fault]:
    """Yield complete tables; lines that are foreign to them become faults."""
    for table in tables:
        if table is None:
            continue
        if table.heading.form is Form.STATE and not _tells_state(table):
            continue
        if GROUP not in table.heading.names and table.group_id is None:
            rows = [(row.line, row.text) for row in table.rows]
            rows += [(fault.line, fault.text) for fault in table.faults]
            for number, text in sorted(rows) or [(table.line, b"")]:
                yield Fault(line=number, text=text, reason=NO_GROUP)
            continue
        foreign = [fault for fault in table.faults if _is_foreign(fault, table)]
        table.faults = [fault for fault in table.faults if fault not in foreign]
        for fault in foreign:
            yield replace(fault, reason=OUTSIDE, group_id=None)
        yield table


def _tells_state(table: Table) -> bool:
    """Whether it is not a block of rpk, or one with the entries that count."""
    if table.rows and table.heading.names == (GROUP,):
        return table.rows[0].by_name.keys() >= {"STATE", "#MEMBERS"}
    return True


def _is_foreign(fault: Fault, table: Table) -> bool:
    """Whether a line has nothing of the rows of its table."""
    if fault.reason in (_TOO_LONG, _BROKEN_OFF):
        return False
    words = plain_text(fault).split()
    has_group = GROUP in table.heading.names
    groups = {row.by_name[GROUP] for row in table.rows} if has_group else set()
    topics = {row.by_name["TOPIC"] for row in table.rows if "TOPIC" in row.by_name}
    first = groups or topics
    # Columns of a constant prefix, as ``kubectl logs`` writes.
    at = table.heading.names.index(GROUP) if has_group else 0
    if fault.reason == _CUT and len(words) == at + 1:
        return not any(name.startswith(words[at]) for name in first)
    if len(words) > at and words[at] in {name.split()[0] for name in first if name}:
        return False
    known = {row.holder for row in table.rows}
    known |= {row.by_name.get("HOST", "") for row in table.rows}
    if not known.isdisjoint(words):
        return False
    return not any(
        word in topics and after.isdigit() for word, after in pairwise(words)
    )


def _add(table: Table, line: Line, text: str) -> None:
    table.ended = line.ended
    last = table.rows[-1].by_name.get(GROUP) if table.rows else None
    cells = _cells(table.heading, text) if line.whole else None
    if cells is not None and table.group_id is not None:
        cells.setdefault(GROUP, table.group_id)
    reason = _why_unusable(table, cells, is_ended=line.ended)
    group_id = (cells or {}).get(GROUP) or (None if line.ended else last)
    if not line.whole:
        reason, group_id = _TOO_LONG if text else _BROKEN_OFF, last
    if cells is not None and reason is None:
        table.rows.append(Cells(line=line.number, text=line.text, by_name=cells))
        return
    reason = reason or _NOT_ALIGNED
    table.faults.append(
        Fault(line=line.number, text=line.text, reason=reason, group_id=group_id)
    )


def _cells(heading: Heading, text: str) -> dict[str, str] | None:
    if heading.separation is Separation.PLACES:
        cells = _by_place(heading.columns, text)
        if cells is not None:
            return cells
    return _by_count(heading, text)


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
    names = table.heading.names
    if not is_ended and not cells[names[-1]]:
        return _CUT
    needed = (GROUP, *_NEEDED[table.heading.form])
    if table.heading.leaves_empty:
        needed = (GROUP, "TOPIC", "PARTITION")
    missing = [name for name in needed if name in names and not cells[name]]
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


def _by_count(heading: Heading, text: str) -> dict[str, str] | None:
    """Split a row into words, if there are as many as headings.

    Only an assignment of the older form, ``t(0), u(1)``, has spaces in it.
    """
    names = heading.names
    if heading.separation is Separation.COMMAS:
        words = [part.strip() for part in text.split(",")]
    else:
        words = text.split()
        if _COORDINATOR in names and len(words) == len(names) + 1:
            at = names.index(_COORDINATOR)
            words[at : at + 2] = [" ".join(words[at : at + 2])]
        elif names[-1] == "ASSIGNMENT" and text.rstrip().endswith(")"):
            words[len(names) - 1 :] = [" ".join(words[len(names) - 1 :])]
    if len(words) != len(names):
        return None
    cells = dict(zip(names, words, strict=True))
    numbers = [cells[name] for name in _NUMBERS[heading.form] if name in cells]
    return cells if all(map(_NUMBER.match, numbers)) else None
