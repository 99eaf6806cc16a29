"""A recording of `studies.recording`: both sides of every group, in order.

One side is what the pipeline reconstructs from the broker's records, the other is what
the consumers reported in their callbacks. Comparisons use the order of events, never
times, so they hold on a slow machine.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.cases import Case, unpack
from pipeline.history.stream import histories
from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    GroupMetadata,
    decode_record,
)
from pipeline.rows import CASE, Row
from pipeline.side_files.sidecars import read_topics
from pipeline.topic_names import with_names
from rebalance.protocol import decode_assignment
from tests.pipeline.recorded import (
    Pairs,
    in_order,
    named_pairs,
    pairs,
    records_in,
)

NEVER = 1 << 62
Event = dict[str, Any]


class Given(NamedTuple):
    """Partitions that a record gives a member; ``number`` is generation or epoch."""

    number: int
    held: Pairs
    at: int


class Called(NamedTuple):
    """A callback, and what the member has after it; ``number`` None: not reported."""

    event: str
    number: int | None
    held: Pairs
    ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One consumer process: what the driver did to it, and its callbacks."""

    client: str
    start: Event
    subscriptions: tuple[tuple[int, tuple[str, ...]], ...]
    ended: str | None
    ended_ms: int
    called: tuple[Called, ...]
    member_ids: frozenset[str]

    @property
    def assigned(self) -> list[Called]:
        """The callbacks of assignments."""
        return [called for called in self.called if called.event == "assign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One group of a recording.

    ``given`` has the assignments in the records per member id, in order; those of a
    static member that returned are among them, although they are no rebalance.
    """

    cases: list[Case]
    others: list[Row]
    given: dict[str, list[Given]]
    lives: dict[str, Life]
    clients: dict[str, str]

    def life(self, member_id: str) -> Life:
        """Return the process that had a member id.

        Its callbacks name it. One that was never called back with the id is found by
        its client id, with which member ids begin in the classic protocol.
        """
        for life in self.lives.values():
            if member_id in life.member_ids:
                return life
        return self.lives[self.clients[member_id]]


def read_recording(folder: Path) -> dict[str, Recorded]:
    """Read a recording, by group."""
    names = read_topics(folder / "topics.json").names
    records = records_in(folder)
    cases: dict[str, list[Case]] = defaultdict(list)
    others: dict[str, list[Row]] = defaultdict(list)
    for row in histories(in_order(records)):
        if row["what"] == CASE:
            case = with_names(unpack(row["value"]), names)
            cases[case.group_id].append(case)
        elif row.get("group_id") is not None:
            others[row["group_id"]].append(row)
    lives = _lives(folder / "_callbacks.jsonl.gz")
    given, clients = _given(records, names)
    return {
        group: Recorded(
            cases=cases[group],
            others=others[group],
            given=given[group],
            lives=lives[group],
            clients=clients,
        )
        for group in lives
    }


def _given(
    records: Sequence[Row], names: dict[str, str]
) -> tuple[dict[str, dict[str, list[Given]]], dict[str, str]]:
    """Decode the assignments per group and member; also return client ids."""
    found: dict[str, dict[str, list[Given]]] = defaultdict(lambda: defaultdict(list))
    clients: dict[str, str] = {}

    def add(group_id: str, member_id: str, given: Given) -> None:
        mine = found[group_id][member_id]
        if not mine or mine[-1][:2] != given[:2]:
            mine.append(given)

    for row in records:
        record = decode_record(row["key"], row["value"])
        at = row["at"]
        if isinstance(record, GroupMetadata):
            for member in record.members:
                clients.setdefault(member.member_id, member.client_id)
                one = Given(record.generation, _assigned(member.assignment), at)
                add(record.group_id, member.member_id, one)
        elif isinstance(record, ConsumerGroupCurrentMemberAssignment):
            one = Given(record.epoch, named_pairs(record.assigned, names), at)
            add(record.group_id, record.member_id, one)
        elif isinstance(record, ConsumerGroupMemberMetadata):
            clients[record.member_id] = record.client_id
    return found, clients


def _assigned(message: bytes) -> Pairs:
    if not message:
        return frozenset()
    partitions = decode_assignment(message).partitions
    return frozenset((topic, n) for topic, numbers in partitions for n in numbers)


def _lives(path: Path) -> dict[str, dict[str, Life]]:
    events: dict[str, list[Event]] = defaultdict(list)
    with gzip.open(path) as lines:
        for event in map(json.loads, lines):
            events[event["client"]].append(event)
    found: dict[str, dict[str, Life]] = defaultdict(dict)
    for client, mine in events.items():
        found[mine[0]["group"]][client] = _life(client, mine)
    return found


def _life(client: str, events: list[Event]) -> Life:
    (start,) = [event for event in events if event["event"] == "start"]
    wants = [event for event in events if event["event"] in ("start", "subscribe")]
    ends = [event for event in events if event["event"] in ("leave", "kill")]
    end = ends[0] if ends else None
    return Life(
        client=client,
        start=start,
        subscriptions=tuple((event["ms"], tuple(event["topics"])) for event in wants),
        ended=None if end is None else end["event"],
        ended_ms=NEVER if end is None else end["ms"],
        called=tuple(_called(events, NEVER if end is None else end["ms"])),
        member_ids=frozenset(
            event["member"] for event in events if event.get("member")
        ),
    )


def _called(events: list[Event], ended_ms: int) -> Iterator[Called]:
    """Yield the callbacks, each with what the consumer then has.

    A consumer revokes only what it was called back for. One that closes is an
    exception: kafka-python (3.0.12) revokes an assignment that arrived while it
    closed, although it has not called back for it.
    """
    held: Pairs = frozenset()
    for event in events:
        if event["event"] not in ("assign", "revoke", "lost"):
            continue
        changed = pairs(event["partitions"])
        if event["event"] == "assign":
            held |= changed
        else:
            assert changed <= held or event["ms"] >= ended_ms, event
            held -= changed
        yield Called(event["event"], event.get("generation"), held, event["ms"])
