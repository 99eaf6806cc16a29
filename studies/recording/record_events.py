"""Recordings of planned events: every group acts, and stays until the end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event as Signal
from threading import Thread
from typing import Final

from conformance.broker import Listener, running_broker
from studies.confirmation import BrokerGroups
from studies.recording.broker_log import produce
from studies.recording.event_log import Events
from studies.recording.planned_events import TOPICS, PlannedGroup
from studies.recording.record import write_recording
from studies.recording.recorded_group import RecordedGroup, RecordingPlace
from studies.recording.what_if_events import PLANNED_RECORDINGS

START_SECONDS: Final = 1
"""Between the starts of two groups, so that their consumers do not start at once."""
TRAFFIC_SECONDS: Final = 4
MOST_RECORDS: Final = 5


def record_events(
    out: Path, *, kind: str = "events", groups: Sequence[str] | None = None
) -> int:
    """Record the planned events of the named groups; return the number of records.

    ``kind`` is a key of `PLANNED_RECORDINGS`, and ``groups`` are names of its groups,
    by default all. The folder ``out`` receives the files of
    `studies.recording.record.record`, and the driver's acts, ``_acts.jsonl``.

    Raises
    ------
    OutsideError
        If the broker does not start, a group does not settle, or a consumer fails; in
        the last two cases, the files are written nevertheless.
    """
    out.mkdir(parents=True, exist_ok=True)
    planned = PLANNED_RECORDINGS[kind]
    delay = {"group.initial.rebalance.delay.ms": str(planned.delay_ms)}
    with running_broker(listener=Listener(settings=delay)) as broker:
        BrokerGroups(broker.address).create_topics(TOPICS)
        place = RecordingPlace(
            address=broker.address, topics=dict(TOPICS), events=Events()
        )
        recorded = [
            _group(place, name, planned.groups[name])
            for name in groups or planned.groups
        ]
        try:
            running = _run_all(place, recorded, planned.groups)
            count = write_recording(place, out)
            place.events.write_acts(out / "_acts.jsonl")
        finally:
            for group in recorded:
                group.stop()
        for future in running:
            future.result()
    return count


def _group(place: RecordingPlace, name: str, planned: PlannedGroup) -> RecordedGroup:
    return RecordedGroup(
        place=place,
        name=name,
        session_ms=planned.session_ms,
        settings=planned.settings,
    )


def _run_all(
    place: RecordingPlace,
    recorded: Sequence[RecordedGroup],
    planned: Mapping[str, PlannedGroup],
) -> list[Future[None]]:
    """Let all groups act; return when all have ended or failed."""
    running = []
    with _traffic(place), ThreadPoolExecutor(len(recorded)) as threads:
        for group in recorded:
            running.append(threads.submit(planned[group.name].run, group))
            time.sleep(START_SECONDS)
    return running


@contextmanager
def _traffic(place: RecordingPlace) -> Iterator[None]:
    """Let every partition receive records during the context."""
    ended, random = Signal(), Random(0)  # noqa: S311  # no secret

    def flow() -> None:
        while not ended.wait(TRAFFIC_SECONDS):
            produce(place.address, dict(place.topics), random, MOST_RECORDS)

    thread = Thread(target=flow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
