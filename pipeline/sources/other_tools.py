"""Output of tools about groups that cannot be read: the reason, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pipeline.files.lines import Line
from pipeline.records import OFFSETS_TOPIC
from pipeline.sources.console_lines import INSTEAD

DESCRIBE: Final = (
    "kafka-consumer-groups --bootstrap-server HOST:PORT --describe --all-groups "
    "--members --verbose > members.txt"
)
DUMP_LOG: Final = (
    "output of kafka-dump-log, which is not read: give the log segments that it "
    f"printed, the files *.log in their folders ({OFFSETS_TOPIC}-PARTITION)"
)
FRANZ_GO: Final = (
    "a plan in the log of franz-go, which states neither the group nor the "
    f"subscriptions of members: {INSTEAD}"
)
GROUPS_AS_JSON: Final = (
    "JSON about groups in a form of another tool, which is not read: print the present "
    f"state with {DESCRIBE}; or, for a history, {INSTEAD}"
)

_DUMP_LOG: Final = re.compile(
    rb"Dumping .*\.(log|index|timeindex|txnindex|snapshot)\s*$|Log starting offset: \d"
    rb"|baseOffset: -?\d|\| (offset|key): "
)
_FRANZ_GO: Final = re.compile(rb'"balanced".*"plan"\s*:|\bbalanced; plan: ')
_NAMES: Final = {"groupId", "group_id", "groupID", "consumerGroupId", "consumer_group"}
_PARTS: Final = {"members", "partitions", "state", "assignments", "topics"}
_OF_AKHQ: Final = {"id", "members", "offsets"}
_DEPTH: Final = 3


def is_dump(lines: Iterable[Line]) -> bool:
    """Return whether the first lines of a file are of ``kafka-dump-log``."""
    return any(_DUMP_LOG.match(line.text) for line in lines)


def why_of_another_tool(lines: Iterable[Line], document: Any) -> str | None:
    """Return why a file is not read; None if it is of no tool that is known.

    ``lines`` are the first ones, and ``document`` is the file, or its first line, as
    JSON; None if it is not JSON.
    """
    if any(_FRANZ_GO.search(line.text) for line in lines):
        return FRANZ_GO
    names = [object_.keys() for object_ in _objects(document)]
    if any((name & _NAMES and name & _PARTS) or name >= _OF_AKHQ for name in names):
        return GROUPS_AS_JSON
    return None


def _objects(value: Any, depth: int = _DEPTH) -> Iterator[dict[str, Any]]:
    """Yield the objects of a document down to a depth."""
    if not depth:
        return
    if isinstance(value, dict):
        yield value
        parts: Iterable[Any] = value.values()
    else:
        parts = value if isinstance(value, list) else ()
    for part in parts:
        yield from _objects(part, depth - 1)
