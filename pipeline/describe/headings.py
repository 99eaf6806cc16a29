"""Headings of describe tables: of ``kafka-consumer-groups`` of any version, and of rpk.

Tables up to Kafka 2.3 have no GROUP column. Those of 0.9 and 0.10.0 have OWNER, a
client id and a host, instead of a member id; those of 0.9 are separated by commas.
``rpk group describe`` prints a block with the group's name and state above its table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Form(Enum):
    """Subject of a table."""

    OFFSETS = "offsets"  # the plain form: one row per partition
    MEMBERS = "members"  # --members, also with --verbose
    STATE = "state"  # --state


class Separation(Enum):
    """How the cells of a table are separated."""

    PLACES = "places"  # each cell begins below its heading
    WORDS = "words"  # by single spaces or tabs: the alignment was lost
    COMMAS = "commas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading: the name of each column, and the place where it begins.

    ``leaves_empty`` if the member of a partition without one is empty, not ``-``.
    """

    form: Form
    columns: tuple[tuple[str, int], ...]
    separation: Separation
    leaves_empty: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without places."""
        return tuple(name for name, _ in self.columns)


GROUP: Final = "GROUP"
MEMBER: Final = "CONSUMER-ID"
OWNER: Final = "OWNER"
_WORD: Final = re.compile(r"COORDINATOR \(ID\)|\S+")
_LEADING: Final = {
    Form.OFFSETS: ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    Form.MEMBERS: (MEMBER, "HOST", "CLIENT-ID", "#PARTITIONS"),
    Form.STATE: ("STATE", "#MEMBERS"),
}
_OF_RPK: Final = {"MEMBER-ID": MEMBER, "INSTANCE-ID": "GROUP-INSTANCE-ID"}


def heading_of(text: str) -> Heading | None:
    """Recognize a table's heading."""
    separation = Separation.PLACES
    found = [(match[0], match.start()) for match in _WORD.finditer(text)]
    if "," in text and text.count(",") >= len(_LEADING[Form.OFFSETS]):
        parts = [part.strip().replace(" ", "-") for part in text.split(",")]
        found = [(part, at) for at, part in enumerate(parts)]
        separation = Separation.COMMAS
    elif "\t" in text or _is_single_spaced(text):
        separation = Separation.WORDS
    columns = tuple((_OF_RPK.get(name, name), start) for name, start in found)
    names = {name for name, _ in columns}
    for form, leading in _LEADING.items():
        if names.issuperset(leading):
            return Heading(
                form=form,
                columns=columns,
                separation=separation,
                leaves_empty=any(name in _OF_RPK for name, _ in found),
            )
    return None


def _is_single_spaced(text: str) -> bool:
    """Whether no two spaces follow one another: the tool pads to 15 characters."""
    return "  " not in text.replace("COORDINATOR (ID)", "").strip()


_TITLE: Final = re.compile(r"GROUP[ \t]+(\S+)\s*\Z")
_ENTRY: Final = re.compile(r"([A-Z][A-Z-]*)(?:[ \t]+(\S.*?))?\s*\Z")
_ENTRIES: Final = {
    "STATE": "STATE",
    "BALANCER": "ASSIGNMENT-STRATEGY",
    "MEMBERS": "#MEMBERS",
}


def title_of(text: str) -> str | None:
    """Return the name of a group in the first line of a block of rpk."""
    match = _TITLE.match(text)
    return match[1] if match else None


def entry_of(text: str) -> tuple[str | None, str] | None:
    """Return an entry of such a block by the name of our column, None: not used."""
    match = _ENTRY.match(text)
    if match is None:
        return None
    return _ENTRIES.get(match[1]), match[2] or ""
