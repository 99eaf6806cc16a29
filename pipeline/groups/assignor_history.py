"""Judged answers of every assignor over the history of a group, from an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pipeline.groups.audit_folder import AuditFolder
from pipeline.groups.group_source import group_source
from pipeline.groups.moments import named_group, none_within
from pipeline.time_window import ALL_TIMES, TimeWindow
from rebalance import SourceError

_COLUMNS: Final = (
    "rebalance_id",
    "client_assignor",
    "assignor",
    "applies",
    "verdict",
    "dec_min_balanced",
    "moves",
    "moves_least",
    "withheld",
    "peak_lag",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryAnswer:
    """A judged answer; ``least`` are the fewest moves of a balanced assignment.

    ``moves``, ``withheld``, and ``peak_lag`` (records; None without lag) are only
    stated if the assignor ``applies``.
    """

    rebalance_id: str
    assignor: str
    applies: bool
    is_valid: bool = False
    is_balanced: bool = False
    moves: int = 0
    least: int | None = None
    withheld: int = 0
    peak_lag: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorHistory:
    """All answers over a group's history, and the assignors that it used, by name."""

    group: str
    answers: tuple[HistoryAnswer, ...]
    used: tuple[str, ...]


def answers_of_group(
    source: str,
    group: str | None,
    *,
    group_name: str | None = None,
    window: TimeWindow = ALL_TIMES,
) -> AssignorHistory:
    """Read the answers over the history of a group, to the rebalances in a window.

    Raises
    ------
    SourceError
        If the source is not a folder of an audit, or has no rebalance of such a group
        in the window; or if ``group_name`` is given, which does not apply to such a
        folder.
    """
    found = group_source(source, group_name=group_name)
    if not isinstance(found, AuditFolder):
        reason = "no folder of an audit, which has the history of a group"
        raise SourceError(reason, source=source)
    name = named_group(found, group)
    rows = found.rows("answers", name, _COLUMNS)
    if not rows:
        raise SourceError(f"no rebalance of group {name!r}", source=source)
    if window.is_bounded:
        moments = found.moments(name)
        kept = {moment.key for moment in moments if window.has(moment.at)}
        rows = [row for row in rows if row["rebalance_id"] in kept]
        if not rows:
            raise SourceError(none_within(name, moments, window), source=source)
    return AssignorHistory(
        group=name,
        answers=tuple(map(_answer, rows)),
        used=tuple(
            sorted({r["client_assignor"] for r in rows if r["client_assignor"]})
        ),
    )


def _answer(row: Mapping[str, Any]) -> HistoryAnswer:
    return HistoryAnswer(
        rebalance_id=row["rebalance_id"],
        assignor=row["assignor"],
        applies=row["applies"],
        is_valid=row["verdict"] == "valid",
        is_balanced=bool(row["dec_min_balanced"]),
        moves=row["moves"] or 0,
        least=row["moves_least"],
        withheld=row["withheld"] or 0,
        peak_lag=row["peak_lag"],
    )
