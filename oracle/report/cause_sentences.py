"""Causes of a group's rebalances, counted, and a sentence about them.

A rebalance with several causes counts once, for the first of its `REASONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.cause_columns import groups_of_rows, kinds_of_rows
from pipeline.causes import KINDS
from pipeline.tables import UNDATED
from rebalance import Bools, Int64

REASONS: Final = {
    "returns": (
        ("returned", "left-briefly"),
        "by members that left and returned within 60 s",
    ),
    "members": (("started", "joined", "left"), "by {other}members that joined or left"),
    "subscriptions": (("resubscribed",), "by changed subscriptions"),
    "growth": (("partitions-added",), "by topics with more partitions"),
    "topics": (
        ("topics-appeared",),
        "by topics that the assignment before had left out",
    ),
    "assignor": (("assignor-changed",), "by another assignor"),
    "replaced": (("replaced",), "by static members that restarted"),
    "leader": (("leader-changed",), "by another leader"),
    "rounds": (("round",), "as further rounds of cooperative rebalances"),
    "restless": (("restless",), "without any change"),
    "unknown": (("unknown",), "for a reason that the records do not show"),
}
"""Kinds of causes by reason, first reason first, and its words."""
REASONS_STATED: Final = 3
"""Reasons in a sentence, the most frequent ones."""


class ReasonCount(NamedTuple):
    """Rebalances of a group that count for a reason of `REASONS`."""

    name: str
    rebalances: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCauses:
    """Causes of the rebalances of one group.

    Attributes
    ----------
    first_day, last_day : date or None
        Days (UTC) of the first and last rebalance; None without times.
    kinds : Mapping
        Number of rebalances that list a kind of cause; those of several kinds count for
        each.
    reasons : tuple of ReasonCount
        Most frequent first; their numbers add up to ``rebalances``.
    """

    cluster: str
    group: str
    rebalances: int
    first_day: date | None
    last_day: date | None
    kinds: Mapping[str, int]
    reasons: tuple[ReasonCount, ...]

    @property
    def sentence(self) -> str:
        """The rebalances with their days and reasons, in one sentence."""
        count = f"{self.rebalances:,} rebalance{'' if self.rebalances == 1 else 's'}"
        days = _days_text(self.first_day, self.last_day)
        begin = f"{count} {days}" if days else count
        if len(self.reasons) == 1:
            every = "" if self.rebalances == 1 else "all "
            return f"{begin}, {every}{self._words(self.reasons[0])}."
        parts = [
            f"{reason.rebalances:,} {self._words(reason)}"
            for reason in self.reasons[:REASONS_STATED]
        ]
        if rest := sum(reason.rebalances for reason in self.reasons[REASONS_STATED:]):
            parts.append(f"{rest:,} for other reasons")
        return f"{begin}: {', '.join(parts)}."

    def _words(self, reason: ReasonCount) -> str:
        has_returns = any(other.name == "returns" for other in self.reasons)
        _, words = REASONS[reason.name]
        return words.format(other="other " if has_returns else "")


def group_causes(rebalances: pa.Table) -> tuple[GroupCauses, ...]:
    """Count the causes per group, by cluster and name.

    Parameters
    ----------
    rebalances
        Columns ``cluster``, ``date``, ``group_id``, and ``causes`` of the table.
    """
    if not len(rebalances):
        return ()
    keys, group = groups_of_rows(rebalances)
    has_kind = kinds_of_rows(rebalances["causes"])
    by_kind = _per_group([*has_kind.values()], group)
    by_reason = _per_group(_first_reasons(has_kind), group)
    days = _days(rebalances["date"], group)
    found = [
        GroupCauses(
            cluster=cluster,
            group=name,
            rebalances=int(by_reason[:, place].sum()),
            first_day=days[place][0] if place in days else None,
            last_day=days[place][1] if place in days else None,
            kinds=_counted(KINDS, by_kind[:, place]),
            reasons=tuple(
                ReasonCount(reason, count)
                for reason, count in sorted(
                    _counted(REASONS, by_reason[:, place]).items(),
                    key=lambda item: -item[1],
                )
            ),
        )
        for place, (cluster, name) in enumerate(keys)
    ]
    return tuple(sorted(found, key=lambda causes: (causes.cluster, causes.group)))


def _first_reasons(has_kind: dict[str, Bools]) -> list[Bools]:
    """Return per reason which rows count for it; without a cause, for the last one."""
    left = np.ones(len(has_kind["unknown"]), np.bool_)
    found = []
    for kinds, _ in REASONS.values():
        of_reason = [has_kind[kind] for kind in kinds]
        found.append(left & np.logical_or.reduce(of_reason))
        left &= ~found[-1]
    found[-1] |= left
    return found


def _per_group(are_counted: list[Bools], group: Int64) -> Int64:
    """Count rows per group, in a row of the result per kind or reason."""
    size = int(group.max()) + 1
    return np.stack([np.bincount(group[rows], minlength=size) for rows in are_counted])


def _days(dates: pa.ChunkedArray, group: Int64) -> dict[int, tuple[date, date]]:
    """Return the first and the last day of each group that has one."""
    texts = pc.cast(dates.combine_chunks(), pa.string())
    is_dated = pc.not_equal(texts, UNDATED)
    days = pc.cast(texts.filter(is_dated), pa.date32())
    of = pa.array(group).filter(is_dated)
    grouped = pa.table({"group": of, "day": days}).group_by("group", use_threads=False)
    rows: list[dict[str, Any]] = grouped.aggregate(
        [("day", "min"), ("day", "max")]
    ).to_pylist()
    return {row["group"]: (row["day_min"], row["day_max"]) for row in rows}


def _counted(names: Any, counts: Int64) -> dict[str, int]:
    pairs = zip(names, counts.tolist(), strict=True)
    return {name: count for name, count in pairs if count}


def _days_text(first: date | None, last: date | None) -> str:
    """Return one day, or the first and the last."""
    if first is None or last is None:
        return ""
    if first == last:
        return f"on {_day(first)}"
    begin = f"{first.day} {first:%B}" if first.year == last.year else _day(first)
    if (first.year, first.month) == (last.year, last.month):
        begin = f"{first.day}"
    return f"from {begin} to {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
