"""Read a cluster, write instances and assignments, report missing facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import typer

from oracle.cli.input.input_documents import Complaints
from oracle.cli.options.snapshot import SnapshotOptions
from oracle.cli.printing.answer_tables import NAME_SHOWN
from oracle.cli.printing.parts import Cell, sheet_of
from oracle.cli.printing.sink import Sink, opened_sink
from oracle.cli.printing.terminal import complain, printed, working
from oracle.names import abridged
from oracle.writing import replacing
from pipeline.live import (
    ClientSettings,
    ClusterState,
    GroupSnapshot,
    read_client_properties,
    read_cluster,
    snapshots_of,
)
from rebalance import OffsetReset, OracleError, to_json


def write_snapshots(options: SnapshotOptions) -> None:
    """Run ``snapshot``.

    Raises
    ------
    OutsideError
        If the cluster does not answer.
    OracleError
        If no group has members.
    """
    server, config = options.bootstrap_server, options.command_config
    settings = ClientSettings() if config is None else read_client_properties(config)
    with working(f"reading {server}"):
        cluster = read_cluster(server, settings, groups=options.group or [])
    complaints = Complaints()
    taken = _taken(cluster, OffsetReset(options.auto_offset_reset), complaints)
    if not taken:
        raise OracleError(f"{server}: no group with members that can be read")
    with opened_sink(options.output, as_json=options.as_json) as sink:
        _write(sink, taken)
    if options.assignments is not None:
        with replacing(options.assignments) as writer:
            for snapshot in taken:
                writer.write(to_json(snapshot.assignment) + b"\n")
    raise typer.Exit(complaints.exit_code)


def _taken(
    cluster: ClusterState, offset_reset: OffsetReset, complaints: Complaints
) -> list[GroupSnapshot]:
    for note in cluster.notes:
        complain(f"no lag without {note}")
    taken = []
    for snapshot in snapshots_of(cluster, offset_reset):
        if isinstance(snapshot, GroupSnapshot):
            taken.append(snapshot)
        else:
            complaints.add(f"group {snapshot.group_id}: {snapshot.reason}")
    return taken


def _write(sink: Sink, taken: Sequence[GroupSnapshot]) -> None:
    if not sink.for_people:
        for snapshot in taken:
            sink.write_document(to_json(snapshot.rebalance))
        return
    sink.write_text(printed(sheet_of("Groups", _OF_GROUPS, taken), ""))


def _partitions(snapshot: GroupSnapshot) -> int:
    return sum(topic.partitions for topic in snapshot.rebalance.topics.values())


def _loads(snapshot: GroupSnapshot) -> str:
    held = snapshot.assignment.members or {}
    loads = [sum(map(len, of_one.values())) for of_one in held.values()]
    return f"{min(loads):,} to {max(loads):,}"


def _lag(snapshot: GroupSnapshot) -> int | None:
    """Return the lag of the group, in records; None if unknown for a topic."""
    topics = snapshot.rebalance.topics.values()
    lags = [topic.lag for topic in topics if topic.partitions]
    if any(lag is None for lag in lags):
        return None
    return sum(sum(lag or ()) for lag in lags)


_OF_GROUPS: Final[dict[str, Callable[[GroupSnapshot], Cell]]] = {
    "group": lambda row: abridged(row.rebalance.group, NAME_SHOWN),
    "state": lambda row: row.state,
    "assignor": lambda row: abridged(row.assignment.assignor or "unknown", NAME_SHOWN),
    "members": lambda row: len(row.rebalance.members),
    "topics": lambda row: len(row.rebalance.topics),
    "partitions": _partitions,
    "load": _loads,
    "lag (records)": _lag,
}
