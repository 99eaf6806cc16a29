"""Members that are gone, and their last commits, against the driver's log."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.causes import LastSeen, Silence, silences_of
from pipeline.groups import group_source
from studies.recording.planned_events import PLANNED
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import EVENTS, Planned, planned_rebalances

SEEN = [
    LastSeen("b", None, 2, 4_000),
    LastSeen("a", None, 3, 9_000),
    LastSeen("c", "i", 1, 5_000),
]
CLASSIC = [name for name in PLANNED if name != "new-protocol"]


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ({"a", "b", "i"}, []),
        ({"a", "i"}, [("b", 2, 6_000)]),
        ({"a", "b", "c"}, [("c", 1, 5_000)]),
        ({"b", "i"}, [("a", 3, 1_000)]),
        (set(), [("a", 3, 1_000), ("b", 2, 6_000), ("c", 1, 5_000)]),
    ],
)
def test_members_that_are_gone(
    seats: set[str], expected: list[tuple[str, int, int]]
) -> None:
    assert [*silences_of(SEEN, seats, 10_000)] == [Silence(*row) for row in expected]


def test_members_without_partitions_or_commits_tell_nothing() -> None:
    before = [LastSeen("a", None, 0, 5), LastSeen("b", None, 4, None)]
    assert silences_of(before, (), 10) == ()
    assert silences_of([LastSeen("a", None, 1, 50)], (), 10) == (Silence("a", 1, 0),)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an audit of the recorded events."""
    out = tmp_path_factory.mktemp("audit")
    return Path(local_audit([EVENTS], out, assignors=["optimum"]).out)


def recorded(source: Path, group: str) -> list[tuple[Silence, ...]]:
    """Return the members that are gone in each rebalance."""
    found = group_source(str(source))
    moments = found.moments(group)
    return [found.silences(moment) for moment in moments]


@pytest.mark.parametrize("group", PLANNED)
def test_records_and_tables_state_the_same(tables: Path, group: str) -> None:
    assert recorded(EVENTS, group) == recorded(tables, group)


@pytest.mark.parametrize("group", CLASSIC)
def test_the_log_has_no_longer_time_without_a_reader(group: str) -> None:
    """A killed member commits no more; one that is closed commits at its end."""
    rebalances = planned_rebalances(EVENTS)[group]
    found = recorded(EVENTS, group)
    assert found[0] == ()
    for silences, (before, rebalance) in zip(
        found[1:], pairwise(rebalances), strict=True
    ):
        members = before.case.members or {}
        clients = {name: member.client_id for name, member in members.items()}
        gone = {str(clients[silence.member_id]): silence for silence in silences}
        ended = {act.client: act for act in rebalance.acts if act.event != "start"}
        for client, silence in gone.items():
            act = ended[client]
            if act.event in ("kill", "leave"):
                check_end(silence, rebalance.at - act.ms, act.event, group)
        ends = rebalance.clients("kill", "leave")
        assert ends <= {*gone} | _without_commit(before)


def check_end(silence: Silence, unread_ms: int, event: str, group: str) -> None:
    """Assert that the bound is that of the log, for a known end of a member."""
    session_ms = PLANNED[group].session_ms
    if event == "kill":
        assert session_ms <= unread_ms + 1_500
        assert unread_ms <= silence.ms <= unread_ms + 6_000
    else:
        assert silence.ms <= unread_ms < session_ms


def _without_commit(rebalance: Planned) -> set[str | None]:
    members = (rebalance.case.members or {}).values()
    return {member.client_id for member in members if member.last_commit_at is None}


def test_a_dead_consumer_leaves_partitions_without_a_reader(tables: Path) -> None:
    """Its death 45.1 s before the rebalance is in the driver's log alone."""
    (silence,) = recorded(tables, "dead-consumer")[1]
    assert silence.partitions == 4
    assert silence.ms == 45_189
    rebalance = planned_rebalances(EVENTS)["dead-consumer"][1]
    (act,) = rebalance.acts
    assert (act.event, rebalance.at - act.ms) == ("kill", 45_126)


def test_the_new_protocol_tells_nothing(tables: Path) -> None:
    assert recorded(tables, "new-protocol") == [()] * 5
