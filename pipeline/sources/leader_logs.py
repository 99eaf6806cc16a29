"""Logs of the leaders of groups: in Java, assignments without subscriptions.

``ConsumerCoordinator`` of Kafka's Java client (2.5 and newer) logs at INFO, in the
process of the group's leader only::

    [Consumer clientId=c-1, groupId=orders] Finished assignment for group at generation
    3: {c-1-b9f3=Assignment(partitions=[t-0, t-1]), c-2-35a7=Assignment(partitions=[])}

and, in every process, the protocol of a generation (``Successfully joined group with
generation Generation{generationId=3, memberId='c-1-b9f3', protocol='range'}``). All
members are listed, also those without partitions; subscriptions are not. Each
assignment becomes a snapshot (`pipeline.cases`): a group is at rest once its leader has
assigned, except between the rounds of a cooperative rebalance.

Text before and after the message does not matter; in lines of JSON, it is the value of
any field. A time counts only if its zone is stated. The logs of librdkafka are read in
`pipeline.sources.rdkafka_logs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

import orjson

from pipeline.cases import Held
from pipeline.files.lines import Line
from pipeline.records.record_times import MOST_MS
from pipeline.rows import SET_ASIDE, Row, case_row, repeated_row
from pipeline.sightings import MOST_PARTITIONS
from pipeline.sources.logged_assignment import CUT_OFF, Logged, refused, state_of
from pipeline.sources.rdkafka_logs import RDKAFKA_MARK, RdkafkaLog
from pipeline.sources.record_lines import INT32_MAX

MARK: Final = b"Finished assignment for group at generation "
_JOINED_MARK: Final = b"Successfully joined group with generation Generation{"

_WITHIN: Final = r"(?:(?!\[Consumer )[^\n])*"
_PREFIX: Final = rf"\[Consumer {_WITHIN}?groupId=(?P<group>{_WITHIN})\]"
_FINISHED: Final = re.compile(
    rf"{_PREFIX} Finished assignment for group at "
    r"generation (?P<generation>\d{1,19}): \{"
)
_JOINED: Final = re.compile(
    rf"{_PREFIX} Successfully joined group with "
    r"generation Generation\{generationId=(?P<generation>\d{1,10}), "
    r"memberId='[^\n]*?', protocol='(?P<protocol>[^\n']*)'\}"
)
_MEMBER: Final = re.compile(
    r"(?P<member>[^\n]+?)=Assignment\(partitions=\[(?P<partitions>[^\]\n]*)\]"
    r"(?:, userDataSize=\d+)?\)(?P<end>, |\})"
)
_PARTITION: Final = re.compile(r"([A-Za-z0-9._-]{1,249})-(\d{1,10})")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})? ?(?:Z|[+-]\d\d:?\d\d)(?![\d:])"
)
_TIME_FIELDS: Final = ("@timestamp", "timestamp", "time", "ts", "timeMillis")
_LEAST_MILLISECONDS: Final = 10**11
"""A smaller number is one of seconds; the year 5138."""
_STREAMS: Final = "stream"

NO_GROUP: Final = "an assignment without its group: no '[Consumer …, groupId=…]' before"
OF_STREAMS: Final = "a Kafka Streams group: tasks are assigned, not partitions"


def is_leader_log(chunks: Iterable[bytes]) -> bool:
    """Return whether a text, in pieces, has a line with an assignment."""
    before = b""
    for chunk in chunks:
        if any(mark in before + chunk for mark in (MARK, RDKAFKA_MARK)):
            return True
        before = chunk[-len(MARK) :]
    return False


def rows_of_leader_logs(logs: Iterable[tuple[str, Iterable[Line]]]) -> Iterator[Row]:
    """Yield the assignments of all logs, given as names and lines, sorted by name.

    A line that is in several logs counts once.
    """
    found: dict[tuple[Any, ...], Logged] = {}
    protocols: dict[tuple[str, int | None], set[str]] = {}
    repeated = 0
    for source, lines in logs:
        for entry in _of_log(source, lines, protocols):
            if not isinstance(entry, Logged):
                yield entry
                continue
            at = entry.at if entry.generation is None else None
            key = entry.group_id, entry.generation, at, repr(sorted(entry.held.items()))
            repeated += key in found
            found.setdefault(key, entry)
    for logged in found.values():
        names = protocols.get((logged.group_id, logged.generation), set())
        named = next(iter(names)) if len(names) == 1 else None
        yield _row(logged, logged.protocol or named)
    if repeated:
        yield repeated_row(repeated)


def _of_log(
    source: str,
    lines: Iterable[Line],
    protocols: dict[tuple[str, int | None], set[str]],
) -> Iterator[Logged | Row]:
    """Yield the assignments of one log; note the protocols of generations."""
    rdkafka = RdkafkaLog(source)
    for line in lines:
        if _JOINED_MARK in line.text:
            for group_id, generation, protocol in _joined(line):
                protocols.setdefault((group_id, generation), set()).add(protocol)
        if MARK in line.text:
            yield _finished(source, line)
        else:
            yield from rdkafka.take(line)
    yield from rdkafka.end()


def _row(logged: Logged, protocol: str | None) -> Row:
    if protocol == _STREAMS:
        row = refused(OF_STREAMS, logged.source, logged.line, logged.group_id)
        return row | {"what": SET_ASIDE}
    return case_row(state_of(logged, protocol))


def _finished(source: str, line: Line) -> Logged | Row:
    """Read a line with an assignment."""
    if not line.whole:
        return refused("a line too long to be read", source, line)
    message, at = _message(line)
    begin = _FINISHED.search(message)
    if begin is None:
        return refused(NO_GROUP, source, line)
    group_id, generation = begin["group"], int(begin["generation"])
    held = _held(message, begin.end())
    if held is None or generation > INT32_MAX:
        return refused(CUT_OFF, source, line, group_id)
    return Logged(
        source=source,
        line=line,
        group_id=group_id,
        generation=generation,
        at=at,
        held=held,
    )


def _held(message: str, place: int) -> dict[str, Held] | None:
    """Return the partitions of each member; None if the text is not complete."""
    found: dict[str, Held] = {}
    while (one := _MEMBER.match(message, place)) is not None:
        held = _partitions(one["partitions"])
        if held is None or one["member"] in found:
            return None
        found[one["member"]] = held
        if one["end"] == "}":
            return found
        place = one.end()
    return None


def _partitions(text: str) -> Held | None:
    held: dict[str, set[int]] = {}
    for name in text.split(", ") if text else ():
        found = _PARTITION.fullmatch(name)
        if found is None or int(found[2]) >= MOST_PARTITIONS:
            return None
        held.setdefault(found[1], set()).add(int(found[2]))
    return {topic: sorted(held[topic]) for topic in sorted(held)}


def _joined(line: Line) -> Iterator[tuple[str, int, str]]:
    message, _ = _message(line)
    for found in _JOINED.finditer(message):
        yield found["group"], int(found["generation"]), found["protocol"]


def _message(line: Line) -> tuple[str, int | None]:
    """Return the message of a line, or the whole line, and its time."""
    text = line.text.decode(errors="replace")
    if text.lstrip().startswith("{"):
        try:
            fields = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text, _time(text)
        marks = (MARK.decode(), _JOINED_MARK.decode())
        messages = (text for mark in marks for text in _texts(fields) if mark in text)
        times = (_stated_time(fields.get(name)) for name in _TIME_FIELDS)
        at = next((time for time in times if time is not None), None)
        return next(messages, text), at
    return text, _time(text)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _stated_time(value: Any) -> int | None:
    if isinstance(value, str):
        return _time(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    at = value if value >= _LEAST_MILLISECONDS else value * 1000
    return int(at) if at <= MOST_MS else None


def _time(text: str) -> int | None:
    """Return the first time with a zone, in milliseconds; None if there is none."""
    before = text.partition("[Consumer ")[0]
    found = _TIME.search(before)
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(found[0].replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return None
    return int(moment.timestamp() * 1000)
