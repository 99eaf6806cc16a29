"""Both recordings, reconstructed, and what else was observed of the long one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pipeline.cases import Case, Held
from pipeline.describe.group_case import case_of
from pipeline.describe.refusal import NotJudged
from pipeline.files.lines import read_lines
from pipeline.history.stream import ORDER, histories
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.known_counts import known_counts
from pipeline.records import TopicIdPartitions
from pipeline.rows import (
    TOPIC,
    TOPIC_ID,
    Row,
    keyed,
    record_row,
    sighting_of,
)
from pipeline.side_files.sidecars import read_topics
from pipeline.sources.describe_files import read_snapshots
from pipeline.sources.record_lines import row_of_line
from pipeline.topic_ids import text_of_id
from tests.pipeline.local_reading import cases_of
from tests.support.wire import RECORDINGS, TESTS

CHURN = RECORDINGS / "churn"
FIRST_LOOK = RECORDINGS / "first-look"
LATE_MS = 3_000
"""A callback runs this much after its record at most."""
Pairs = frozenset[tuple[str, int]]


def pairs(held: Held | None) -> Pairs:
    """Return partitions as a set."""
    return frozenset((t, n) for t, numbers in (held or {}).items() for n in numbers)


def named_pairs(
    assigned: Iterable[TopicIdPartitions], names: Mapping[str, str]
) -> Pairs:
    """Return partitions with the names of their topics."""
    return frozenset(
        (names[text_of_id(topic.topic_id)], number)
        for topic in assigned
        for number in topic.partitions
    )


def assigned_pairs(case: Case) -> dict[str, Pairs]:
    """Return the partitions that each member is assigned."""
    return {name: pairs(m.assigned) for name, m in (case.members or {}).items()}


def records_in(folder: Path) -> list[Row]:
    """Return the records of a recording, each with its group."""
    return [
        keyed(
            record_row(
                folder.name,
                {
                    "source_partition": fields["partition"],
                    "source_offset": fields["offset"],
                    "at": fields["timestamp"],
                },
                key=fields["key"],
                value=fields["value"],
            )
        )
        for fields in pq.read_table(folder / "consumer_offsets.parquet").to_pylist()
    ]


@cache
def churn_records() -> tuple[Row, ...]:
    """Return the records of the long recording."""
    return tuple(records_in(CHURN))


@cache
def churn_rows() -> tuple[Row, ...]:
    """Return every row that the reconstruction of the long recording yields."""
    return tuple(reconstructed(list(churn_records())))


@cache
def first_look_rows() -> tuple[Row, ...]:
    """Return every row that the reconstruction of the short recording yields."""
    lines = read_lines((FIRST_LOOK / "consumer_offsets.jsonl").open("rb"))
    rows = [keyed(row_of_line(line, "first-look")) for line in lines]
    return tuple(reconstructed(rows))


def named_cases(rows: tuple[Row, ...]) -> list[Case]:
    """Return the cases of the new protocol, topics by name."""
    cases = cases_of(rows, facts_of(rows).names)
    return [case for case in cases if case.protocol == "consumer"]


def facts_of(rows: Sequence[Row], topics: Path | None = None) -> ClusterFacts:
    """Return the topics that a recording states."""
    return facts_with({} if topics is None else read_topics(topics).at_end, rows)


def facts_with(at_end: Mapping[str, int], rows: Sequence[Row]) -> ClusterFacts:
    """Return the topics that rows state, with their sizes at the end."""
    names = {text_of_id(r["key"]): r["record"] for r in rows if r["what"] == TOPIC_ID}
    seen = (sighting_of(r) for r in rows if r["what"] == TOPIC)
    counts = CountSources(at_end=at_end, shown=known_counts(seen, names))
    return ClusterFacts(counts=counts, names=names)


def reconstructed(rows: list[Row]) -> list[Row]:
    """Return the cases of records in any order, and the other rows."""
    return list(histories(in_order(rows)))


def in_order(rows: list[Row], columns: Iterable[str] = ORDER) -> list[Row]:
    """Sort as Spark does; the order of texts is that of their bytes in UTF-8."""

    def key(row: Row) -> list[tuple[bool, object]]:
        return [(row.get(name) is not None, row.get(name)) for name in columns]

    return sorted(rows, key=key)


@cache
def churn_callbacks() -> tuple[dict[str, Any], ...]:
    """Return what the clients of the long recording reported, and the driver's acts."""
    with gzip.open(CHURN / "_callbacks.jsonl.gz") as lines:
        found = [json.loads(line) for line in lines]
    return tuple(sorted(found, key=lambda event: event["ms"]))


def described_states() -> list[tuple[str, Case]]:
    """Return the states in describe texts of the time of the long recording."""
    files = [
        (path.name, read_lines(path.open("rb")))
        for path in sorted((TESTS / "data/churn-describe").glob("*.txt"))
    ]
    found = []
    for snapshot in read_snapshots(files)[0]:
        with suppress(NotJudged):
            found.append((snapshot.name, case_of(snapshot)))
    return found
