"""Output of a subcommand: lines and tables, laid out for a terminal or for programs.

On a terminal, rich lays tables out, and only then is it imported. In a pipe or a file,
a table has one row per line, cells are separated by tabs, numbers are plain digits, no
row is left out, and nothing wraps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType

ROWS_SHOWN: Final = 50

Cell = str | int | bool | None


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text; on a terminal it is wrapped between words."""

    plain: str
    bold: bool = False

    def __rich__(self) -> RenderableType:
        """Return rich's form."""
        from rich.text import Text

        return Text(self.plain, style="bold" if self.bold else "")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with a title; cells without a value are None."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @property
    def plain(self) -> str:
        """Tab-separated lines: the title, the columns, and every row."""
        rows = ("\t".join(map(_plain_cell, row)) for row in (self.columns, *self.rows))
        return "\n".join((self.title, *rows))

    def __rich__(self) -> RenderableType:
        """Return rich's form: numbers to the right, the first 50 rows."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(show_edge=False, pad_edge=False)
        for i, column in enumerate(self.columns):
            # On a narrow terminal, names are wrapped instead of cut off.
            table.add_column(Text(column), justify=self._side(i), overflow="fold")
        for row in self.rows[:ROWS_SHOWN]:
            table.add_row(*(Text(shown_cell(value)) for value in row))
        parts: list[RenderableType] = [Text(self.title, style="bold"), table]
        if len(self.rows) > ROWS_SHOWN:
            more = len(self.rows) - ROWS_SHOWN
            parts.append(Text(f"… and {more:,} more (--json: all)"))
        return Group(*parts)

    def _side(self, i: int) -> JustifyMethod:
        numbers = [row[i] for row in self.rows if row[i] is not None]
        is_number = bool(numbers) and all(type(number) is int for number in numbers)
        return "right" if is_number else "left"


def sheet_of(
    title: str, columns: Mapping[str, Callable[[Any], Cell]], rows: Iterable[Any]
) -> Sheet:
    """Lay out a row per object; ``columns`` are headings, and cells of an object."""
    cells = [tuple(cell(row) for cell in columns.values()) for row in rows]
    return Sheet(title, tuple(columns), cells)


Part = TextLine | Sheet | str
"""A ``str`` is a line that is not wrapped, so that it can be copied or searched."""


def shown_cell(value: Cell) -> str:
    """Format a cell for people: thousands separated, booleans in words."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else value


def _plain_cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("\t", " ").replace("\n", " ")
