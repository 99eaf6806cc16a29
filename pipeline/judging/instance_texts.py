"""Canonical JSON of many rebalances, byte by byte, as `rebalance.to_json` writes it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.judging.case_arrays import (
    UNSTATED,
    CaseInstances,
    Cases,
    Lags,
    Lists,
    Names,
)
from pipeline.judging.encoding import Questions
from pipeline.judging.text_kernels import frozen, put, write_signed
from rebalance import (
    ABSENT,
    Int32,
    Int64,
    Texts,
    borrowing_kernel,
    copy_text,
    kernel,
    write_number,
)

Bytes = npt.NDArray[np.uint8]


_GENERATION: Final = frozen(b'"generation":')
_INSTANCE: Final = frozen(b'"instance_id":')
_OWNED: Final = frozen(b'"owned":{')
_RACK: Final = frozen(b'"rack":')
_SUBSCRIPTION: Final = frozen(b'"subscription":[')
_TOPICS: Final = frozen(b'},"topics":{')
_LAG: Final = frozen(b'{"lag":[')
_AFTER_LAG: Final = frozen(b'],"partitions":')
_PARTITIONS: Final = frozen(b'{"partitions":')
_COMMA, _OPEN, _CLOSE, _CLOSE_LIST, _COLON, _OPEN_LIST = map(ord, ",{}]:[")
_NUMBER: Final = 21
"""Bytes of the longest number, and a comma."""
_OF_MEMBER: Final = 100
"""Bytes of the keys of a member, or a topic, its braces, and one number, at least."""


class QuotedNames(NamedTuple):
    """Names as JSON.

    Attributes
    ----------
    heads : Texts
        Of each case, the text from its begin to the first member.
    members : Texts
        Of all cases, with colons.
    topics, racks, instances : Texts
        Distinct and sorted.
    """

    heads: Texts
    members: Texts
    topics: Texts
    racks: Texts
    instances: Texts


@kernel
def instance_texts(
    cases: Cases,
    names: Names,
    instances: CaseInstances,
    lags: Lags,
    questions: Questions,
    quoted: QuotedNames,
) -> tuple[Bytes, Int64]:
    """Write rebalances.

    Parameters
    ----------
    lags
        Of the cases.

    Returns
    -------
    uint8, int64 (Q,)
        The texts, one after another, and where each ends; empty without names.
    """
    ends, at = np.zeros(questions.case.size, np.int64), 0
    text = np.empty(0, np.uint8)
    for q in range(questions.case.size):
        i, is_episode = questions.case[q], questions.is_episode[q]
        ends[q] = at
        if not instances.is_named[i]:
            continue
        n_lags = lags.at[instances.topic_at[i + 1]] - lags.at[instances.topic_at[i]]
        need = at + n_lags * _NUMBER
        need += _room_for(cases, names, instances, i, is_episode, quoted)
        if need > text.size:
            longer = np.empty(2 * need, np.uint8)
            longer[:at] = text[:at]
            text = longer
        at = copy_text(text, at, quoted.heads, i)
        for m in range(cases.member_at[i], cases.member_at[i + 1]):
            if m > cases.member_at[i]:
                text[at], at = _COMMA, at + 1
            at = copy_text(text, at, quoted.members, m)
            at = _write_member(text, at, cases, names, m, is_episode, quoted)
        at = put(text, at, _TOPICS)
        for t in range(instances.topic_at[i], instances.topic_at[i + 1]):
            if t > instances.topic_at[i]:
                text[at], at = _COMMA, at + 1
            at = copy_text(text, at, quoted.topics, instances.topic[t])
            text[at], at = _COLON, at + 1
            at = _write_topic(text, at, instances, lags, t)
        text[at], text[at + 1] = _CLOSE, _CLOSE
        at += 2
        ends[q] = at
    return text[:at], ends


@borrowing_kernel
def _room_for(
    cases: Cases,
    names: Names,
    instances: CaseInstances,
    i: int,
    is_episode: bool,
    quoted: QuotedNames,
) -> int:
    """Return at least the bytes of a text without its lags."""
    size = _length(quoted.heads, i) + _OF_MEMBER
    for m in range(cases.member_at[i], cases.member_at[i + 1]):
        size += _length(quoted.members, m) + _OF_MEMBER
        if cases.rack[m] != ABSENT:
            size += _length(quoted.racks, cases.rack[m])
        if cases.instance[m] != ABSENT:
            size += _length(quoted.instances, cases.instance[m])
        for s in cases.topic[cases.topic_at[m] : cases.topic_at[m + 1]]:
            size += _length(quoted.topics, names.rank[s]) + 1
        held, row = cases.owned, m
        if is_episode:
            held, row = cases.before, cases.before_of[m]
        if row != ABSENT:
            for e in range(held.at[row], held.at[row + 1]):
                n_numbers = held.number_at[e + 1] - held.number_at[e]
                size += _length(quoted.topics, names.rank[held.topic[e]])
                size += 4 + n_numbers * _NUMBER
    for t in range(instances.topic_at[i], instances.topic_at[i + 1]):
        size += _length(quoted.topics, instances.topic[t]) + _OF_MEMBER
    return int(size)


@borrowing_kernel
def _length(texts: Texts, number: int) -> int:
    return int(texts.at[number + 1] - texts.at[number])


@borrowing_kernel
def _write_member(
    text: Bytes,
    at: int,
    cases: Cases,
    names: Names,
    m: int,
    is_episode: bool,
    quoted: QuotedNames,
) -> int:
    text[at], at = _OPEN, at + 1
    generation = cases.generation[m]
    if not is_episode and generation != UNSTATED:
        at = put(text, at, _GENERATION)
        at = write_signed(text, at, generation)
        text[at], at = _COMMA, at + 1
    if cases.instance[m] != ABSENT:
        at = copy_text(
            text, put(text, at, _INSTANCE), quoted.instances, cases.instance[m]
        )
        text[at], at = _COMMA, at + 1
    held, row = cases.owned, m
    if is_episode:
        held, row = cases.before, cases.before_of[m]
    if row != ABSENT and held.at[row + 1] > held.at[row]:
        at = _write_owned(text, put(text, at, _OWNED), held, row, names, quoted.topics)
        text[at], text[at + 1] = _CLOSE, _COMMA
        at += 2
    if cases.rack[m] != ABSENT:
        at = copy_text(text, put(text, at, _RACK), quoted.racks, cases.rack[m])
        text[at], at = _COMMA, at + 1
    at = put(text, at, _SUBSCRIPTION)
    for place in range(cases.topic_at[m], cases.topic_at[m + 1]):
        if place > cases.topic_at[m]:
            text[at], at = _COMMA, at + 1
        at = copy_text(text, at, quoted.topics, names.rank[cases.topic[place]])
    text[at], text[at + 1] = _CLOSE_LIST, _CLOSE
    return at + 2


@borrowing_kernel
def _write_owned(
    text: Bytes, at: int, held: Lists, row: int, names: Names, topics: Texts
) -> int:
    for e in range(held.at[row], held.at[row + 1]):
        if e > held.at[row]:
            text[at], at = _COMMA, at + 1
        at = copy_text(text, at, topics, names.rank[held.topic[e]])
        text[at], text[at + 1] = _COLON, _OPEN_LIST
        numbers = held.number[held.number_at[e] : held.number_at[e + 1]]
        at = _write_numbers(text, at + 2, numbers)
        text[at], at = _CLOSE_LIST, at + 1
    return at


@borrowing_kernel
def _write_numbers(text: Bytes, at: int, numbers: Int32 | Int64) -> int:
    for place in range(numbers.size):
        if place > 0:
            text[at], at = _COMMA, at + 1
        at = write_signed(text, at, numbers[place])
    return at


@borrowing_kernel
def _write_topic(
    text: Bytes, at: int, instances: CaseInstances, lags: Lags, t: int
) -> int:
    if lags.at[t + 1] > lags.at[t]:
        at = put(text, at, _LAG)
        at = _write_numbers(text, at, lags.records[lags.at[t] : lags.at[t + 1]])
        at = put(text, at, _AFTER_LAG)
    else:
        at = put(text, at, _PARTITIONS)
    at = write_number(text, at, instances.partitions[t])
    text[at] = _CLOSE
    return at + 1
