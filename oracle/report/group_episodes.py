"""Cooperative rebalances by group: rounds, moves, and time without an owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary import equals, is_true

_KEYS: Final = ("cluster", "group_id", "client_assignor")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEpisodes:
    """Cooperative rebalances of one group, between stable states."""

    cluster: str
    group: str
    assignor: str | None
    finished: int
    open: int
    rounds: int
    rounds_most: int
    moves: int
    moves_least: int
    at_optimum: int
    unowned_partition_seconds: float

    @property
    def needless(self) -> int:
        """Moves beyond the fewest."""
        return self.moves - self.moves_least


def episodes_of(episodes: pa.Table) -> list[GroupEpisodes]:
    """Return one row per group and assignor, most needless moves first."""
    rows = _sums(episodes.filter(is_true(episodes["cooperative"]))).to_pylist()
    return sorted(map(_episodes, rows), key=_most_to_gain)


def _sums(episodes: pa.Table) -> pa.Table:
    """Sum rounds and moves of the finished episodes; moves where a least is proved."""
    done = equals(episodes["ended"], "rest")
    proved = pc.and_(done, pc.is_valid(episodes["moves_least"]))
    at_optimum = pc.and_(done, is_true(episodes["at_optimum"]))
    columns = {name: episodes[name] for name in _KEYS} | {
        "finished": pc.cast(done, pa.int64()),
        "open": pc.cast(pc.invert(done), pa.int64()),
        "rounds": pc.if_else(done, pc.cast(episodes["rounds"], pa.int64()), 0),
        "moves": pc.if_else(proved, episodes["moves"], 0),
        "moves_least": pc.if_else(proved, episodes["moves_least"], 0),
        "at_optimum": pc.cast(at_optimum, pa.int64()),
        "unowned_ms": episodes["unowned_partition_ms"],
    }
    sums = [(name, "sum") for name in columns if name not in _KEYS]
    table = pa.table(columns).append_column("longest", episodes["rounds"])
    grouped = table.group_by(list(_KEYS), use_threads=False)
    return grouped.aggregate([*sums, ("longest", "max")])


def _episodes(row: Mapping[str, Any]) -> GroupEpisodes:
    return GroupEpisodes(
        cluster=row["cluster"],
        group=row["group_id"],
        assignor=row["client_assignor"] or None,
        finished=row["finished_sum"],
        open=row["open_sum"],
        rounds=row["rounds_sum"] or 0,
        rounds_most=row["longest_max"],
        moves=row["moves_sum"] or 0,
        moves_least=row["moves_least_sum"] or 0,
        at_optimum=row["at_optimum_sum"],
        unowned_partition_seconds=(row["unowned_ms_sum"] or 0) / 1000,
    )


def _most_to_gain(row: GroupEpisodes) -> tuple[int, int, str, str, str]:
    names = (row.cluster, row.group, row.assignor or "")
    return -row.needless, -row.finished, *names
