"""Records of a batch, or of a large group, as arrays for the walks of both protocols.

Of a large group, a part of the records is read at a time. Its bytes are dropped, and
from its tape the topics and partitions that its members have by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.history.case_lists import name_array, ranks_of
from pipeline.history.consumer_parts import Parts, parts_of
from pipeline.history.held_records import HeldRecords
from pipeline.history.key_lists import Keys
from pipeline.history.participants import Participants, participants_of
from pipeline.records.field_kernels import NameTable
from pipeline.records.record_tape import RecordTape, record_tape, record_tapes
from pipeline.records.tape_layout import (
    GENERATION,
    HEAD,
    MEMBERS,
    OTHER,
    PER_MEMBER,
    PER_SENT,
    SENT,
)
from pipeline.topic_ids import text_of_id
from rebalance import Bools, Int64

_ROOM: Final = np.zeros(16, np.int64)
"""After the tape: of numbers that a record does not have, some are read, and masked."""


class ReadRecords(NamedTuple):
    """N records, with the names and ids of topics by number.

    ``rank`` is that of each name in sorted order. Records that cannot be read are not
    sound among ``people``.
    """

    records: RecordTape
    names: pa.StringArray
    ids: pa.StringArray
    rank: Int64
    people: Participants
    parts: Parts


def records_of(held: HeldRecords, is_record: Bools, are_again: Bools) -> ReadRecords:
    """Read records.

    Parameters
    ----------
    is_record : bool
        Of the rows: the others are not read.
    are_again : bool (N,)
        Records that show nothing at their own time.
    """
    if not held.is_large:
        (columns,) = _data(held, is_record)
        tapes = iter([record_tape(*columns)])
    else:
        tapes = record_tapes(lambda: _data(held, is_record), held.size)
    found, begin = _ReadParts(), 0
    for tape in tapes:
        if not begin:
            names, ids = name_array(tape.names), _id_texts(tape.ids)
            rank, id_rank = ranks_of(names), ranks_of(ids)
        end = begin + len(tape.kind)
        again = are_again[begin:end]
        is_other = tape.kind == OTHER
        tape.kind[again] = OTHER
        people, parts = participants_of(tape, rank), parts_of(tape, id_rank)
        people.is_sound[is_other & ~again] = False
        if held.is_large:
            tape, people = _without_lists(tape, people)  # noqa: PLW2901
        found.add(tape, people, parts)
        begin = end
    return ReadRecords(found.records(), names, ids, rank, found.people(), found.parts())


def _data(
    held: HeldRecords, is_record: Bools
) -> Iterator[tuple[pa.BinaryArray, pa.BinaryArray]]:
    """Yield the keys and values of records."""
    begin = 0
    for batch in held.batches():
        is_kept = is_record[begin : begin + len(batch)]
        begin += len(batch)
        if not is_kept.all():
            batch = batch.filter(pa.array(is_kept))  # noqa: PLW2901
        if len(batch):
            yield batch.column("key"), batch.column("value")


def _id_texts(ids: NameTable) -> pa.StringArray:
    """Return the ids of topics as text, by number."""
    begins = ids.at[: ids.used[0] + 1].tolist()
    text = ids.text[: begins[-1]].tobytes()
    found = [text_of_id(text[begin:end]) for begin, end in pairwise(begins)]
    return pa.array(found, pa.string())


def _without_lists(
    records: RecordTape, people: Participants
) -> tuple[RecordTape, Participants]:
    """Drop from the tape the lists that `Participants` has."""
    kind, at, tape = records.kind, records.at, records.tape
    sizes = np.diff(at, append=records.used)
    is_generation = kind == GENERATION
    generation = at[is_generation]
    sizes[is_generation] = HEAD + PER_MEMBER * tape[generation + MEMBERS]
    begins = _begins(sizes)
    places = np.repeat(at - begins[:-1], sizes) + np.arange(begins[-1])
    members = np.arange(len(people.sent))
    sent = begins[-1] + PER_SENT * members
    row = np.searchsorted(people.first, members, "right") - 1
    place = people.place - at[row] + begins[row]
    of_sent = people.sent[:, None] + np.arange(PER_SENT)
    kept = np.concatenate((tape[places], tape[of_sent].reshape(-1)))
    kept[place + SENT] = sent
    found = records._replace(at=begins[:-1], tape=kept, used=len(kept))
    return found, people._replace(place=place, sent=sent)


class _ReadParts:
    """Columns of the parts that are read; they are joined one after the other."""

    def __init__(self) -> None:
        self._tapes: list[RecordTape] = []
        self._people: dict[str, list[Any]] = {name: [] for name in Participants._fields}
        self._parts: list[Parts] = []
        self._used = 0

    def add(self, tape: RecordTape, people: Participants, parts: Parts) -> None:
        """Add a part."""
        if self._used:
            tape = tape._replace(at=tape.at + self._used)
            people = people._replace(
                place=people.place + self._used, sent=people.sent + self._used
            )
        if np.array_equal(people.held.at, people.assigned.at) and np.array_equal(
            people.held.key[: people.held.at[-1]],
            people.assigned.key[: people.assigned.at[-1]],
        ):
            people = people._replace(assigned=people.held)
        for name, column in people._asdict().items():
            self._people[name].append(column)
        self._tapes.append(tape)
        self._parts.append(parts)
        self._used += tape.used

    def records(self) -> RecordTape:
        """Return the records of the parts, which share their names."""
        first, *others = self._tapes
        if not others:
            return first
        return first._replace(
            kind=np.concatenate([tape.kind for tape in self._tapes]),
            at=np.concatenate([tape.at for tape in self._tapes]),
            tape=np.concatenate(
                [*(tape.tape[: tape.used] for tape in self._tapes), _ROOM]
            ),
            used=self._used,
        )

    def people(self) -> Participants:
        """Return the members; those of the parts are then dropped."""
        pairs = zip(self._people["assigned"], self._people["held"], strict=True)
        are_held = all(assigned is held for assigned, held in pairs)
        if are_held:
            self._people["assigned"] = []
        first = _joined_begins(self._people.pop("first"))
        joined = {name: _joined(self._people.pop(name)) for name in [*self._people]}
        if are_held:
            joined["assigned"] = joined["held"]
        return Participants(first=first, **joined)

    def parts(self) -> Parts:
        """Return the assignments in records of the new protocol."""
        first, *others = self._parts
        if not others:
            return first
        at, key = _joined([Keys(part.at, part.key) for part in self._parts])
        return first._replace(
            at=at,
            key=key,
            is_sound=np.concatenate([part.is_sound for part in self._parts]),
            is_settled=np.concatenate([part.is_settled for part in self._parts]),
        )


def _joined(parts: list[Any]) -> Any:
    """Return arrays or `Keys` one after the other, or the only one."""
    if len(parts) < 2:
        return parts[0] if parts else None
    if isinstance(parts[0], Keys):
        at = _joined_begins([part.at for part in parts])
        return Keys(at, np.concatenate([part.key[: part.at[-1]] for part in parts]))
    return np.concatenate(parts)


def _joined_begins(parts: Sequence[Int64]) -> Int64:
    """Return where ranges begin, of parts of which each begins at 0."""
    sizes = [np.diff(part) for part in parts]
    return _begins(np.concatenate(sizes))


def _begins(sizes: Sequence[int] | Int64) -> Int64:
    return np.concatenate(([0], np.cumsum(sizes)), dtype=np.int64)
