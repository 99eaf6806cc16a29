"""Causes of planned events are those of the driver's log; what-ifs are as played.

Reaches into `pipeline.tables` for the schema of the rows that what-ifs count.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from oracle.report.what_ifs import GroupWhatIfs, group_what_ifs
from pipeline.causes import Cause
from pipeline.groups import group_source
from pipeline.tables import SCHEMAS
from studies.recording.planned_events import PLANNED
from tests.pipeline.planned_acts import EVENTS, planned_rebalances
from tests.pipeline.planned_causes import ClientsCause, causes_of_log
from tests.support.wire import RECORDINGS

PLAYED = RECORDINGS / "what-ifs"
COLUMNS = (
    *("cluster", "group_id", "at", "source_partition", "source_offset", "protocol"),
    *("members", "causes"),
)


@cache
def causes_of_events() -> dict[str, list[tuple[Cause, ...]]]:
    source = group_source(str(EVENTS))
    return {
        group: [source.causes(moment) for moment in source.moments(group)]
        for group in PLANNED
    }


def stated(group: str) -> list[set[ClientsCause]]:
    """Return the causes of each rebalance, with client ids."""
    client = {
        name: member.client_id or ""
        for rebalance in planned_rebalances(EVENTS)[group]
        for name, member in (rebalance.case.members or {}).items()
    }
    return [
        {
            ClientsCause(
                cause.kind,
                frozenset(client[name] for name in cause.members),
                frozenset(cause.topics),
            )
            for cause in causes
        }
        for causes in causes_of_events()[group]
    ]


@pytest.mark.parametrize("group", PLANNED)
def test_causes_are_those_of_the_log(group: str) -> None:
    assert stated(group) == causes_of_log(planned_rebalances(EVENTS)[group])


def test_the_topic_that_grew_is_named() -> None:
    (second,) = causes_of_events()["topic-growth"][1]
    assert second == Cause("partitions-added", 1, (), ("clicks",))


def what_ifs(group: str, delay_ms: int = 0) -> GroupWhatIfs:
    cases = [rebalance.case for rebalance in planned_rebalances(EVENTS)[group]]
    rows: list[dict[str, Any]] = [
        {
            "cluster": "events",
            "group_id": group,
            "at": datetime.fromtimestamp((case.at or 0) / 1000, UTC),
            "source_partition": case.source_partition,
            "source_offset": case.source_offset,
            "protocol": case.protocol,
            "members": len(case.members or {}),
            "causes": [*map(asdict, causes)],
        }
        for case, causes in zip(cases, causes_of_events()[group], strict=True)
    ]
    schema = pa.schema([SCHEMAS["rebalances"].field(name) for name in COLUMNS])
    (found,) = group_what_ifs(pa.Table.from_pylist(rows, schema), [delay_ms])
    return found


def test_static_ids_avoid_as_many_rebalances_as_were_avoided_when_played() -> None:
    played = planned_rebalances(PLAYED)["rolling-restart-static"]
    avoided = what_ifs("rolling-restart").avoided_by_static_ids
    assert len(planned_rebalances(EVENTS)["rolling-restart"]) - avoided == len(played)


def test_a_crash_loop_needs_a_session_as_long_as_the_what_if_assumes() -> None:
    """Four of the played crashes ended after the session, which was 6 s, not 60 s."""
    played = planned_rebalances(PLAYED)["crash-loop-static"]
    avoided = what_ifs("crash-loop").avoided_by_static_ids
    rest = len(planned_rebalances(EVENTS)["crash-loop"]) - avoided
    assert (rest, len(played)) == (1, 1 + 2 * 4)


def test_a_longer_delay_merges_as_many_rebalances_as_were_merged_when_played() -> None:
    longer_ms = 20_000 - 3_000  # the broker's delays
    found = what_ifs("staggered-start", longer_ms)
    (played,) = [
        rebalance
        for rebalance in planned_rebalances(PLAYED)["staggered-start-delayed"]
        if rebalance.clients("start")
    ]
    assert len(played.clients("start")) == 4
    assert found.merged_by_delay == {longer_ms: 3}
