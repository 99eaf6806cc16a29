"""Logs of group leaders in tests: what they contain, and the states in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from conformance.broker import Broker
from pipeline.cases import REPORTED, SNAPSHOT, Case
from pipeline.describe.record_states import with_record_states
from pipeline.files.lines import Line
from pipeline.rows import Row
from pipeline.sources.leader_logs import rows_of_leader_logs
from tests.pipeline.local_reading import cases_of, read_paths
from tests.pipeline.logged_groups import BROKER, NAME, segment_of
from tests.pipeline.recorded import in_order, reconstructed

Held = dict[str, list[int]]


def message(generation: int, group: str = "g", **held: Held) -> str:
    """What a leader logs, in the form of kafka-clients 4.3."""
    members = (
        f"{name}-1=Assignment(partitions=[{', '.join(_names(assigned))}])"
        for name, assigned in held.items()
    )
    return (
        f"[Consumer clientId=a, groupId={group}] Finished assignment for group at "
        f"generation {generation}: {{{', '.join(members)}}}"
    )


def _names(held: Held) -> Iterator[str]:
    return (f"{topic}-{number}" for topic in held for number in held[topic])


def read(*logs: str) -> list[Row]:
    texts = (
        (
            f"{n}.log",
            (
                Line(number=k, text=line.encode())
                for k, line in enumerate(text, start=1)
            ),
        )
        for n, text in enumerate(log.split("\n") for log in logs)
    )
    return list(rows_of_leader_logs(texts))


def held(case: Case) -> dict[str, Any]:
    return {name: member.assigned for name, member in (case.members or {}).items()}


def snapshots(folder: Path) -> dict[int, dict[str, Any]]:
    rows = ds.dataset(folder / "snapshots", partitioning="hive").to_table().to_pylist()
    return {int(row["snapshot_id"].split()[1]): row for row in rows}


def with_records(*paths: Path) -> list[Case]:
    """Return the states, completed from records, by generation."""
    rows = reconstructed(read_paths(paths))
    return [
        case
        for case in cases_of(list(with_record_states(in_order(rows), {})))
        if case.owned_from == SNAPSHOT
    ]


def copied_segment(broker: Broker, folder: Path) -> Path:
    """Copy the broker's segment of the offsets topic to where a broker has it."""
    (folder / BROKER).mkdir()
    segment = folder / BROKER / NAME
    segment.write_bytes(segment_of(broker).read_bytes())
    return segment


def recorded_generations(records: Path, group: str) -> set[int | None]:
    """Return the generations of a group that its records have: those in force."""
    return {
        case.generation
        for case in cases_of(reconstructed(read_paths([records])))
        if case.group_id == group
    }


def are_in_force(broker: Broker, group: str, *generations: int | None) -> bool:
    """Whether the broker has recorded what a leader logged before it sent it."""
    return {*generations} <= recorded_generations(segment_of(broker), group)


def check_states(states: list[Case], records: Path, group: str) -> None:
    """Check that each state of a generation in the records was found there.

    On a slow machine, a member joins before the assignment of a generation is in force:
    a leader logged it, and no record has it.
    """
    recorded = recorded_generations(records, group)
    known = [state for state in states if state.generation in recorded]
    assert len(known) >= 3
    assert all(state.state_of is not None for state in known)
    assert {state.subscriptions for state in known} == {REPORTED}
