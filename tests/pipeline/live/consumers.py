"""A stand-in for librdkafka's consumer, with records of one partition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError

from pipeline.records import OFFSETS_TOPIC


class Message:
    """A record of partition 3, or an error."""

    def __init__(self, offset: int, error: KafkaError | None = None) -> None:
        self._offset, self._error = offset, error

    def error(self) -> KafkaError | None:
        return self._error

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return (1, 1000 + self._offset) if self._offset != 4 else (0, -1)

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes | None:
        return None if self._offset == 4 else b"v"


class Consumer:
    """Answers each poll with the next batch, then with nothing."""

    def __init__(self, *batches: list[Message], marks: Any = ()) -> None:
        self._batches = iter(batches)
        self._marks = dict(marks)
        self.closed = False
        self.given: dict[str, Any] = {}

    def __call__(self, given: dict[str, Any]) -> Consumer:
        self.given = given
        return self

    def assign(self, places: list[Any]) -> None:
        (place,) = places
        assert (place.topic, place.partition, place.offset) == (OFFSETS_TOPIC, 3, 2)

    def consume(self, _number: int, _seconds: float) -> list[Message]:
        return next(self._batches, [])

    def list_topics(self, name: str, _seconds: float) -> Any:
        partitions = dict.fromkeys(self._marks)
        found = {name: SimpleNamespace(partitions=partitions)} if partitions else {}
        return SimpleNamespace(topics=found)

    def get_watermark_offsets(self, place: Any, _seconds: float) -> tuple[int, int]:
        marks = self._marks[place.partition]
        if isinstance(marks, Exception):
            raise marks
        return marks  # type: ignore[no-any-return]

    def close(self) -> None:
        self.closed = True


def end(offset: int = 6) -> Message:
    """Report the end of the partition, before this offset."""
    return Message(offset, KafkaError(KafkaError._PARTITION_EOF))
