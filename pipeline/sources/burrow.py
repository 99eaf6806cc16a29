"""Burrow's answers to ``/v3/kafka/CLUSTER/consumer/GROUP/lag``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.sources.lag_samples import PARTITION_MOST, LagSample
from rebalance import INT64_MAX, SourceError, schema_error


class _Partition(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    topic: str
    partition: Annotated[int, Field(ge=0, le=PARTITION_MOST)]
    current_lag: Annotated[int, Field(ge=0, le=INT64_MAX)]


class _Status(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    group: str
    partitions: list[_Partition]
    partition_count: int | None = None


class _BurrowAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    status: _Status


def samples_of_burrow(
    value: Mapping[str, Any], source: str, line: int
) -> tuple[list[LagSample], int, str]:
    """Read one answer; return its samples, the partitions not listed, and the group.

    Raises
    ------
    SourceError, DocumentError
        If it is an error, or in another form; its place is named.
    """
    if value.get("error") is True:
        reason = f"an error of Burrow: {str(value.get('message'))[:200]}"
        raise SourceError(reason, source=source, line=line)
    try:
        status = _BurrowAnswer.model_validate(value).status
    except ValidationError as error:
        raise schema_error(error, value).at(source=source, line=line) from None
    samples = [
        LagSample(status.group, one.topic, one.partition, one.current_lag)
        for one in status.partitions
    ]
    counted = status.partition_count or 0
    return samples, max(0, counted - len(samples)), status.group
