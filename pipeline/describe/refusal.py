"""Refusal of a snapshot, with the file and line of its cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.describe.cells import CellError, UnnamedTopicsError
from pipeline.describe.sections import Section
from pipeline.describe.text_tables import Cells


class NotJudged(Exception):  # noqa: N818  # no error: valid groups can be set aside
    """Why a snapshot is not judged; not ``sound`` if the text is invalid.

    ``place`` is the file and line of the cause; None: the snapshot as a whole.
    """

    def __init__(
        self, reason: str, *, sound: bool, place: tuple[str, int] | None = None
    ) -> None:
        super().__init__(reason)
        self.sound = sound
        self.place = place


@contextmanager
def placed(section: Section, row: Cells) -> Iterator[None]:
    """Refuse the snapshot for an invalid cell of this row.

    Raises
    ------
    NotJudged
        For a `CellError`. An assignment without topic names is passed on, because
        another form can contain them.
    """
    try:
        yield
    except UnnamedTopicsError:
        raise
    except CellError as error:
        place = section.source, row.line
        reason = f"line {row.line}: {error}"
        raise NotJudged(reason, sound=False, place=place) from None
