"""Texts of answers to many rebalances, byte by byte."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.judging.code_kernels import KEPT, LAG_SPREAD, OWNED, PEAK_LAG, SCORE
from rebalance import (
    Bools,
    Int32,
    Int64,
    Texts,
    borrowing_kernel,
    by_member,
    copy_text,
    kernel,
    members_size,
    write_members,
    write_number,
)

Bytes = npt.NDArray[np.uint8]


def frozen(text: bytes) -> Bytes:
    """Return bytes as a constant of kernels."""
    return np.frombuffer(text, np.uint8)


_LEVEL: Final = frozen(b'"certificate":{"level":{')
_PRICE: Final = frozen(b'},"price":{')
_KEPT: Final = frozen(b'}},"figures":{"dec_min_balanced":true,"kept":')
_SCORE: Final = frozen(b',"kip54_balanced":true,"kip54_score":')
_SPREAD: Final = frozen(b',"lag_spread":')
_LOADS: Final = frozen(b',"loads":[')
_MOVES: Final = frozen(b'],"moves":')
_PEAK: Final = frozen(b',"peak_lag":')
_MISMATCHES: Final = frozen(b',"rack_mismatches":0},')
_STATUS: Final = frozen(b',"status":"optimal"}')
_COMMA, _CLOSE, _MINUS = map(ord, ",}-")
_FIXED: Final = 400
"""Bytes of all keys of one answer, and of its numbers other than those of members."""
_PER_MEMBER: Final = 60
"""Bytes of level, price, and load of a member, with commas."""


class AnswerColumns(NamedTuple):
    """Answers to R rebalances; A answers, M members, T topics of all of them.

    Attributes
    ----------
    member_at, topic_at, answer_at : int64 (R+1,)
    sizes : int64 (T,)
        Partitions.
    assignee : int32
        Per answer, of the partitions of its rebalance.
    is_optimum : bool (A,)
    figures : int64 (R, FIELDS)
        Of the optima.
    counts : int64 (R, COUNTS)
    loads : int64 (M,)
        Of the optima.
    level, price : int32 (M,)
    heads : Texts
        Of A answers, up to the certificate.
    abouts : Texts
        Of R rebalances, up to the members.
    members, topics : Texts
        Names as keys of JSON, with colons.
    """

    member_at: Int64
    topic_at: Int64
    answer_at: Int64
    sizes: Int64
    assignee: Int32
    is_optimum: Bools
    figures: Int64
    counts: Int64
    loads: Int64
    level: Int32
    price: Int32
    heads: Texts
    abouts: Texts
    members: Texts
    topics: Texts


@kernel
def answer_texts(columns: AnswerColumns) -> tuple[Bytes, Int64]:
    """Write the answers.

    Returns
    -------
    uint8, int64 (A,)
        The texts, one after another, and where each ends.
    """
    ends = np.zeros(columns.is_optimum.size, np.int64)
    text, at, first = np.empty(0, np.uint8), 0, 0
    for r in range(columns.abouts.at.size - 1):
        m_begin, m_end = columns.member_at[r], columns.member_at[r + 1]
        t_begin, t_end = columns.topic_at[r], columns.topic_at[r + 1]
        members = Texts(columns.members.text, columns.members.at[m_begin : m_end + 1])
        topics = Texts(columns.topics.text, columns.topics.at[t_begin : t_end + 1])
        offsets = np.zeros(t_end - t_begin + 1, np.int64)
        offsets[1:] = np.cumsum(columns.sizes[t_begin:t_end])
        topic = np.empty(offsets[-1], np.int32)
        for t in range(offsets.size - 1):
            topic[offsets[t] : offsets[t + 1]] = t
        for a in range(columns.answer_at[r], columns.answer_at[r + 1]):
            assignee = columns.assignee[first : first + topic.size]
            first += topic.size
            order, last = by_member(assignee, m_end - m_begin)
            size = members_size(order, last, topic, members, topics) + _FIXED
            size += columns.abouts.at[r + 1] - columns.abouts.at[r]
            size += columns.heads.at[a + 1] - columns.heads.at[a]
            if columns.is_optimum[a]:
                names = members.at[m_end - m_begin] - members.at[0]
                size += 2 * names + _PER_MEMBER * (m_end - m_begin)
            if at + size > text.size:
                longer = np.empty((at + size) * 2, np.uint8)
                longer[:at] = text[:at]
                text = longer
            at = copy_text(text, at, columns.heads, a)
            if columns.is_optimum[a]:
                at = _write_proof(text, at, columns, r, members)
            at = copy_text(text, at, columns.abouts, r)
            at += write_members(text[at:], order, last, topic, offsets, members, topics)
            if columns.is_optimum[a]:
                at = put(text, at, _STATUS)
            else:
                text[at], at = _CLOSE, at + 1
            ends[a] = at
    return text[:at], ends


@borrowing_kernel
def put(text: Bytes, at: int, part: Bytes) -> int:
    """Copy bytes to a place; return where they end."""
    for place in range(part.size):
        text[at + place] = part[place]
    return at + part.size


@borrowing_kernel
def write_signed(text: Bytes, at: int, number: int) -> int:
    """Write a number; return where it ends."""
    if number < 0:
        text[at], at = _MINUS, at + 1
    return write_number(text, at, abs(number))


@borrowing_kernel
def _write_proof(
    text: Bytes, at: int, columns: AnswerColumns, r: int, members: Texts
) -> int:
    """Write the certificate and the figures of an optimum."""
    own = slice(columns.member_at[r], columns.member_at[r + 1])
    figures, loads = columns.figures[r], columns.loads[own]
    at = _write_levels(text, put(text, at, _LEVEL), columns.level[own], members)
    at = _write_levels(text, put(text, at, _PRICE), columns.price[own], members)
    at = write_signed(text, put(text, at, _KEPT), figures[KEPT])
    at = write_signed(text, put(text, at, _SCORE), figures[SCORE])
    at = write_signed(text, put(text, at, _SPREAD), figures[LAG_SPREAD])
    at = put(text, at, _LOADS)
    for place in range(loads.size):
        if place > 0:
            text[at], at = _COMMA, at + 1
        at = write_signed(text, at, loads[place])
    moves = columns.counts[r, OWNED] - figures[KEPT]
    at = write_signed(text, put(text, at, _MOVES), moves)
    at = write_signed(text, put(text, at, _PEAK), figures[PEAK_LAG])
    return put(text, at, _MISMATCHES)


@borrowing_kernel
def _write_levels(text: Bytes, at: int, values: Int32, members: Texts) -> int:
    for place in range(values.size):
        if place > 0:
            text[at], at = _COMMA, at + 1
        at = copy_text(text, at, members, place)
        at = write_signed(text, at, int(values[place]))
    return at
