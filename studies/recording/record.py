"""A recording: a broker, groups under churn, and the files that an audit reads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Final

from conformance.broker import running_broker
from studies.confirmation import BrokerGroups
from studies.recording.broker_log import (
    produce,
    write_log,
    write_offsets,
    write_topics,
)
from studies.recording.event_log import Events
from studies.recording.random_churn import churn_at_random
from studies.recording.recorded_group import RecordedGroup, RecordingPlace
from studies.recording.scenarios import SCENARIOS

TOPICS: Final = {"orders": 6, "payments": 5, "refunds": 4}
AT_ONCE: Final = 6


def record(
    out: Path,
    *,
    groups: Sequence[str] = tuple(SCENARIOS),
    seconds: float = 0.0,
    seed: int = 0,
) -> int:
    """Record the scenarios of the named groups; return the number of records.

    Parameters
    ----------
    out : Path
        Folder for ``consumer_offsets.parquet``, ``topics.json``, ``offsets.json``, and
        ``_callbacks.jsonl.gz``.
    groups : sequence of str
        Keys of `SCENARIOS`.
    seconds : float
        Time of random churn after each scenario.
    seed : int
        Of the random churn, and of the numbers of records in the topics.

    Raises
    ------
    OutsideError
        If the broker does not start, a group does not settle, or a consumer fails; in
        the last two cases, the files are written nevertheless.
    """
    out.mkdir(parents=True, exist_ok=True)
    events, random = Events(), Random(seed)  # noqa: S311  # no secret
    with running_broker() as broker:
        BrokerGroups(broker.address).create_topics(TOPICS)
        produce(broker.address, TOPICS, random)
        place = RecordingPlace(address=broker.address, topics=TOPICS, events=events)
        running = _run_all(place, groups, seconds, seed)
        produce(broker.address, TOPICS, random)
        count = write_recording(place, out)
        for future in running:
            future.result()
    return count


def write_recording(place: RecordingPlace, out: Path) -> int:
    """Write the files of a recording; return the number of records.

    Raises
    ------
    OutsideError
        If the broker's log cannot be read.
    """
    write_topics(place.address, place.topics, out / "topics.json")
    write_offsets(place.address, place.topics, out / "offsets.json")
    place.events.write(out / "_callbacks.jsonl.gz")
    return write_log(place.address, out / "consumer_offsets.parquet")


def _run_all(
    place: RecordingPlace, groups: Sequence[str], seconds: float, seed: int
) -> list[Future[None]]:
    """Run the scenarios of groups; return when all have ended or failed."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return [
            threads.submit(_run, place, name, seconds, Random(f"{seed} {name}"))  # noqa: S311
            for name in groups
        ]


def _run(place: RecordingPlace, name: str, seconds: float, random: Random) -> None:
    group, scenario = RecordedGroup(place=place, name=name), SCENARIOS[name]
    try:
        scenario.run(group)
        churn_at_random(group, scenario.kinds, random, seconds)
        group.close()
    finally:
        group.stop()
