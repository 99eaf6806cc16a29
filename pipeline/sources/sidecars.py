"""Side files: partition counts (``--topics``) and log ends (``--offsets``).

Topics: ``{"orders": 12, …}``. Offsets: ``{"ms": …, "offsets": {"orders": {"0":
{"earliest": 0, "latest": 455}}}}``, all read at one moment; ``ms`` is optional.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rebalance import (
    INT64_MAX,
    MAX_PARTITIONS,
    DocumentError,
    SourceError,
    json_path,
    parse_json,
)

Count: TypeAlias = Annotated[int, Field(ge=0, le=INT64_MAX)]
_Number: TypeAlias = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$")]


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


def read_topics(path: Path, max_partitions: int = MAX_PARTITIONS) -> dict[str, int]:
    """Read partition counts.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, a count exceeds ``max_partitions``, or the file
        cannot be read.
    """
    counts = _read(path, TypeAdapter(dict[str, Count]))
    for topic, count in counts.items():
        if count > max_partitions:
            reason = f"{count} partitions, above the limit {max_partitions}"
            raise DocumentError(reason, path=json_path((topic,)), source=str(path))
    return counts


def read_offsets(path: Path) -> Logs:
    """Read log ends.

    Raises
    ------
    DocumentError, SourceError
        If the file is not of this form, or cannot be read.
    """
    written = _read(path, TypeAdapter(_OffsetsFile))
    return {
        topic: {int(n): (log.earliest, log.latest) for n, log in logs.items()}
        for topic, logs in written.offsets.items()
    }


def _read(path: Path, kind: TypeAdapter[_T]) -> _T:
    try:
        value: Any = parse_json(path.read_bytes())
        return kind.validate_python(value, strict=True)
    except OSError as error:
        raise SourceError(f"unreadable: {error.strerror}", source=str(path)) from None
    except DocumentError as error:
        raise error.at(source=str(path), line=None) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = json_path(tuple(step for step in first["loc"] if step != "[key]"))
        raise DocumentError(first["msg"], path=where, source=str(path)) from None
