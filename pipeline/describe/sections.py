"""Rows of one group in one table, and lines that belong to no group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pipeline.describe.headings import GROUP, OWNER, Form
from pipeline.describe.text_tables import Cells, Fault, Piece, Table
from pipeline.describe.tool_messages import IGNORED, Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows of one group in one table of one file.

    ``ended`` is False if the group's last row is the last line of the file and has no
    line feed.
    """

    group_id: str
    form: Form
    source: str
    line: int
    columns: tuple[str, ...]
    rows: list[Cells]
    faults: list[Fault]
    ended: bool

    @property
    def raw(self) -> bytes:
        """The lines as read, faulty ones included."""
        lines = [(row.line, row.text) for row in self.rows]
        lines += [(fault.line, fault.text) for fault in self.faults]
        return b"\n".join(text for _, text in sorted(lines))

    @property
    def cells(self) -> tuple[Form, tuple[tuple[tuple[str, str], ...], ...]]:
        """Its contents, without their place."""
        rows = (tuple(sorted(row.by_name.items())) for row in self.rows)
        return self.form, tuple(sorted(rows))

    @property
    def names_owners(self) -> bool:
        """Whether it names a client id and a host, which several members can share."""
        return OWNER in self.columns


Remark: TypeAlias = tuple[str, Note]
"""A file, and a message of the tool in it."""
Stray: TypeAlias = tuple[str, Fault | Note]
"""A file, and a line of it that belongs to no group."""


def parts_of(piece: Piece, source: str) -> Iterator[Section | Stray]:
    """Split a table by group; a fault without a group belongs to the only group.

    Messages about a group are among the lines.
    """
    if isinstance(piece, Table):
        yield from _sections(piece, source)
    elif isinstance(piece, Fault) or piece.says != IGNORED:
        yield source, piece


def _sections(table: Table, source: str) -> Iterator[Section | Stray]:
    by_group: dict[str, list[Cells]] = {}
    for row in table.rows:
        by_group.setdefault(row.by_name[GROUP], []).append(row)
    faults: dict[str, list[Fault]] = {}
    only = next(iter(by_group)) if len(by_group) == 1 else None
    for fault in table.faults:
        group_id = fault.group_id if fault.group_id in by_group else only
        if group_id is None:
            yield source, fault
        else:
            faults.setdefault(group_id, []).append(fault)
    last = max((row.line for row in table.rows), default=0)
    for group_id, rows in by_group.items():
        yield Section(
            group_id=group_id,
            form=table.heading.form,
            source=source,
            line=rows[0].line,
            columns=table.heading.names,
            rows=rows,
            faults=faults.get(group_id, []),
            ended=table.ended or rows[-1].line != last,
        )
