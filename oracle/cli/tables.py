"""Tables for terminals. Every name passes through `oracle.names`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from oracle.names import abridged, visible
from oracle.wording import loads_text, ranges
from rebalance import AssignmentDocument, Instance

ROWS_SHOWN: Final = 50
NAME_SHOWN: Final = 40
PARTITIONS_SHOWN: Final = 400  # characters

Cell = str | int | bool | None


def table_of(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> Group:
    """Build a table: numbers right-aligned, ``None`` as a dash, booleans in words."""
    table = Table(show_edge=False, pad_edge=False)
    listed = list(rows)
    for i, column in enumerate(columns):
        numbers = [row[i] for row in listed if row[i] is not None]
        is_number = bool(numbers) and all(type(one) is int for one in numbers)
        side: JustifyMethod = "right" if is_number else "left"
        # On a narrow terminal, names are wrapped instead of cut off.
        table.add_column(Text(column), justify=side, overflow="fold")
    for row in listed[:ROWS_SHOWN]:
        table.add_row(*(Text(_cell(value)) for value in row))
    parts: list[RenderableType] = [Text(title, style="bold"), table]
    if len(listed) > ROWS_SHOWN:
        parts.append(Text(f"… and {len(listed) - ROWS_SHOWN:,} more (--json: all)"))
    return Group(*parts)


def assignment_table(instance: Instance, answer: AssignmentDocument) -> Group:
    """Lay out each member's partitions, and those it owned."""
    had = np.bincount(
        instance.owner[instance.owner >= 0], minlength=len(instance.members)
    )
    rows = [
        (
            abridged(member, NAME_SHOWN),
            sum(map(len, held.values())),
            int(had[m]),
            partitions_text(held),
        )
        for m, (member, held) in enumerate(sorted(answer.members.items()))
    ]
    return table_of(_title(answer), ("member", "load", "owned", "partitions"), rows)


def partitions_text(held: Mapping[str, Sequence[int]]) -> str:
    """Format partitions as ``orders 0-3, 7 · audit 1``."""
    parts = (
        f"{abridged(topic, NAME_SHOWN)} {ranges(numbers)}"
        for topic, numbers in sorted(held.items())
        if numbers
    )
    text = " · ".join(parts)
    return text if len(text) <= PARTITIONS_SHOWN else text[:PARTITIONS_SHOWN] + "…"


def name_of(document: Mapping[str, Any]) -> str:
    """Return the name of a document: its group and id, if present."""
    named = [document[key] for key in ("group", "id") if document.get(key)]
    return " ".join(abridged(str(one), NAME_SHOWN) for one in named) or "unnamed"


def _title(answer: AssignmentDocument) -> str:
    name = name_of({"group": answer.group, "id": answer.id})
    parts = [name, visible(answer.assignor or ""), answer.status or ""]
    figures = answer.figures
    if figures is not None:
        parts += [
            f"moves {figures.moves}",
            f"loads {loads_text(figures.loads)}",
            f"KIP-54 score {figures.kip54_score}",
        ]
    return " · ".join(part for part in parts if part)


def _cell(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else value
