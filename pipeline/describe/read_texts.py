"""Read the describe texts of one folder: the moments of each group, and other lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from pipeline.describe.agreement import joined
from pipeline.describe.kafka_ui import pieces_of_kafka_ui
from pipeline.describe.sections import Remark, Section, Stray, parts_of
from pipeline.describe.snapshots import Snapshot
from pipeline.describe.text_tables import Piece, read_pieces
from pipeline.sources.lines import Line


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
                if isinstance(part, Stray):
                    strays.append(part)
                elif isinstance(part, Section):
                    sections.setdefault(part.group_id, []).append(part)
                else:
                    remarks.setdefault(part.note.group_id or "", []).append(part)
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
        if line.text.lstrip().startswith((b"{", b"[")):
            whole = b"\n".join(one.text for one in (line, *lines))
            yield from pieces_of_kafka_ui(whole)
            return
        blank.append(line)
        if line.text.strip():
            break
    yield from read_pieces(chain(blank, lines), group_name)
