"""The recording of planned events: each rebalance with the acts that led to it.

An act is in the driver's log with the time before it is done. Its rebalance is the
group's first one after it is due: at once, or, for a member that went without a word,
when its session can have timed out. That of a start is the first one with its member.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.cases import Case, CaseMember
from pipeline.side_files.sidecars import read_topics
from studies.recording.planned_events import SLOW_MS
from tests.pipeline.local_reading import cases_of
from tests.pipeline.recorded import reconstructed, records_in
from tests.support.wire import RECORDINGS

EVENTS = RECORDINGS / "events"
PLAYED = RECORDINGS / "what-ifs"
BROKER_SESSION_MS = 6_000
"""Session timeout of the new protocol, which the broker has."""
EARLY_MS = 1_500
"""A session begins with the last heartbeat, which is older than the end of a member."""
LATE_MS = 20_000
"""A rebalance is at most this much later than its act is due, on a busy machine."""
ROUND_MS = 5_000
"""Most time between two rounds of a cooperative rebalance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act of the driver.

    ``due`` is the earliest time of its rebalance, None if it must not cause one.
    """

    ms: int
    group: str
    client: str
    event: str
    due: int | None
    assignors: tuple[str, ...] = ()
    topic: str | None = None


@dataclass(slots=True, kw_only=True)
class Planned:
    """A rebalance of the records and the acts of the log that led to it.

    ``assignors`` are those of each member by client id, as the log has them.
    """

    case: Case
    acts: list[Act] = field(default_factory=list)
    assignors: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def at(self) -> int:
        """Time of the generation's record, or of the target's."""
        assert self.case.at is not None
        return self.case.at

    @property
    def members(self) -> dict[str | None, CaseMember]:
        """The members by client id, which no two share."""
        members = (self.case.members or {}).values()
        return {member.client_id: member for member in members}

    @property
    def partitions(self) -> int:
        """The number of partitions that it assigns."""
        held = [member.assigned or {} for member in self.members.values()]
        return sum(len(numbers) for topics in held for numbers in topics.values())

    @property
    def assignor(self) -> str | None:
        """The first assignor that all members have; None in the new protocol."""
        first, *others = self.assignors.values()
        common = [name for name in first if all(name in other for other in others)]
        return common[0] if common else None

    def clients(self, *events: str) -> set[str]:
        """Return the client ids of acts."""
        return {act.client for act in self.acts if act.event in events}


@cache
def planned_acts(folder: Path) -> dict[str, list[Act]]:
    """Return the acts by group, in the order of time."""
    lines = (folder / "_acts.jsonl").read_text().splitlines()
    logged: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in map(json.loads, lines):
        logged[row["group"]].append(row)
    return {
        group: [_act(row, rows[:place], rows[place + 1 :]) for place, row in numbered]
        for group, rows in logged.items()
        for numbered in [list(enumerate(rows))]
    }


def _act(
    row: dict[str, Any], before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> Act:
    mine = [other for other in before if other["client"] == row["client"]]
    starts = [other for other in [*mine, row] if other["event"] == "start"]
    start = starts[-1] if starts else None
    back = [
        other["ms"]
        for other in after
        if other["client"] == row["client"] and other["event"] == "start"
    ][:1]
    return Act(
        ms=row["ms"],
        group=row["group"],
        client=row["client"],
        event=row["event"],
        due=_due(row, start, mine, back),
        assignors=tuple(row.get("assignors", ())),
        topic=row.get("topic"),
    )


def _due(
    row: dict[str, Any],
    start: dict[str, Any] | None,
    mine: list[dict[str, Any]],
    back: list[int],
) -> int | None:
    """Return the earliest time of an act's rebalance.

    A static member does not leave: it is missed after its session (KIP-345), unless it
    is back by then.
    """
    ms: int = row["ms"]
    if start is None:
        return ms
    session_ms = (
        start["session_ms"] if start["protocol"] == "classic" else BROKER_SESSION_MS
    )
    is_static = start["instance"] is not None
    if row["event"] == "start":
        ended = [other["ms"] for other in mine if other["event"] in ("leave", "kill")]
        return None if is_static and ended and ms < ended[-1] + session_ms else ms
    if row["event"] == "pause":
        return ms + SLOW_MS - EARLY_MS
    if row["event"] == "kill" or (row["event"] == "leave" and is_static):
        if is_static and back and back[0] < ms + session_ms:
            return None
        return ms + session_ms - EARLY_MS
    return ms


@cache
def planned_cases(folder: Path) -> dict[str, list[Case]]:
    """Return the rebalances of the records by group, in order."""
    names = read_topics(folder / "topics.json").names
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases_of(reconstructed(records_in(folder)), names):
        found[case.group_id].append(case)
    return found


@cache
def planned_rebalances(folder: Path) -> dict[str, list[Planned]]:
    """Return each rebalance with its acts, by group."""
    found: dict[str, list[Planned]] = {}
    for group, acts in planned_acts(folder).items():
        rebalances = [Planned(case=case) for case in planned_cases(folder)[group]]
        for act in acts:
            later = [each for each in rebalances if _can_be_of(each, act)]
            if later:
                later[0].acts.append(act)
        _follow_assignors(rebalances)
        found[group] = rebalances
    return found


def _can_be_of(rebalance: Planned, act: Act) -> bool:
    if act.due is None or rebalance.at < act.due:
        return False
    return act.event != "start" or act.client in rebalance.members


def _follow_assignors(rebalances: list[Planned]) -> None:
    assignors: dict[str, tuple[str, ...]] = {}
    for rebalance in rebalances:
        for act in rebalance.acts:
            if act.event in ("leave", "kill"):
                assignors.pop(act.client, None)
            elif act.event == "start":
                assignors[act.client] = act.assignors
        rebalance.assignors = dict(assignors)


def unanswered(folder: Path, group: str, late_ms: int = LATE_MS) -> list[str]:
    """Return the acts without their rebalance; those of others must be in time."""
    acts, rebalances = planned_acts(folder)[group], planned_rebalances(folder)[group]
    found = {act: each.at for each in rebalances for act in each.acts}
    for act, at in found.items():
        assert act.due is not None
        assert act.due <= at <= act.due + late_ms
    return [act.event for act in acts if act.due is not None and act not in found]


def check_acts(rebalances: list[Planned]) -> None:
    """Assert that a rebalance without an act continues one before it."""
    assert rebalances[0].acts
    for place, rebalance in enumerate(rebalances):
        if not rebalance.acts:
            assert rebalance.case.cooperative
            assert rebalance.at < rebalances[place - 1].at + ROUND_MS
