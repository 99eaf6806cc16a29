"""Grouping of describe tables into snapshots of one group at one moment.

The command prints one form at a time, so a snapshot can span several files. Files of
one folder belong together if their names differ only in the words that name a form:
``members-1.txt`` and ``state-1.txt``, ``g.describe.txt`` and ``g.members-verbose.txt``.
If a file contains a group several times in the same form, the n-th occurrences of all
forms are the n-th snapshot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from pipeline.describe.messages import IGNORED, Note
from pipeline.describe.text_tables import Cells, Fault, Form, Piece, read_pieces
from pipeline.sources.lines import Line

_FORM_WORDS: Final = frozenset(
    {
        "describe",
        "offsets",
        "offset",
        "members",
        "member",
        "state",
        "states",
        "verbose",
        "stdout",
        "stderr",
        "txt",
        "out",
        "err",
        "log",
    }
)
_BREAK: Final = re.compile(r"[-._ ]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows of one group in one table of one file.

    ``ended`` is False if the group's last row is the last line of the file and has no
    line feed.
    """

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


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """All sections about one group at one moment; notes with their file."""

    name: str
    group_id: str
    sections: list[Section] = field(default_factory=list)
    notes: list[tuple[str, Note]] = field(default_factory=list)

    def of(self, form: Form) -> Section | None:
        """Return the section of a form; if there are several, the widest."""
        found = [section for section in self.sections if section.form is form]
        return max(found, key=lambda section: len(section.columns), default=None)

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the first section."""
        for form in (Form.MEMBERS, Form.OFFSETS, Form.STATE):
            if (section := self.of(form)) is not None:
                return section.source, section.line
        source, note = self.notes[0]
        return source, note.line

    def note(self, says: str) -> tuple[str, Note] | None:
        """Return the first note of a kind, with its file."""
        return next((one for one in self.notes if one[1].says == says), None)

    @property
    def raw(self) -> bytes:
        """The lines as read, form after form, then notes."""
        notes = [note.text.encode() for _, note in self.notes]
        return b"\n\n".join([section.raw for section in self.sections] + notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A line that belongs to no group: a fault, or a message of the tool."""

    source: str
    line: Fault | Note


def snapshot_name(source: str) -> str:
    """Return a file's name, with its folder, without the words that name a form."""
    path = PurePosixPath(source)
    words = [
        word for word in _BREAK.split(path.name) if word.lower() not in _FORM_WORDS
    ]
    return str(path.parent / "-".join(words)) if words else str(path.parent)


def read_snapshots(
    files: Iterable[tuple[str, Iterable[Line]]],
) -> tuple[list[Snapshot], list[Stray]]:
    """Read the files of one folder, sorted by name, into snapshots."""
    found: dict[tuple[str, str], Snapshot] = {}
    strays: list[Stray] = []
    for source, lines in files:
        name = snapshot_name(source)
        seen: Counter[tuple[str, Form]] = Counter()
        parts = (part for piece in read_pieces(lines) for part in _parts(piece, source))
        for part in parts:
            if isinstance(part, Stray):
                strays.append(part)
            elif isinstance(part, Note):
                snapshot = _snapshot(found, name, part.group_id or "")
                snapshot.notes.append((source, part))
            else:
                group_id = part.rows[0].by_name["GROUP"]
                seen[group_id, part.form] += 1
                count = seen[group_id, part.form]
                label = name if count == 1 else f"{name}#{count}"
                _snapshot(found, label, group_id).sections.append(part)
    return list(found.values()), strays


def _snapshot(
    found: dict[tuple[str, str], Snapshot], name: str, group_id: str
) -> Snapshot:
    return found.setdefault((name, group_id), Snapshot(name=name, group_id=group_id))


def _parts(piece: Piece, source: str) -> Iterator[Section | Note | Stray]:
    """Split a table by group; a fault without a group belongs to the only group."""
    if isinstance(piece, Note):
        if piece.group_id is not None:
            yield piece
        elif piece.says != IGNORED:
            yield Stray(source=source, line=piece)
        return
    if isinstance(piece, Fault):
        yield Stray(source=source, line=piece)
        return
    by_group: dict[str, list[Cells]] = {}
    for row in piece.rows:
        by_group.setdefault(row.by_name["GROUP"], []).append(row)
    faults: dict[str, list[Fault]] = {}
    for fault in piece.faults:
        known = fault.group_id in by_group
        group_id = fault.group_id if known else _only(by_group)
        if group_id is None:
            yield Stray(source=source, line=fault)
        else:
            faults.setdefault(group_id, []).append(fault)
    last = max((row.line for row in piece.rows), default=0)
    for group_id, rows in by_group.items():
        yield Section(
            form=piece.form,
            source=source,
            line=rows[0].line,
            columns=tuple(name for name, _ in piece.columns),
            rows=rows,
            faults=faults.get(group_id, []),
            ended=piece.ended or rows[-1].line != last,
        )


def _only(groups: dict[str, list[Cells]]) -> str | None:
    return next(iter(groups)) if len(groups) == 1 else None
