"""Draw logs of groups: the places and times of records, and what happens to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import TypeVar

from pipeline.records import OffsetCommit, OffsetTombstone
from pipeline.rows import WITHOUT_TOMBSTONES, Row, keyed, record_row
from tests.pipeline.groups import START_MS
from tests.pipeline.records.consumer_writers import AnyRecord, written
from tests.pipeline.records.writers import text

T = TypeVar("T")


def some(rng: Random, items: Iterable[T], share: float = 0.5) -> list[T]:
    """Return some of the items."""
    return [item for item in items if rng.random() < share]


def commits(rng: Random, group_id: str, topics: tuple[str, ...]) -> list[AnyRecord]:
    """Draw offset commits, and rarely one that no topic can have, or a tombstone."""
    found: list[AnyRecord] = []
    for _ in range(rng.randrange(1, 4)):
        topic = rng.choice(topics)
        number = rng.choice((0, 1, 2, 3, 9))
        if rng.random() < 0.01:
            number = rng.choice((1 << 17, (1 << 17) - 1, -1, 2**31 - 1))
        if rng.random() < 0.2:
            found.append(OffsetTombstone(group_id, topic, number))
            continue
        version = rng.randrange(5)
        topic_id = rng.choice((None, bytes(16), bytes(15) + topic.encode()[:1]))
        found.append(
            OffsetCommit(
                group_id=group_id,
                topic=topic,
                partition=number,
                version=version,
                offset=rng.choice((0, 7, 2**63 - 1, -1)),
                commit_timestamp=START_MS,
                topic_id=topic_id if version >= 4 and topic_id != b"" else None,
            )
        )
    return found


def times(rng: Random) -> Iterator[int | None]:
    """Draw times of records: they can be missing, equal, or go back."""
    is_missing = rng.choice((0.0, 0.0, 0.0, 0.05, 0.9))
    goes_back = rng.choice((0.0, 0.0, 0.0, 0.05, 0.4))
    step, now = rng.choice((0, 1, 1000, 1000)), START_MS
    while True:
        now += rng.randrange(step + 1)
        if rng.random() < goes_back:
            now -= rng.randrange(3 * step + 2)
        yield None if rng.random() < is_missing else now


def rows_of_log(
    rng: Random, records: Iterable[AnyRecord], partition: int | None, first: int
) -> list[Row]:
    """Return rows of a partition, from an offset on; some logs are damaged.

    Records are lost, cut, changed, delivered twice, or contradict one another.
    """
    damage = rng.choice((0.0, 0.0, 0.0, 0.0, 0.01, 0.1))
    lost = rng.choice((0.0, 0.0, 0.0, 0.0, 0.0, 0.02))
    again = rng.choice((0.0, 0.0, 0.02, 0.2))
    tags = rng.choice((0.0, 0.0, 0.2))
    sources = rng.choice(("s", "s", "rs"))
    without = rng.random() < 0.02
    rows: list[Row] = []
    for offset, (record, at) in enumerate(
        zip(records, times(rng), strict=False), first
    ):
        if rng.random() < lost:
            continue
        unknown = {9: b"?" * rng.choice((0, 1, 200))} if rng.random() < tags else None
        key, value = written(record, unknown)
        if rng.random() < damage / 4:  # a record of another kind
            key = bytes((0, rng.randrange(20))) + text(record.group_id)
        place = {"source_partition": partition, "source_offset": offset, "at": at}
        row = keyed(record_row(rng.choice(sources), place, key=key, value=value))
        if without:
            row["record"] = WITHOUT_TOMBSTONES
        rows += delivered(rng, row, damage, again)
    return rows


def delivered(rng: Random, row: Row, damage: float, again: float) -> list[Row]:
    """Return a record as it is, or damaged, delivered twice, or contradicted."""
    if rng.random() < damage:
        row = row | {"value": damaged(rng, row["value"])}
    if rng.random() < again:
        return [row, row | rng.choice(({}, {"source": "r"}, {"at": START_MS}))]
    if rng.random() < damage:
        return [row, row | {"value": damaged(rng, row["value"])}]
    return [row]


def damaged(rng: Random, value: bytes | None) -> bytes | None:
    """Return a value that is cut, longer, changed, or not there."""
    if not value or rng.random() < 0.1:
        return rng.choice((None, b"", b"\x00"))
    at = rng.randrange(len(value))
    changed = bytes([value[at] ^ (1 << rng.randrange(8))])
    return rng.choice(
        (value[:at], value + b"\x00", value[:at] + changed + value[at + 1 :])
    )
