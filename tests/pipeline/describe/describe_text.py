"""Write text of ``kafka-consumer-groups --describe`` as the tool prints it."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cases import Case
from pipeline.describe.group_case import case_of
from pipeline.describe.sections import Stray
from pipeline.describe.snapshots import Snapshot
from pipeline.files.lines import Line
from pipeline.sources.describe_files import read_snapshots

OFFSETS = (
    "GROUP",
    "TOPIC",
    "PARTITION",
    "CURRENT-OFFSET",
    "LOG-END-OFFSET",
    "LAG",
    "CONSUMER-ID",
    "HOST",
    "CLIENT-ID",
)
MEMBERS = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT")
STATE = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
KIP_1099 = (
    "CURRENT-EPOCH",
    "CURRENT-ASSIGNMENT",
    "TARGET-EPOCH",
    "TARGET-ASSIGNMENT",
)
FIXED = {"PARTITION": 10, "ASSIGNMENT-STRATEGY": 20, "STATE": 20}


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Print as the tool does: widths fit the values, but for numbers and states."""
    cells = [names, *[[str(cell) for cell in row] for row in rows]]
    widths = [
        FIXED.get(name) or max(15, *(utf16(row[i]) for row in cells))
        for i, name in enumerate(names)
    ]
    lines = (
        " ".join(
            cell + " " * (width - utf16(cell))
            for cell, width in zip(row, widths, strict=True)
        )
        for row in cells
    )
    return "\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def offsets(*rows: tuple[str, object, object, str], group: str = "g") -> str:
    """One row a partition: topic, number, lag, member."""
    laid = [
        (group, topic, number, "-", "-", lag, member, "/10.0.0.1", member.split("-")[0])
        for topic, number, lag, member in rows
    ]
    return table(OFFSETS, laid)


def members(*rows: tuple[str, int, str], group: str = "g") -> str:
    """One row a member: name, count, assignment."""
    return table(
        MEMBERS, [(group, m, "/10.0.0.1", f"client {m}", n, a) for m, n, a in rows]
    )


def state(name: str, count: int, *, strategy: str = "range", group: str = "g") -> str:
    return table(STATE, [(group, "10.0.0.9:9092  (1)", strategy, name, count)])


def lines(text: str | bytes) -> list[Line]:
    data = text.encode() if isinstance(text, str) else text
    parts = data.splitlines(keepends=True)
    return [
        Line(number=i, text=part.rstrip(b"\r\n"), ended=part.endswith(b"\n"))
        for i, part in enumerate(parts, start=1)
    ]


def read(**files: str) -> tuple[list[Snapshot], list[Stray]]:
    return read_snapshots((f"dir/{n}.txt", lines(text)) for n, text in files.items())


def only(**files: str) -> Case:
    snapshots, strays = read(**files)
    assert strays == []
    (snapshot,) = snapshots
    return case_of(snapshot)


def held(case: Case) -> dict[str, dict[str, list[int]]]:
    return {
        name: member.assigned or {} for name, member in (case.members or {}).items()
    }
