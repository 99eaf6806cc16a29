"""Timelines: the rebalances of each group by time, as ticks that are few enough.

A tick has the place of its time between the group's first rebalance and its last one,
in thousandths. Ticks at one place are one: the worst outcome, the state after the last,
the most unread partitions. Where the texts of all groups
together would be too long, groups with many ticks have fewer places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.load import Tables
from oracle.report.row_keys import keys_of
from oracle.summary import INVALID, OPEN, OUTCOMES, equals, is_true, outcome_of

PLACES: Final = 1000
"""Places of ticks between the first and the last time of a group."""
FEWER: Final = (1000, 250, 100, 50, 25, 10, 5)
SHORT: Final = 20
"""The part of the whole time below which a timeline has an axis of its own."""
TEXT_BYTES: Final = 200_000
_LETTERS: Final = "ABCDE"
"""Of the outcomes, in the order of `OUTCOMES`."""
_WORST: Final = np.array([2, 3, 4, 5, 1])
"""Rank of each outcome: of several at one place, the largest is drawn."""
_TICK_BYTES: Final = 2
"""Fewest bytes of a tick in a text."""
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"

Group = tuple[str, str]
Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extremes:
    """Numbers of a timeline that do not depend on its places.

    ``counts`` are rebalances by outcome, in the order of `OUTCOMES`; ``unread`` and
    ``lag`` are the largest ones, -1 if they are not known.
    """

    counts: tuple[int, ...]
    members_least: int
    members_most: int
    unread: int
    lag: int

    @property
    def rebalances(self) -> int:
        """Rebalances with a time."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """Rebalances of a group by time.

    Attributes
    ----------
    start, length : int
        Time of the first rebalance, ms since 1970, and ms from it to the last one.
    lasts : int
        From the last rebalance to the next state, ms; -1: to the end of the history.
    ended : bool
        Whether the group is empty at the end.
    place, outcome, members, unread, peak, lag : int64 (T,)
        Of each tick: thousandths of the length, place in `OUTCOMES`, members after it,
        partitions without an owner after it, and at most, and peak lag after it (-1:
        not known).
    extremes : Extremes
    """

    start: int
    length: int
    lasts: int
    ended: bool
    place: Integers
    outcome: Integers
    members: Integers
    unread: Integers
    peak: Integers
    lag: Integers
    extremes: Extremes


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    """The timelines of all groups with times, and the time that they cover, ms."""

    start: int
    end: int
    of_group: dict[Group, Timeline]

    def axis(self, timeline: Timeline, *, own: bool) -> tuple[int, int]:
        """Return start and end of the axis of a timeline, ms."""
        if not own:
            return self.start, self.end
        return timeline.start, timeline.start + max(1, timeline.length)

    def are_short(self, shown: Sequence[Timeline]) -> bool:
        """Whether most of these take too little of the time to be read on one axis."""
        lengths = sorted(timeline.length for timeline in shown)
        middle = lengths[len(lengths) // 2] if lengths else self.end
        return middle * SHORT < self.end - self.start

    @property
    def first(self) -> datetime:
        """Start as a time, UTC."""
        return _time(self.start)

    @property
    def last(self) -> datetime:
        """End as a time, UTC."""
        return _time(self.end)


def timelines_of(tables: Tables) -> Timelines:
    """Return the timeline of each group whose rebalances have times."""
    rows = _ticks(tables)
    if not len(rows):
        return Timelines(start=0, end=0, of_group={})
    at = _milliseconds(rows["at"])
    end = max(int(at.max()), int(_milliseconds(rows["until"], least=0).max()))
    columns = {
        name: rows[name].to_numpy()
        for name in ("outcome", "members", "unread", "lag", "ended")
    }
    columns |= {"at": at, "until": _milliseconds(rows["until"])}
    codes = rows["key"].combine_chunks().dictionary_encode().indices.to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    names = [rows[name].to_pylist() for name in ("cluster", "group_id")]
    found = {
        (names[0][low], names[1][low]): _timeline(
            {name: column[low:high] for name, column in columns.items()}, end
        )
        for low, high in pairwise(bounds)
    }
    return Timelines(start=int(at.min()), end=end, of_group=found)


def _ticks(tables: Tables) -> pa.Table:
    """Return a row per rebalance with a time, by group and time."""
    rows = tables.rebalances.filter(pc.is_valid(tables.rebalances["at"]))
    actual = tables.actual
    keys = keys_of(rows["cluster"], rows["rebalance_id"])
    place = pc.index_in(keys, keys_of(actual["cluster"], actual["rebalance_id"]))
    taken = actual.select(["unread", "withheld", "peak_lag"]).take(place)
    unread = pc.add(taken["unread"], pc.fill_null(taken["withheld"], 0))
    group = keys_of(rows["cluster"], rows["group_id"])
    found = pa.table(
        {name: rows[name] for name in ("cluster", "group_id", "at", "until")}
        | {
            "key": pa.chunked_array([group]),
            "generation": pc.fill_null(rows["generation"], -1),
            "ended": equals(rows["ended"], "empty"),
            "members": pc.fill_null(rows["members"], 0),
            "unread": pc.fill_null(unread, -1),
            "lag": pc.fill_null(taken["peak_lag"], -1),
            "outcome": _outcomes(tables, rows["episode_id"], keys, place),
        }
    )
    return found.sort_by([(name, "ascending") for name in ("key", "at", "generation")])


def _outcomes(
    tables: Tables, episode_ids: pa.ChunkedArray, keys: pa.Array, place: pa.Array
) -> pa.Array:
    """Return the outcome of each rebalance, of a cooperative one at its last round."""
    actual, episodes = tables.actual, tables.episodes
    codes = pc.index_in(outcome_of(actual), pa.array(OUTCOMES))
    own = pc.fill_null(codes.take(place), OUTCOMES.index(OPEN))
    rounds = is_true(actual["cooperative"].take(place))
    ends = pc.index_in(
        keys, keys_of(episodes["cluster"], episodes["last_rebalance_id"])
    )
    whole = pc.index_in(outcome_of(episodes), pa.array(OUTCOMES))
    of_end = pc.fill_null(whole.take(ends), OUTCOMES.index(OPEN))
    broken = pc.equal(own, OUTCOMES.index(INVALID))
    of_episode = pc.and_(pc.and_(rounds, pc.is_valid(episode_ids)), pc.invert(broken))
    found = pc.if_else(of_episode, of_end, own).cast(pa.int64())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _timeline(rows: dict[str, Any], end: int) -> Timeline:
    """Return the timeline of one group, with `PLACES` places."""
    start, last = int(rows["at"][0]), int(rows["at"].max())
    length, until = last - start, int(rows["until"][-1])
    counts = np.bincount(rows["outcome"], minlength=len(OUTCOMES))
    found = Timeline(
        start=start,
        length=length,
        lasts=-1 if until < 0 or until >= end else max(0, until - last),
        ended=bool(rows["ended"][-1]),
        place=(rows["at"] - start) * PLACES // max(1, length),
        outcome=rows["outcome"],
        members=rows["members"],
        unread=rows["unread"],
        peak=rows["unread"],
        lag=rows["lag"],
        extremes=Extremes(
            counts=tuple(counts.tolist()),
            members_least=int(rows["members"].min()),
            members_most=int(rows["members"].max()),
            unread=int(rows["unread"].max()),
            lag=int(rows["lag"].max()),
        ),
    )
    return coarser(found, PLACES)


def coarser(timeline: Timeline, places: int) -> Timeline:
    """Return the timeline with ticks at so many places; one of `FEWER`."""
    step = PLACES // places
    bins = timeline.place // step
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    lasts = np.append(starts[1:], len(bins)) - 1
    worst = np.maximum.reduceat(_WORST[timeline.outcome], starts)
    return replace(
        timeline,
        place=bins[starts] * step,
        outcome=np.argsort(_WORST)[worst - 1],
        members=timeline.members[lasts],
        unread=timeline.unread[lasts],
        peak=np.maximum.reduceat(timeline.peak, starts),
        lag=timeline.lag[lasts],
    )


def text_of(timeline: Timeline) -> str:
    """Return the ticks as text: the letter of the outcome, and the distance before it.

    Then follow ``.`` and the members if they changed, ``!`` and the most
    unread partitions if any, ``_`` and those after it if fewer, ``~`` and the peak lag
    if known. Numbers have base 36.
    """
    parts, place, members = [], 0, 0
    for at, outcome, now, unread, peak, lag in zip(
        *(column.tolist() for column in _columns(timeline)), strict=True
    ):
        parts.append(_LETTERS[outcome] + (_digits(at - place) if at > place else ""))
        if now != members:
            parts.append(f".{_digits(now)}")
        if peak > 0:
            parts.append(f"!{_digits(peak)}")
        if 0 <= unread < peak:
            parts.append(f"_{_digits(unread)}")
        if lag >= 0:
            parts.append(f"~{_digits(lag)}")
        place, members = at, now
    return "".join(parts)


def texts_within(timelines: Sequence[Timeline], most: int = TEXT_BYTES) -> list[str]:
    """Return the texts; equal ones count once, and long ones have fewer places."""
    alike: dict[bytes, list[int]] = {}
    for number, timeline in enumerate(timelines):
        alike.setdefault(_bytes(timeline), []).append(number)
    kinds = [timelines[numbers[0]] for numbers in alike.values()]
    texts: list[str] = []
    for places in FEWER:
        ticks = sum(min(places, len(timeline.place)) for timeline in kinds)
        if ticks * _TICK_BYTES > most and places != FEWER[-1]:
            continue
        texts = [text_of(coarser(timeline, places)) for timeline in kinds]
        if sum(map(len, texts)) <= most:
            break
    found = [""] * len(timelines)
    for text, numbers in zip(texts, alike.values(), strict=True):
        for number in numbers:
            found[number] = text
    return found


def _bytes(timeline: Timeline) -> bytes:
    return b"".join(column.tobytes() for column in _columns(timeline))


def _columns(timeline: Timeline) -> tuple[Integers, ...]:
    return (
        timeline.place,
        timeline.outcome,
        timeline.members,
        timeline.unread,
        timeline.peak,
        timeline.lag,
    )


def _digits(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _milliseconds(times: pa.ChunkedArray, least: int = -1) -> Integers:
    """Return times as ms since 1970; ``least`` if they are not known."""
    known = pc.fill_null(times.cast(pa.int64()), least * 1000)
    found: Integers = known.to_numpy() // 1000
    return found


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
