"""Messages that ``kafka-consumer-groups`` prints beside its tables.

``ConsumerGroupCommand`` (Kafka 4.3) writes errors to standard output and stack traces,
warnings, and notes to standard error; files of both streams, and of both in one, occur.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NO_MEMBERS: Final = "no active members"
REBALANCING: Final = "rebalancing"
ERROR: Final = "error"
IGNORED: Final = "ignored"
"""A warning that concerns no group, or a line of a stack trace."""

_STAMP: Final = r"\[\d{4}-\d\d-\d\d [\d:,.]+\] "
_EXCEPTION: Final = r"(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b"
_OF_A_GROUP: Final = (
    (r"Consumer group ['`](.*)['`] has no active members\.", NO_MEMBERS),
    (r"(?:Warning: )?Consumer group ['`](.*)['`] is rebalancing\.", REBALANCING),
    (r"Error: (?:The c|C)onsumer group ['`](.*)['`] does not exist\.", ERROR),
    (
        r"(?:Error: |[\w$]+\.).*\bGroupIdNotFoundException: Group (.*) not found\.",
        ERROR,
    ),
    (r"(?:Error: |[\w$]+\.).*\bNot authorized to access group: (.*)", ERROR),
)
_OTHERS: Final = (
    (rf"(?:{_STAMP})?(?:WARN\b|Warning: |Note: ).*", IGNORED),
    (r"(?:OpenJDK|Java HotSpot\(TM\)) .*warning: .*", IGNORED),
    (r"Picked up _?JAVA\w*OPTIONS: .*", IGNORED),
    (rf"Caused by: {_EXCEPTION}.*", IGNORED),
    (r"at [\w.$/<>@-]+\(.*\)|\.\.\. \d+ (?:more|common frames omitted)", IGNORED),
    (rf"Error: .+|{_STAMP}ERROR .+|{_EXCEPTION}(?::.*)?", ERROR),
)
_PATTERNS: Final = tuple(
    (re.compile(pattern + r"\Z"), says) for pattern, says in (*_OF_A_GROUP, *_OTHERS)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A message of the tool; ``group_id`` is None if it names no group."""

    line: int
    group_id: str | None
    says: str
    text: str


def note_of(text: str, line: int) -> Note | None:
    """Recognize a message; None for any other line."""
    message = text.strip()
    for pattern, says in _PATTERNS:
        if match := pattern.match(message):
            group_id = match[1] if pattern.groups else None
            return Note(line=line, group_id=group_id, says=says, text=message)
    return None
