"""Logs of the leaders of groups in librdkafka, with ``debug=cgrp`` or ``assignor``.

``rd_kafka_assignor_run`` of librdkafka (1.6 and newer) logs the subscription of each
member and, behind its assignor, the partitions of each, one line per topic and
partition, with the counts of both::

    Group "g" running range assignor for 1 member(s) and 1 eligible subscribed topic(s):
     Member "rdkafka-4d02" (me) with 0 owned partition(s) and 1 subscribed topic(s):
      t [-1]
    Group "g" range assignment for 1 member(s) finished in 0.089ms:
     Member "rdkafka-4d02" (me) assigned 1 partition(s):
      t [0]

The generation is in the response that made the client the leader (``JoinGroup response:
GenerationId 3, Protocol range, …``). Lines of several clients, which have names such as
``rdkafka#consumer-1``, can be mixed; other lines in between do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pipeline.cases import Held
from pipeline.files.lines import Line
from pipeline.rows import Row
from pipeline.sightings import MOST_PARTITIONS
from pipeline.sources.logged_assignment import CUT_OFF, Logged, refused

RDKAFKA_MARK: Final = b" eligible subscribed topic(s):"

_CLIENT: Final = re.compile(r"[|\[](?P<client>[^|\[\]]+#consumer-\d+)[|\]]")
_THREAD: Final = re.compile(r"\[thrd:[^\]\n]*\]: ?")
_TIME: Final = re.compile(r"%\d\|(?P<seconds>\d{9,11})\.(?P<ms>\d{3})\|")
_BEGIN: Final = re.compile(
    r'Group "(?P<group>.*)" running (?P<protocol>\S+) assignor for (?P<count>\d{1,6}) '
    r"member\(s\) and \d+ eligible subscribed topic\(s\):"
)
_FINISHED: Final = re.compile(
    r'Group "(?P<group>.*)" (?P<protocol>\S+) assignment for (?P<count>\d{1,6}) '
    r"member\(s\) finished in [\d.]+ms:"
)
_FAILED: Final = re.compile(r'Group "(?P<group>.*)" \S+ assignment failed for ')
_WANTS: Final = re.compile(
    r' ?Member "(?P<member>.*)"(?: \(me\))? with \d+ owned partition\(s\) and '
    r"(?P<count>\d{1,9}) subscribed topic\(s\):"
)
_GETS: Final = re.compile(
    r' ?Member "(?P<member>.*)"(?: \(me\))? assigned (?P<count>\d{1,9}) partition\(s\):'
)
_ITEM: Final = re.compile(
    r" {0,2}(?P<topic>[A-Za-z0-9._-]{1,249}) \[(?P<number>-?\d{1,10})\]"
)
_JOINED: Final = re.compile(r"JoinGroup response: GenerationId (?P<generation>\d+), ")


@dataclass(slots=True, kw_only=True)
class _PartialAssignment:
    """An assignment that is being read; ``left`` are the items of the last member."""

    line: Line
    group_id: str
    protocol: str
    count: int
    generation: int | None
    at: int | None
    wanted: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, Held] = field(default_factory=dict)
    is_finished: bool = False
    member: str = ""
    left: int = 0
    doubt: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all members, and all their partitions, were read."""
        is_whole = self.is_finished and not self.left
        return is_whole and len(self.given) == self.count


class RdkafkaLog:
    """Reads the lines of one log in order."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._blocks: dict[str, _PartialAssignment] = {}
        self._generations: dict[str, int] = {}

    def take(self, line: Line) -> Iterator[Logged | Row]:
        """Yield the assignments that are complete with this line."""
        if not self._blocks and not (
            RDKAFKA_MARK in line.text or b"JoinGr" in line.text
        ):
            return
        text = line.text.decode(errors="replace").rstrip()
        thread = _THREAD.search(text)
        named = _CLIENT.search(text)
        client = named["client"] if named else ""
        said = text[thread.end() :] if thread else text
        if (found := _JOINED.match(said)) is not None:
            self._generations[client] = int(found["generation"])
        elif (found := _BEGIN.fullmatch(said)) is not None:
            yield from self._cut_off(client)
            self._blocks[client] = _PartialAssignment(
                line=line,
                group_id=found["group"],
                protocol=found["protocol"],
                count=int(found["count"]),
                generation=self._generations.pop(client, None),
                at=_time(text),
            )
        elif client in self._blocks:
            yield from self._continue(client, said)

    def end(self) -> Iterator[Logged | Row]:
        """Yield the unfinished assignments at the end of the log."""
        for client in list(self._blocks):
            yield from self._cut_off(client)

    def _continue(self, client: str, said: str) -> Iterator[Logged | Row]:
        block = self._blocks[client]
        if _FAILED.match(said):
            del self._blocks[client]
        elif (found := _FINISHED.fullmatch(said)) is not None:
            if found["group"] != block.group_id:
                yield from self._cut_off(client)
                return
            is_whole = not block.left and len(block.wanted) == block.count
            if not is_whole or int(found["count"]) != block.count:
                block.doubt = CUT_OFF
            block.is_finished, block.left = True, 0
        elif not _read_item(block, said):
            yield from self._cut_off(client)
            return
        if block.is_complete:
            del self._blocks[client]
            yield self._logged(block, block.doubt)

    def _logged(self, block: _PartialAssignment, doubt: str | None) -> Logged:
        if doubt is None and block.given.keys() != block.wanted.keys():
            doubt = CUT_OFF
        return Logged(
            source=self._source,
            line=block.line,
            group_id=block.group_id,
            generation=block.generation,
            at=block.at,
            held={
                name: {topic: sorted(held[topic]) for topic in sorted(held)}
                for name, held in block.given.items()
            },
            subscriptions={
                name: sorted(topics) for name, topics in block.wanted.items()
            },
            protocol=block.protocol,
            doubt=doubt,
        )

    def _cut_off(self, client: str) -> Iterator[Logged | Row]:
        """Yield the assignment as far as it is listed, to be shown, not judged."""
        block = self._blocks.pop(client, None)
        if block is None:
            return
        if block.given:
            yield self._logged(block, doubt=CUT_OFF)
        else:
            yield refused(CUT_OFF, self._source, block.line, block.group_id)


def _read_item(block: _PartialAssignment, said: str) -> bool:
    """Read a member, a topic, or a partition; return whether it is as expected."""
    members = block.given if block.is_finished else block.wanted
    found = (_GETS if block.is_finished else _WANTS).fullmatch(said)
    if found is not None:
        block.member = found["member"]
        is_expected = not block.left and block.member not in members
        block.left = int(found["count"])
        if block.is_finished:
            block.given[block.member] = {}
        else:
            block.wanted[block.member] = []
        return is_expected
    found = _ITEM.fullmatch(said)
    if found is None or not block.left:
        return True  # a line of something else
    block.left -= 1
    number = int(found["number"])
    if not block.is_finished:
        block.wanted[block.member].append(found["topic"])
        return True
    block.given[block.member].setdefault(found["topic"], []).append(number)
    return 0 <= number < MOST_PARTITIONS


def _time(text: str) -> int | None:
    """Return the time of librdkafka's own form, seconds since 1970."""
    found = _TIME.search(text)
    return None if found is None else int(found["seconds"]) * 1000 + int(found["ms"])
