"""A group in a source: the moments at which it is known, and the one that is asked for.

A moment is a rebalance of a history, or a snapshot: a state without a rebalance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from itertools import groupby
from typing import Any, Final, Protocol

from pipeline.causes import Cause, Silence
from pipeline.time_window import ALL_TIMES, TimeWindow
from rebalance import AssignmentDocument, Rebalance, SourceError

NEAR: Final = 5
"""Names that a message lists."""
_LIKENESS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRebalance:
    """A group at one moment.

    Attributes
    ----------
    rebalance : Rebalance
        Of a history: the partitions that the members owned before the rebalance. Of a
        snapshot: those that they hold.
    assignment : AssignmentDocument or None
        Assignment by the group's leader, or by the coordinator.
    notes : tuple of str
        Notes for a reader of the answer: the moment, inferred facts.
    cooperative : bool
        Whether the assignment is of a cooperative round, which can withhold partitions.
    premises : tuple of str
        Assumptions that the source does not state: an answer holds under these
        premises, and there is no verdict.
    causes : tuple of Cause
        Causes of the rebalance, of a history; empty if they were not asked for.
    silences : tuple of Silence
        Members that are gone, and their last commits; likewise.
    generation : int or None
    at : datetime or None
        Time of the moment, in UTC; None if its source does not state it.
    """

    rebalance: Rebalance
    assignment: AssignmentDocument | None = None
    notes: tuple[str, ...] = ()
    cooperative: bool = False
    premises: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    generation: int | None = None
    at: datetime | None = None
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment of a group; ``key`` is for the source that it is from."""

    group: str
    key: Any
    generation: int | None = None
    at: datetime | None = None
    is_snapshot: bool = False


class GroupSource(Protocol):
    """A source from which groups can be read; ``name`` is for messages."""

    @property
    def name(self) -> str:
        """Name of the source, as the user wrote it."""

    def groups(self) -> list[str]:
        """Return the names of the groups."""

    def moments(self, group: str) -> list[Moment]:
        """Return the moments of a group, in order; none if there is no such group."""

    def read(self, moment: Moment) -> GroupRebalance:
        """Read one of these moments."""

    def causes(self, moment: Moment) -> tuple[Cause, ...]:
        """Return the causes of a rebalance; none if the source has no history."""

    def silences(self, moment: Moment) -> tuple[Silence, ...]:
        """Return the members that are gone since the rebalance before, if known."""

    def quarantined(self, group: str | None = None) -> str:
        """Return why a group, or anything, is not judged; empty if nothing says so."""


def choose(
    source: GroupSource,
    group: str | None,
    generation: int | None,
    window: TimeWindow = ALL_TIMES,
    *,
    with_causes: bool = False,
) -> GroupRebalance:
    """Read a group, of which the name can be left out if there is only one.

    Without ``generation``, the last rebalance; the last snapshot, if there is none. If
    the window has a bound, only the moments in it exist.

    Raises
    ------
    SourceError
        If there is no such group or generation; it lists near ones, or states why the
        group cannot be judged.
    """
    name, every = _moments_of(source, group)
    moments = [moment for moment in every if window.has(moment.at)]
    if not moments:
        raise SourceError(none_within(name, every, window), source=source.name)
    rebalances = [moment for moment in moments if not moment.is_snapshot]
    if generation is not None:
        numbered = rebalances or [
            moment for moment in moments if moment.generation is not None
        ]
        found = [moment for moment in numbered if moment.generation == generation]
        if not found:
            reason = _no_generation(name, generation, numbered)
            reason += f" {window}" if window.is_bounded else ""
            raise SourceError(reason, source=source.name)
        return _read(source, found[-1], with_causes=with_causes)
    listed = rebalances or moments
    read = _read(source, listed[-1], with_causes=with_causes)
    if len(listed) == 1 and not window.is_bounded:
        return read
    note = _last_of(listed, window)
    return replace(read, notes=(note, *read.notes))


def none_within(name: str, moments: Sequence[Moment], window: TimeWindow) -> str:
    """Return the reason why no moment of a group is in a window."""
    times = [moment.at for moment in moments if moment.at is not None]
    if not times:
        return f"the times of group {name!r} are not known: no --since or --until"
    known = f"its times are {_when(min(times))} to {_when(max(times))}"
    return f"group {name!r} has no rebalance or snapshot {window}; {known}"


