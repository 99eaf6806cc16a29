"""Side files: partition counts (``--topics``) and log ends (``--offsets``).

Topics: ``{"orders": 12, …}``, or ``{"orders": {"partitions": 12, "id": "…"}, …}`` with
the topic's id as ``kafka-topics --describe`` prints it. These counts hold at the end of
the history. With times, ``{"orders": [{"from": "2026-11-01T00:00Z", "partitions": 2},
…]}``, each holds from its time on.

Offsets: ``{"ms": …, "offsets": {"orders": {"0": {"earliest": 0, "latest": 455}}}}``,
all read at one moment; ``ms`` is optional.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from pipeline.files import LOCAL_STORES, Location, Stores, uri_of
from pipeline.files.lines import as_utf8
from pipeline.known_counts import KnownCounts, Step
from pipeline.records.record_times import milliseconds_of
from pipeline.topic_ids import id_of_plain
from rebalance import (
    INT64_MAX,
    MAX_PARTITIONS,
    DocumentError,
    SourceError,
    json_path,
    parse_json,
    schema_error,
)

Count: TypeAlias = Annotated[int, Field(ge=0, le=INT64_MAX)]
_Number: TypeAlias = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$")]


class DescribedTopic(BaseModel):
    """Partition count and id of a topic."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    partitions: Count
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")] | None = None


def _moment(text: object) -> datetime:
    """Convert a time in ISO 8601; it needs a time zone."""
    if not isinstance(text, str):
        raise ValueError("not a time in ISO 8601, such as 2026-11-01T00:00Z")  # noqa: TRY004
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time without a time zone: write 2026-11-01T00:00Z")
    return at


class DatedCount(BaseModel):
    """Partition count of a topic from a time on."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    since: Annotated[datetime, BeforeValidator(_moment)] = Field(alias="from")
    partitions: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsFile:
    """Partition counts at the end of the history, and those with a time.

    ``names`` are those of topic ids, which are as in `pipeline.topic_ids`.
    """

    at_end: dict[str, int] = field(default_factory=dict)
    dated: KnownCounts = field(default_factory=KnownCounts)
    names: dict[str, str] = field(default_factory=dict)


class LogEnds(BaseModel):
    """First and next offset of a partition's log."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    earliest: Count
    latest: Count


class _OffsetsFile(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    ms: Count | None = None
    offsets: dict[str, dict[_Number, LogEnds]]


Logs: TypeAlias = dict[str, dict[int, tuple[int, int]]]
"""Topic, partition → earliest and latest offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsFile:
    """Log ends, and when they were read: ms since 1970, None if it is not stated."""

    ends: Logs = field(default_factory=dict)
    at: int | None = None


_T = TypeVar("_T")
_DATED: Final = TypeAdapter(Annotated[list[DatedCount], Field(min_length=1)])


def read_topics(
    path: Location | None,
    max_partitions: int = MAX_PARTITIONS,
    stores: Stores = LOCAL_STORES,
) -> TopicsFile:
    """Read partition counts and topic ids; without a file, there are none.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, a count exceeds ``max_partitions``, two topics
        have the same id, or the file cannot be read.
    """
    if path is None:
        return TopicsFile()
    described, dated = _topics(path, stores)
    counts = {topic: entry.partitions for topic, entry in described.items()}
    steps: dict[str, tuple[Step, ...]] = {}
    for topic, stated in dated.items():
        steps[topic] = tuple(
            (milliseconds_of(entry.since), entry.partitions) for entry in stated
        )
        for place, (before, after) in enumerate(pairwise(steps[topic]), start=1):
            if after[0] <= before[0]:
                where = json_path((topic, place, "from"))
                reason = "not later than the time before"
                raise DocumentError(reason, path=where, source=str(path))
        counts[topic] = stated[-1].partitions
    largest = counts | {t: max(n for _, n in of) for t, of in steps.items()}
    for topic, count in largest.items():
        if count > max_partitions:
            reason = f"{count} partitions, above the limit {max_partitions}"
            raise DocumentError(reason, path=json_path((topic,)), source=str(path))
    names = _names_of_ids(described, path)
    return TopicsFile(at_end=counts, dated=KnownCounts(steps), names=names)


def _names_of_ids(
    described: dict[str, DescribedTopic], path: Location
) -> dict[str, str]:
    names: dict[str, str] = {}
    for topic, entry in described.items():
        if entry.id is not None:
            first = names.setdefault(id_of_plain(entry.id), topic)
            if first != topic:
                reason = f"the id of {first!r} again"
                where = json_path((topic, "id"))
                raise DocumentError(reason, path=where, source=str(path))
    return names


def _topics(
    path: Location, stores: Stores
) -> tuple[dict[str, DescribedTopic], dict[str, list[DatedCount]]]:
    """Return the topics without times, and those with times."""
    written = read_side_file(path, stores, TypeAdapter(dict[str, Any]))
    found: dict[str, DescribedTopic] = {}
    dated: dict[str, list[DatedCount]] = {}
    for topic, stated in written.items():
        if isinstance(stated, list):
            dated[topic] = _valid(stated, _DATED, path, (topic,))
        elif isinstance(stated, dict):
            found[topic] = _valid(stated, TypeAdapter(DescribedTopic), path, (topic,))
        else:
            count: int = _valid(stated, TypeAdapter(Count), path, (topic,))
            found[topic] = DescribedTopic(partitions=count)
    return found, dated


def read_offsets(path: Location | None, stores: Stores = LOCAL_STORES) -> LogsFile:
    """Read log ends; without a file, there are none.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, or cannot be read.
    """
    if path is None:
        return LogsFile()
    written = read_side_file(path, stores, TypeAdapter(_OffsetsFile))
    return LogsFile(
        at=written.ms,
        ends={
            topic: {int(n): (log.earliest, log.latest) for n, log in logs.items()}
            for topic, logs in written.offsets.items()
        },
    )


def read_side_file(path: Location, stores: Stores, kind: TypeAdapter[_T]) -> _T:
    """Read a JSON file of a form.

    Raises
    ------
    DocumentError, SourceError
        If it is not of this form, or cannot be read.
    """
    try:
        value: Any = parse_json(read_whole(path, stores))
    except DocumentError as error:
        raise error.at(source=str(path), line=None) from None
    return _valid(value, kind, path, ())


def read_whole(path: Location, stores: Stores) -> bytes:
    """Read a text as UTF-8.

    Raises
    ------
    SourceError
        If it cannot be read.
    """
    uri = uri_of(path)
    try:
        with stores.of(uri).open(uri) as file:
            return as_utf8(file).read()
    except OSError as error:
        reason = f"unreadable: {error.strerror or error}"
        raise SourceError(reason, source=str(path), cause=error) from None


def _valid(
    value: object, kind: TypeAdapter[_T], path: Location, steps: tuple[str, ...]
) -> _T:
    try:
        return kind.validate_python(value, strict=True)
    except ValidationError as error:
        found = schema_error(error, value, within=steps)
        raise found.at(source=str(path), line=None) from None
