"""Names of the files of Kafka Connect's S3 sink, and the facts in a name.

A file of values is ``TOPIC+PARTITION+START.EXTENSION``, where START is the offset of
its first record, with leading zeros. With ``store.kafka.keys=true``, a second file
``TOPIC+PARTITION+START.keys.EXTENSION`` in the same folder has the keys of the same
records, and with ``store.kafka.headers=true`` a third one their headers.

Source: ``TopicPartitionWriter`` and ``RecordViews`` of kafka-connect-storage-cloud.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pipeline.files import name_of
from pipeline.records import OFFSETS_TOPIC
from pipeline.sources.record_lines import INT32_MAX
from rebalance import INT64_MAX

_NAME: Final = re.compile(
    r"(?P<stem>(?P<topic>.+)\+(?P<partition>\d{1,10})\+(?P<start>\d{1,40}))"
    r"(?:\.(?P<role>keys|headers))?(?:\.[^+]*)?"
)


class SinkRole(Enum):
    """Part of its records that a file has."""

    VALUES = "values"
    KEYS = "keys"
    HEADERS = "headers"


class SinkForm(Enum):
    """How the content is laid out, by the ``format.class`` of the sink."""

    JSON = "json"
    AVRO = "avro"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkName:
    """A name of a file of the log of groups; ``start`` is its first offset.

    ``stem`` is common to the files of the same records.
    """

    stem: str
    role: SinkRole
    partition: int
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkPart:
    """A file of a pair of values and keys.

    ``pair`` is common to both. Offsets of the file are below ``until``, the start of
    the next file of the partition; None if there is none.
    """

    name: SinkName
    form: SinkForm
    pair: str
    until: int | None = None


def sink_name(uri: str) -> SinkName | None:
    """Return the facts in the name of a file; None if it is not one of these."""
    found = _NAME.fullmatch(name_of(uri))
    if found is None or found["topic"] != OFFSETS_TOPIC:
        return None
    partition, start = int(found["partition"]), int(found["start"])
    if partition > INT32_MAX or start > INT64_MAX:
        return None
    return SinkName(
        stem=found["stem"],
        role=SinkRole(found["role"] or SinkRole.VALUES.value),
        partition=partition,
        start=start,
    )


def pair_of(uri: str, name: SinkName) -> str:
    """Return the location that the files of the same records have in common."""
    return f"{uri.rpartition('/')[0]}/{name.stem}"
