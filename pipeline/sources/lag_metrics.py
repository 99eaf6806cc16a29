"""Lag that a monitoring system reports, as a side file: per group, topic, partition.

Accepted are

- the text of a Prometheus exporter: ``kafka_consumergroup_lag`` of kafka_exporter
  (danielqsj, also in Strimzi and MSK), or ``kafka_consumergroup_group_lag`` of
  kafka-lag-exporter (seglo);
- Burrow's response to ``/v3/kafka/CLUSTER/consumer/GROUP/lag``, one per line.

An exporter reports -1 where a group has committed nothing. The lag is then unknown; it
is left out, and never added up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.files import Location, Stores, uri_of
from pipeline.sources.text_encodings import as_utf8
from rebalance import INT64_MAX, DocumentError, SourceError, parse_json, schema_error

LagOfGroups: TypeAlias = dict[str, dict[str, dict[int, int]]]
"""Group, topic, partition → records; partitions without a commit are absent."""

_METRICS: Final = {
    "kafka_consumergroup_lag": "consumergroup",
    "kafka_consumergroup_group_lag": "group",
}
"""Metric → its label for the group."""
_SAMPLE: Final = re.compile(rf"({'|'.join(_METRICS)})[ {{]")
_PARTITION_MOST: Final = 2**31 - 1
_NO_COMMIT: Final = -1


class _Lag(NamedTuple):
    group: str
    topic: str
    partition: int
    records: int


class _BurrowPartition(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    topic: str
    partition: Annotated[int, Field(ge=0, le=_PARTITION_MOST)]
    current_lag: Annotated[int, Field(ge=0, le=INT64_MAX)]


class _BurrowStatus(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    group: str
    partitions: list[_BurrowPartition]


class _BurrowResponse(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    status: _BurrowStatus


def read_lag_metrics(paths: Sequence[Location], stores: Stores) -> LagOfGroups:
    """Read files of metrics together.

    Raises
    ------
    SourceError, DocumentError
        As `lag_of_groups`; also if a file cannot be read, or two files contradict each
        other.
    """
    whole: LagOfGroups = {}
    for path in paths:
        try:
            with stores.of(uri_of(path)).open(uri_of(path)) as file:
                found = lag_of_groups(as_utf8(file).read(), str(path))
        except OSError as error:
            reason = f"unreadable: {error.strerror or error}"
            raise SourceError(reason, source=str(path)) from None
        for group, topics in found.items():
            for topic, lags in topics.items():
                for partition, records in lags.items():
                    _add(whole, _Lag(group, topic, partition, records), str(path))
    return whole


def lag_of_groups(data: bytes, source: str) -> LagOfGroups:
    """Read one file of metrics.

    Raises
    ------
    SourceError, DocumentError
        If a line is damaged, or contradicts another, or there is no lag in the file;
        the line is named.
    """
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise SourceError("no UTF-8 text", source=source) from error
    found: LagOfGroups = {}
    has_samples = False
    for number, line in enumerate(lines, start=1):
        for one in _lags_of_line(line, source, number):
            has_samples = True
            _add(found, one, source, number)
    if not has_samples:
        names = " or ".join(_METRICS)
        reason = f"no lag in it: expected {names}, or Burrow's .../consumer/GROUP/lag"
        raise SourceError(reason, source=source)
    return found


def _lags_of_line(line: str, source: str, number: int) -> Iterator[_Lag]:
    if line.lstrip().startswith("{"):
        yield from _burrow(line, source, number)
    elif _SAMPLE.match(line):
        yield _prometheus(line, source, number)


def _add(found: LagOfGroups, one: _Lag, source: str, number: int | None = None) -> None:
    if one.records == _NO_COMMIT:
        return
    lags = found.setdefault(one.group, {}).setdefault(one.topic, {})
    if lags.setdefault(one.partition, one.records) != one.records:
        reason = f"a second lag of group {one.group}, {one.topic} {one.partition}"
        raise SourceError(reason, source=source, line=number)


def _prometheus(line: str, source: str, number: int) -> _Lag:
    try:
        ((sample,),) = [one.samples for one in text_string_to_metric_families(line)]
        labels = sample.labels
        lag = _Lag(
            group=labels[_METRICS[sample.name]],
            topic=labels["topic"],
            partition=int(labels["partition"]),
            records=_whole(sample.value),
        )
    except (ValueError, KeyError, OverflowError) as error:
        reason = f"no sample of lag: {line[:80]!r}"
        raise SourceError(reason, source=source, line=number) from error
    if not 0 <= lag.partition <= _PARTITION_MOST or lag.records < _NO_COMMIT:
        reason = f"a number out of range: {line[:80]!r}"
        raise SourceError(reason, source=source, line=number)
    return lag


def _whole(value: float) -> int:
    if value != int(value) or abs(value) > INT64_MAX:
        raise ValueError(value)
    return int(value)


def _burrow(line: str, source: str, number: int) -> Iterator[_Lag]:
    try:
        response = _response(parse_json(line.encode()))
    except DocumentError as error:
        raise error.at(source=source, line=number) from None
    for one in response.status.partitions:
        yield _Lag(response.status.group, one.topic, one.partition, one.current_lag)


def _response(value: Any) -> _BurrowResponse:
    try:
        return _BurrowResponse.model_validate(value)
    except ValidationError as error:
        raise schema_error(error, value) from None
