"""Planned events under other settings: the gain of real consumers from each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from studies.recording.what_if_events import DELAY_MS, WHAT_IFS
from tests.pipeline.planned_acts import (
    EVENTS,
    LATE_MS,
    PLAYED,
    check_acts,
    planned_acts,
    planned_rebalances,
    unanswered,
)


@pytest.mark.parametrize("group", WHAT_IFS)
def test_every_act_has_its_rebalance_and_every_rebalance_an_act(group: str) -> None:
    rebalances = planned_rebalances(PLAYED)[group]
    waited_ms = LATE_MS + 2 * DELAY_MS
    assert set(unanswered(PLAYED, group, waited_ms)) <= {"leave"}
    check_acts(rebalances)


def test_the_acts_are_those_of_the_first_recording() -> None:
    for group in WHAT_IFS:
        original, _, _ = group.rpartition("-")
        assert _acts(PLAYED, group) == _acts(EVENTS, original)


def _acts(folder: Path, group: str) -> list[tuple[str, str]]:
    acts = planned_acts(folder)[group]
    return [(act.event, act.client.rpartition("-")[2]) for act in acts]


def test_static_members_of_a_crash_loop_cause_no_rebalance_within_their_session() -> (
    None
):
    """Ten crashes end within the session, four do not."""
    assert len(planned_rebalances(EVENTS)["crash-loop"]) == 1 + 10 + 2 * 4
    assert len(planned_rebalances(PLAYED)["crash-loop-static"]) == 1 + 2 * 4


def test_static_members_restart_without_a_rebalance() -> None:
    assert len(planned_rebalances(EVENTS)["rolling-restart"]) == 1 + 2 * 4
    assert len(planned_rebalances(PLAYED)["rolling-restart-static"]) == 1


def test_a_longer_initial_delay_joins_staggered_starts() -> None:
    def before_all_had_started(folder: Path, group: str) -> int:
        rebalances = planned_rebalances(folder)[group]
        return sum(bool(each.clients("start")) for each in rebalances)

    assert before_all_had_started(EVENTS, "staggered-start") == 4
    assert before_all_had_started(PLAYED, "staggered-start-delayed") == 1


def test_other_groups_than_eager_ones_keep_most_of_their_partitions() -> None:
    """There are as many rebalances, or more, but fewer partitions are revoked."""
    name = "rolling-restart"
    count = len(planned_rebalances(EVENTS)[name])
    assert _revoked(EVENTS, name) == 144
    for changed, revoked in (("cooperative", 35), ("next", 47)):
        assert len(planned_rebalances(PLAYED)[f"{name}-{changed}"]) >= count
        assert _revoked(PLAYED, f"{name}-{changed}") == revoked
    assert _revoked(PLAYED, f"{name}-static") == 18


def _revoked(folder: Path, group: str) -> int:
    """Return the number of partitions that callbacks revoke."""
    with gzip.open(folder / "_callbacks.jsonl.gz") as lines:
        rows = [json.loads(line) for line in lines]
    return sum(
        len(numbers)
        for row in rows
        if row["group"] == group and row["event"] == "revoke"
        for numbers in row["partitions"].values()
    )
