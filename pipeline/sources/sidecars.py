"""Side files: partition counts (``--topics``) and log ends (``--offsets``).

Topics: ``{"orders": 12, …}``, or ``{"orders": {"partitions": 12, "id": "…"}, …}`` with
the topic's id as ``kafka-topics --describe`` prints it.

Offsets: ``{"ms": …, "offsets": {"orders": {"0": {"earliest": 0, "latest": 455}}}}``,
all read at one moment; ``ms`` is optional.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.files import FileStore, LocalStore, Location, uri_of
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

_T = TypeVar("_T")
_LOCAL: Final[FileStore] = LocalStore()


def read_topics(
    path: Location, max_partitions: int = MAX_PARTITIONS, store: FileStore = _LOCAL
) -> dict[str, int]:
    """Read partition counts.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, a count exceeds ``max_partitions``, or the file
        cannot be read.
    """
    counts = {topic: one.partitions for topic, one in _topics(path, store).items()}
    for topic, count in counts.items():
        if count > max_partitions:
            reason = f"{count} partitions, above the limit {max_partitions}"
            raise DocumentError(reason, path=json_path((topic,)), source=str(path))
    return counts


def read_topic_ids(path: Location, store: FileStore = _LOCAL) -> dict[str, str]:
    """Read the names of topic ids, which are as in `pipeline.topic_ids`.

    Raises
    ------
    DocumentError, SourceError
        As `read_topics`, or if two topics have the same id.
    """
    names: dict[str, str] = {}
    for topic, one in _topics(path, store).items():
        if one.id is not None:
            first = names.setdefault(id_of_plain(one.id), topic)
            if first != topic:
                reason = f"the id of {first!r} again"
                where = json_path((topic, "id"))
                raise DocumentError(reason, path=where, source=str(path))
    return names


def _topics(path: Location, store: FileStore) -> dict[str, DescribedTopic]:
    written = _read(path, store, TypeAdapter(dict[str, Any]))
    found: dict[str, DescribedTopic] = {}
    for topic, one in written.items():
        if isinstance(one, dict):
            found[topic] = _valid(one, TypeAdapter(DescribedTopic), path, (topic,))
        else:
            count: int = _valid(one, TypeAdapter(Count), path, (topic,))
            found[topic] = DescribedTopic(partitions=count)
    return found


def read_offsets(path: Location, store: FileStore = _LOCAL) -> Logs:
    """Read log ends.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, or cannot be read.
    """
    written = _read(path, store, TypeAdapter(_OffsetsFile))
    return {
        topic: {int(n): (log.earliest, log.latest) for n, log in logs.items()}
        for topic, logs in written.offsets.items()
    }


def _read(path: Location, store: FileStore, kind: TypeAdapter[_T]) -> _T:
    try:
        with store.open(uri_of(path)) as file:
            value: Any = parse_json(file.read())
    except OSError as error:
        reason = f"unreadable: {error.strerror or error}"
        raise SourceError(reason, source=str(path)) from None
    except DocumentError as error:
        raise error.at(source=str(path), line=None) from None
    return _valid(value, kind, path, ())


def _valid(
    value: object, kind: TypeAdapter[_T], path: Location, steps: tuple[str, ...]
) -> _T:
    try:
        return kind.validate_python(value, strict=True)
    except ValidationError as error:
        found = schema_error(error, value, within=steps)
        raise found.at(source=str(path), line=None) from None
