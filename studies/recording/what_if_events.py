"""Some planned events again, under the settings that a what-if of an audit changes.

The acts are those of the groups of `planned_events` after which these are named. The
broker waits longer for the first members of a group, which only staggered starts
notice.
"""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import Final

from studies.recording.planned_events import (
    NEXT,
    PLANNED,
    STATE_SECONDS,
    PlannedGroup,
    PlannedRecording,
    crash_loop,
    rolling_restart,
)
from studies.recording.recorded_group import RecordedGroup
from studies.recording.scenarios import CONSUMER, COOPERATIVE, LIBRDKAFKA

DELAY_MS: Final = 20_000
STAGGER_SECONDS: Final = 5


def awaited_start(group: RecordedGroup) -> None:
    """Let members start one after the other, before the group has its first state."""
    for place in range(4):
        time.sleep(STAGGER_SECONDS if place else 0)
        group.start(LIBRDKAFKA, "range", topics=["payments"], waits=False)
    group.settle()
    time.sleep(STATE_SECONDS)
    group.close()


def _names(count: int) -> list[str]:
    return [f"static-{number}" for number in range(count)]


WHAT_IFS: Final = MappingProxyType(
    {
        "crash-loop-cooperative": PlannedGroup(
            run=lambda group: crash_loop(group, assignors=(COOPERATIVE,)),
            session_ms=PLANNED["crash-loop"].session_ms,
        ),
        "crash-loop-next": PlannedGroup(
            run=lambda group: crash_loop(group, protocol=CONSUMER), settings=NEXT
        ),
        "crash-loop-static": PlannedGroup(
            run=lambda group: crash_loop(group, _names(3)),
            session_ms=PLANNED["crash-loop"].session_ms,
        ),
        "rolling-restart-cooperative": PlannedGroup(
            run=lambda group: rolling_restart(group, COOPERATIVE)
        ),
        "rolling-restart-next": PlannedGroup(
            run=lambda group: rolling_restart(group, protocol=CONSUMER), settings=NEXT
        ),
        "rolling-restart-static": PlannedGroup(
            run=lambda group: rolling_restart(group, "range", instances=_names(4))
        ),
        "staggered-start-delayed": PlannedGroup(run=awaited_start),
    }
)
"""Groups whose names begin with that of the group of `PLANNED` that they repeat."""

PLANNED_RECORDINGS: Final = MappingProxyType(
    {
        "events": PlannedRecording(groups=PLANNED),
        "what-ifs": PlannedRecording(groups=WHAT_IFS, delay_ms=DELAY_MS),
    }
)
"""Recordings of planned events by name."""