def _read(source: GroupSource, moment: Moment, *, with_causes: bool) -> GroupRebalance:
    read = source.read(moment)
    read = replace(read, generation=moment.generation, at=moment.at)
    if moment.is_snapshot or not with_causes:
        return read
    return replace(read, causes=source.causes(moment), silences=source.silences(moment))


def named_group(source: GroupSource, group: str | None) -> str:
    """Return the name of a group that is in the source.

    Raises
    ------
    SourceError
        If it is not, or ``group`` is None and there are several.
    """
    return _moments_of(source, group)[0]


def _moments_of(source: GroupSource, group: str | None) -> tuple[str, list[Moment]]:
    name = _only_group(source) if group is None else group
    moments = source.moments(name)
    if not moments:
        raise SourceError(_why_none(source, name), source=source.name)
    return name, moments


def _why_none(source: GroupSource, name: str) -> str:
    if reasons := source.quarantined(name):
        return f"group {name!r} cannot be judged: {reasons}"
    known = source.groups()
    reason = _no_group(name, known)
    reasons = "" if known else source.quarantined()
    return f"{reason}: {reasons}" if reasons else reason


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that resemble one, the most similar first."""
    folded: dict[str, list[str]] = {}
    for candidate in sorted(set(known)):
        folded.setdefault(candidate.casefold(), []).append(candidate)
    wanted = name.casefold()
    close = get_close_matches(wanted, folded, n=NEAR, cutoff=_LIKENESS)
    close += [key for key in folded if wanted in key and key not in close]
    return [candidate for key in close for candidate in folded[key]][:NEAR]


def runs_of(numbers: Iterable[int]) -> str:
    """Format numbers as ``1 to 12, 14``."""
    # Within a run, a number and its place grow alike.
    found = groupby(enumerate(sorted(set(numbers))), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in run] for _, run in found]
    shown = [f"{a} to {b[-1]}" if b else str(a) for a, *b in runs]
    rest = len(shown) - 2 * NEAR
    if rest > 0:
        shown = [*shown[:NEAR], "…", *shown[-NEAR:]]
    return ", ".join(shown)


def _only_group(source: GroupSource) -> str:
    names = source.groups()
    if len(names) == 1:
        return names[0]
    if not names:
        reasons = source.quarantined()
        reason = f"has no group that can be judged: {reasons}"
        raise SourceError(reason if reasons else "has no group", source=source.name)
    reason = f"has {len(names):,} groups, name one by --group: {_listed(names)}"
    raise SourceError(reason, source=source.name)


def _no_group(name: str, known: Sequence[str]) -> str:
    if not known:
        return f"no group {name!r}, nor any other group that can be read"
    near = near_names(name, known)
    if near:
        return f"no group {name!r}; near names: {', '.join(near)}"
    return f"no group {name!r}; there are: {_listed(known)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NEAR:,} more" if len(names) > NEAR else ""
    return ", ".join(sorted(names)[:NEAR]) + more


def _no_generation(name: str, generation: int, rebalances: Sequence[Moment]) -> str:
    if not rebalances:
        return f"group {name!r} has snapshots only, without generations"
    known = [
        rebalance.generation
        for rebalance in rebalances
        if rebalance.generation is not None
    ]
    if not known:
        return f"the rebalances of group {name!r} state no generation"
    return f"group {name!r} has no generation {generation}; it has {runs_of(known)}"


def _last_of(moments: Sequence[Moment], window: TimeWindow) -> str:
    """Return a note on the choice of the last of several moments."""
    last = moments[-1]
    what = "snapshot" if last.is_snapshot else "rebalance"
    which = f"the last of {len(moments):,} {what}s"
    if window.is_bounded:
        which = f"{which if len(moments) > 1 else f'the only {what}'} {window}"
    parts = [f"group {last.group!r}: {which}"]
    if last.generation is not None:
        parts.append(f"generation {last.generation}")
    if last.at is not None:
        parts.append(_when(last.at))
    return ", ".join(parts)


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
