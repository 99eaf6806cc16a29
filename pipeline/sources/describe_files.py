"""Describe texts of one folder as a source: snapshots, and lines of no group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from pipeline.cases import Case
from pipeline.describe.agreement import joined
from pipeline.describe.group_case import case_of, with_group_sizes
from pipeline.describe.kafka_ui import pieces_of_kafka_ui
from pipeline.describe.refusal import NotJudged
from pipeline.describe.sections import Remark, Section, Stray, parts_of
from pipeline.describe.snapshots import Snapshot
from pipeline.describe.text_tables import OUTSIDE, Fault, Piece, read_pieces
from pipeline.describe.tool_messages import Note
from pipeline.files.lines import Line
from pipeline.rows import SET_ASIDE, UNREADABLE, Row, case_row, quarantine_row

_JSON: Final = re.compile(rb"\s*(?:\{|\[\s*(?:\{|\]|\Z))")
"""An object or a list of objects; a line of a log begins with a time in brackets."""


def read_describe(
    files: Iterable[tuple[str, Iterable[Line]]], *, group_name: str | None = None
) -> Iterator[Row]:
    """Yield the cases of one folder's files, then the tables that are not judged.

    The files are pairs of a name and lines, sorted by name; each is read once.
    ``group_name`` is the group of tables that do not name it.
    """
    snapshots, strays = read_snapshots(files, group_name=group_name)
    cases: list[Case] = []
    quarantined: list[Row] = []
    for snapshot in snapshots:
        try:
            cases.append(case_of(snapshot))
        except NotJudged as error:
            quarantined.append(_refused(snapshot, error))
    yield from map(case_row, with_group_sizes(cases))
    yield from quarantined
    yield from _counted(strays)


def read_snapshots(
    files: Iterable[tuple[str, Iterable[Line]]], *, group_name: str | None = None
) -> tuple[list[Snapshot], list[Stray]]:
    """Read files, sorted by name, into the moments of their groups.

    ``group_name`` is the group of tables that do not name it.
    """
    sections: dict[str, list[Section]] = {}
    remarks: dict[str, list[Remark]] = {}
    strays: list[Stray] = []
    for source, lines in files:
        for piece in _pieces(lines, group_name):
            for part in parts_of(piece, source):
                if isinstance(part, Section):
                    sections.setdefault(part.group_id, []).append(part)
                elif isinstance(note := part[1], Note) and note.group_id is not None:
                    remarks.setdefault(note.group_id, []).append((source, note))
                else:
                    strays.append(part)
    groups = dict.fromkeys((*sections, *remarks))
    snapshots = [
        snapshot
        for group_id in groups
        for snapshot in joined(
            group_id, sections.get(group_id, ()), remarks.get(group_id, ())
        )
    ]
    return snapshots, strays


def _pieces(lines: Iterable[Line], group_name: str | None) -> Iterator[Piece]:
    """Yield the tables of a text, or of the JSON that stands for them."""
    lines = iter(lines)
    blank: list[Line] = []
    for line in lines:
        if _JSON.match(line.text):
            whole = b"\n".join(json_line.text for json_line in (line, *lines))
            yield from pieces_of_kafka_ui(whole)
            return
        blank.append(line)
        if line.text.strip():
            break
    yield from read_pieces(chain(blank, lines), group_name)


def _refused(snapshot: Snapshot, error: NotJudged) -> Row:
    source, line = error.place or snapshot.place
    return quarantine_row(
        SET_ASIDE if error.sound else UNREADABLE,
        str(error),
        source=source,
        line=line,
        raw=snapshot.raw,
        group_id=snapshot.group_id,
        record="snapshot",
    )


def _counted(strays: list[Stray]) -> Iterator[Row]:
    """Yield one row per file and reason, with the number of lines and the first."""
    counted: dict[tuple[str, str], Row] = {}
    for source, line in strays:
        row = _row_of(line, source)
        first = counted.setdefault((source, row["reason"]), row)
        if first is not row:
            first["records"] += 1
    yield from counted.values()


def _row_of(line: Fault | Note, source: str) -> Row:
    """Return the row of one line; a message, or a foreign line, is not damage."""
    if isinstance(line, Note):
        reason, text = f"the tool reports: {line.text[:200]}", line.text.encode()
        kind, record = SET_ASIDE, "message"
    else:
        reason, text, record = line.reason, line.text, "line"
        kind = SET_ASIDE if reason == OUTSIDE else UNREADABLE
    return quarantine_row(
        kind,
        reason,
        source=source,
        line=line.line,
        raw=text,
        group_id=line.group_id,
        record=record,
    )
