"""Columns of a rebalance/1 text from its tape, without models and objects per row.

Only texts without faults and oddities are encoded here. Unknown names, claims on
partitions that do not exist, numbers that do not ascend, racks, and every fault are
left to the models (`rebalance.parsing`), which are slower, and name the fault.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance.claims import ClaimRule, Claims, Int32, Int64
from rebalance.documents import INT64_MAX, UNKNOWN_GENERATION
from rebalance.instance import ABSENT, Instance
from rebalance.tape.json_tape import ARRAY, INTEGER, OBJECT, STRING, Tape, tape_of
from rebalance.tape.tape_fields import (
    FieldNames,
    entry_rows,
    field_rows,
    write_integers,
)
from rebalance.tape.tape_names import Names, names_at, write_claims, write_subscriptions

GENERATION_MAX: Final = 2**31 - 1
ROWS_MAX: Final = 2**31 - 1

ROOT: Final = FieldNames.of("format", "group", "topics", "members", "id")
TOPIC: Final = FieldNames.of("partitions", "lag")
MEMBER: Final = FieldNames.of(
    "subscription", "owned", "generation", "instance_id", "capacity"
)


class _OddError(Exception):
    """The text has something that only the models read."""


def instance_of_text(
    text: bytes, *, claim_rule: ClaimRule, max_partitions: int
) -> Instance | None:
    """Encode a rebalance/1 text; None if the models have to read it.

    The instance is that of `rebalance.instance_of`, with the same numbers of classes.
    """
    tape = tape_of(text)
    if tape is None:
        return None
    try:
        return _instance(tape, claim_rule, max_partitions)
    except _OddError:
        return None


def _instance(tape: Tape, claim_rule: ClaimRule, max_partitions: int) -> Instance:
    _require(tape.kind[0] == OBJECT)
    root = _fields(tape, np.array([0]), ROOT)[0].tolist()
    _require(ABSENT not in root[:4])
    form, group, *objects, own_id = root
    _require(_string(tape, form) == "rebalance/1")
    (topics, topic_rows), (members, member_rows) = (
        _entries(tape, row) for row in objects
    )
    lag_rows, sizes = _topics(tape, topic_rows, max_partitions)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    fields = _fields(tape, member_rows, MEMBER)
    listed, owned, generation, static, capacity = fields.T
    names = names_at(tape, topic_rows - 1)  # a key is the row before its value
    member_class, class_offsets, class_topics = _classes(tape, listed, names)
    generations = _integers(
        tape, generation, UNKNOWN_GENERATION, GENERATION_MAX, UNKNOWN_GENERATION
    )
    return Instance(
        group=_string(tape, group),
        id=None if own_id == ABSENT else _string(tape, own_id),
        topics=topics,
        topic_offsets=offsets,
        members=members,
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        claims=_claims(tape, owned, generations, names, offsets),
        claim_rule=claim_rule,
        lag=_lag(tape, lag_rows, offsets),
        capacity=(
            None
            if (capacity == ABSENT).all()
            else _integers(tape, capacity, 1, INT64_MAX, 1)
        ),
        instance_ids=tuple(
            None if row == ABSENT else _string(tape, row) for row in static.tolist()
        ),
    )


def _require(condition: bool | np.bool_) -> None:
    """Leave the text to the models unless the condition holds."""
    if not condition:
        raise _OddError


def _fields(tape: Tape, rows: Int64, names: FieldNames) -> Int64:
    """Return the rows of the fields of objects, int64 (K, F); `ABSENT`: not there."""
    _require((tape.kind[rows] == OBJECT).all())
    found, are_known = field_rows(tape, rows, names)
    _require(are_known)
    return found


def _entries(tape: Tape, row: int) -> tuple[tuple[str, ...], Int64]:
    """Return the keys of an object, sorted, and the rows of their values."""
    _require(tape.kind[row] == OBJECT)
    keys = entry_rows(tape, row)
    named = zip(keys.tolist(), map(tape.string, keys.tolist()), strict=True)
    by_name = {name: key for key, name in named}
    _require(len(by_name) == keys.size)
    names = tuple(sorted(by_name))
    return names, np.array([by_name[name] + 1 for name in names], dtype=np.int64)


def _string(tape: Tape, row: int) -> str:
    _require(tape.kind[row] == STRING)
    return tape.string(row)


def _integers(tape: Tape, rows: Int64, least: int, most: int, absent: int) -> Int64:
    """Return the integers of rows."""
    is_given = rows != ABSENT
    given = rows[is_given]
    found = np.full(rows.size, absent, dtype=np.int64)
    found[is_given] = tape.value[given]
    _require((tape.kind[given] == INTEGER).all())
    _require(((least <= found) & (found <= most)).all())
    return found


def _topics(tape: Tape, rows: Int64, max_partitions: int) -> tuple[Int64, Int64]:
    """Return the rows of the lags of each topic, and its number of partitions."""
    partitions, lags = _fields(tape, rows, TOPIC).T
    most = min(max_partitions, ROWS_MAX)
    sizes = _integers(tape, partitions, 0, most, ABSENT)
    _require(sum(sizes.tolist()) <= most)
    return lags, sizes


def _lag(tape: Tape, rows: Int64, offsets: Int64) -> Int64 | None:
    """Concatenate lags; 0 for a topic without a list. None if no topic has a list."""
    if (rows == ABSENT).all():
        return None
    lag = np.zeros(int(offsets[-1]), dtype=np.int64)
    _require(write_integers(tape, rows, offsets, lag))
    # Otherwise, the sum may not fit.
    _require(int(lag.max(initial=0)) * lag.size <= INT64_MAX)
    return lag


def _classes(tape: Tape, rows: Int64, names: Names) -> tuple[Int32, Int64, Int32]:
    """Return numbers of the distinct subscriptions, by first occurrence."""
    _require((rows != ABSENT).all() and (tape.kind[rows] == ARRAY).all())
    of_text: dict[bytes, int] = {}  # most members list their topics in the same order
    texts = [
        of_text.setdefault(tape.source(row), len(of_text)) for row in rows.tolist()
    ]
    _, first = np.unique(texts, return_index=True)
    firsts = rows[first] if rows.size else rows
    offsets = np.zeros(firsts.size + 1, dtype=np.int64)
    listed = np.empty(int((tape.value[firsts] - firsts).sum()), dtype=np.int32)
    _require(write_subscriptions(tape, firsts, names, listed, offsets))
    number: dict[bytes, int] = {}
    of_class = [
        number.setdefault(listed[begin:end].tobytes(), len(number))
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
    sizes = [len(topics) // listed.itemsize for topics in number]
    class_offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    class_topics = np.frombuffer(bytearray(b"".join(number)), dtype=np.int32)
    member_class = np.array(of_class, dtype=np.int32)[np.array(texts, dtype=np.int64)]
    return member_class, class_offsets, class_topics


def _claims(
    tape: Tape, owned: Int64, generation: Int64, names: Names, offsets: Int64
) -> Claims:
    given = owned[owned != ABSENT]
    _require((tape.kind[given] == OBJECT).all())
    claimed = np.empty(int((tape.value[given] - given).sum()), dtype=np.int32)
    bounds = np.zeros(owned.size + 1, dtype=np.int64)
    _require(write_claims(tape, owned, names, offsets, claimed, bounds))
    return Claims(
        offsets=bounds,
        partitions=claimed[: bounds[-1]].copy(),
        generation=generation,
    )
