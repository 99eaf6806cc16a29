"""Samples of lag in Prometheus' text, and in answers of its HTTP API and of Burrow.

Burrow's are those to ``/v3/kafka/CLUSTER/consumer/GROUP/lag``. Of Prometheus, read are,
per partition,

- ``kafka_consumergroup_lag`` of kafka_exporter (danielqsj, also in Strimzi and MSK);
- ``kafka_consumergroup_group_lag`` of kafka-lag-exporter (seglo) and klag-exporter;
- ``klag_consumer_lag`` of klag;
- ``kminion_kafka_consumer_group_topic_partition_lag`` of KMinion.

Sums per group or topic contain no lag of a partition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rebalance import INT64_MAX, SourceError, schema_error

PARTITION_MOST: Final = 2**31 - 1


class LagSample(NamedTuple):
    """Lag of one partition; ``records`` is None if it is not known.

    An exporter reports -1 (kafka_exporter) or NaN (kafka-lag-exporter) where a group
    has committed nothing, and less if it has read the log end before the commit.
    """

    group: str
    topic: str
    partition: int
    records: int | None


class _Labels(NamedTuple):
    group: str
    topic: str = "topic"
    partition: str = "partition"


METRICS: Final = {
    "kafka_consumergroup_lag": _Labels("consumergroup"),
    "kafka_consumergroup_group_lag": _Labels("group"),
    "klag_consumer_lag": _Labels("consumer_group"),
    "kminion_kafka_consumer_group_topic_partition_lag": _Labels(
        "group_id", "topic_name", "partition_id"
    ),
}
_SAMPLE: Final = re.compile(rf"({'|'.join(METRICS)})[ {{]")
_ANY_LAG: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*lag[a-zA-Z0-9_:]*(?=[ {])")


class _LagObject(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Series(_LagObject):
    metric: dict[str, str]
    value: Annotated[list[float | int | str], Field(min_length=2, max_length=2)]


class _Vector(_LagObject):
    result_type: Literal["vector"] = Field(alias="resultType")
    result: list[_Series]


class _ApiAnswer(_LagObject):
    status: Literal["success"]
    data: _Vector


class _Partition(_LagObject):
    topic: str
    partition: Annotated[int, Field(ge=0, le=PARTITION_MOST)]
    current_lag: Annotated[int, Field(ge=0, le=INT64_MAX)]


class _BurrowStatus(_LagObject):
    group: str
    partitions: list[_Partition]
    partition_count: int | None = None


class _BurrowAnswer(_LagObject):
    status: _BurrowStatus


def sample_of_line(line: str, source: str, number: int) -> LagSample | None:
    """Read one line of Prometheus' text; None if it is not a lag of a partition.

    Raises
    ------
    SourceError
        If it is, and is damaged.
    """
    if not _SAMPLE.match(line):
        return None
    try:
        ((sample,),) = [
            family.samples for family in text_string_to_metric_families(line)
        ]
        return _sample(METRICS[sample.name], sample.labels, sample.value)
    except (ValueError, KeyError) as error:
        reason = f"no sample of lag: {line[:80]!r}"
        raise SourceError(reason, source=source, line=number) from error


def other_lag_of_line(line: str) -> str | None:
    """Return the name of a metric about lag that is not read."""
    found = _ANY_LAG.match(line)
    return None if found is None else found[0]


def is_api_answer(value: Any) -> bool:
    """Whether a JSON value is an answer of Prometheus' HTTP API."""
    return isinstance(value, dict) and isinstance(value.get("status"), str)


def samples_of_api(
    value: Mapping[str, Any], source: str, line: int
) -> Iterator[LagSample]:
    """Read an answer to an instant query, ``/api/v1/query``.

    Raises
    ------
    SourceError, DocumentError
        If it is an error, or an answer to another query; its place is named.
    """
    if value["status"] == "error":
        reason = f"an error of Prometheus: {str(value.get('error'))[:200]}"
        raise SourceError(reason, source=source, line=line)
    data = value.get("data")
    if isinstance(data, dict) and data.get("resultType") == "matrix":
        reason = "lag over a range of time: ask for one moment, /api/v1/query?query="
        raise SourceError(f"{reason}{next(iter(METRICS))}", source=source, line=line)
    try:
        answer = _ApiAnswer.model_validate(value)
    except ValidationError as error:
        raise schema_error(error, value).at(source=source, line=line) from None
    for place, series in enumerate(answer.data.result):
        labels = _labels_of(series.metric)
        try:
            if labels is not None:
                yield _sample(labels, series.metric, float(series.value[1]))
        except ValueError:
            reason = f"$.data.result[{place}]: no sample of lag"
            raise SourceError(reason, source=source, line=line) from None


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
        LagSample(
            status.group, partition.topic, partition.partition, partition.current_lag
        )
        for partition in status.partitions
    ]
    counted = status.partition_count or 0
    return samples, max(0, counted - len(samples)), status.group


def _labels_of(metric: Mapping[str, str]) -> _Labels | None:
    """Return the labels of a series; a query that aggregates leaves no name."""
    if "__name__" in metric:
        return METRICS.get(metric["__name__"])
    fitting = [labels for labels in METRICS.values() if metric.keys() >= {*labels}]
    return fitting[0] if len(fitting) == 1 else None


def _sample(labels: _Labels, named: Mapping[str, str], value: float) -> LagSample:
    partition = int(named[labels.partition])
    if not 0 <= partition <= PARTITION_MOST or value > INT64_MAX:
        raise ValueError(value)
    known = not math.isnan(value) and value >= 0
    if known and value != int(value):
        raise ValueError(value)
    records = int(value) if known else None
    return LagSample(named[labels.group], named[labels.topic], partition, records)
