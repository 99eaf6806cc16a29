"""All that describe text states of one group at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pipeline.describe.headings import Form
from pipeline.describe.sections import Remark, Section

AT_REST: Final = "Stable"
"""State of a group at rest in a --state table."""
BY_STATE: Final = "state"
BY_TEXTS: Final = "texts"
BY_RECORDS: Final = "records"
BY_LEADER: Final = "leader-log"
"""Evidence that a group was at rest: a --state table, a second text that agrees, a
rebalance in the records that led to the same state, or the log of its leader, which has
assigned."""


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """Tables about one group that agree, and messages with their file.

    ``at_rest`` is the evidence that the group was at rest, if there is any; ``doubt``
    states how the tables contradict each other.
    """

    name: str
    group_id: str
    sections: list[Section] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)
    at_rest: str | None = None
    doubt: str | None = None

    def of(self, form: Form) -> Section | None:
        """Return the section of a form; if there are several, the widest."""
        found = self.all_of(form)
        return max(found, key=lambda section: len(section.columns), default=None)

    def all_of(self, form: Form) -> list[Section]:
        """Return all sections of a form."""
        return [section for section in self.sections if section.form is form]

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the first section."""
        if self.sections:
            return self.sections[0].source, self.sections[0].line
        source, note = self.notes[0]
        return source, note.line

    def note(self, says: str) -> Remark | None:
        """Return the first note of a kind, with its file."""
        return next((note for note in self.notes if note[1].says == says), None)

    @property
    def raw(self) -> bytes:
        """The lines as read, form after form, then notes."""
        notes = [note.text.encode() for _, note in self.notes]
        return b"\n\n".join([section.raw for section in self.sections] + notes)
