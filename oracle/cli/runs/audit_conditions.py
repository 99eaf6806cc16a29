"""Conditions on an audit: a figure, summed over all groups, above a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from oracle.alerting import AuditFigures
from oracle.audit_diff import AuditDiff, worse_lines
from oracle.cli.options.fail_on import (
    HARM,
    INVALID,
    NEEDLESS,
    UNBALANCED,
    FigureLimit,
)
from oracle.names import abridged
from oracle.wording import counted

_NAME_SHOWN: Final = 60
_Group = Mapping[str, Any]


def failed_conditions(
    limits: Iterable[FigureLimit], figures: AuditFigures
) -> Iterator[str]:
    """Describe each condition that holds: the number, and that of the worst group."""
    for limit in limits:
        figure = _FIGURES[limit.word]
        total = sum(map(figure.of, figures.groups))
        if total <= limit.above:
            continue
        # Of equal ones, the first by name.
        worst = max(figures.groups, key=figure.of)
        name = abridged(worst["group_id"], _NAME_SHOWN)
        above = f" (above {limit.above:,g})" if limit.above else ""
        most = figure.number(figure.of(worst))
        yield f"{figure.described(total)}{above}; worst group {name}: {most}"


def failed_comparisons(
    limits: Iterable[FigureLimit], diff: AuditDiff | None
) -> Iterator[str]:
    """Describe each condition on groups that are worse than in the audit before.

    New groups with harm count. None holds without an audit before.
    """
    lines = [] if diff is None else worse_lines(diff)
    for limit in limits:
        if len(lines) <= limit.above:
            continue
        above = f" (above {limit.above:,g})" if limit.above else ""
        first, groups = lines[0], counted(len(lines), "group")
        name = abridged(first.group, _NAME_SHOWN)
        words = "worse than in the audit before, or new with harm"
        yield f"{groups} {words}{above}; first {name}: {first.words}"


def _harm(group: _Group) -> float:
    ms: int = group["unread_partition_ms"] + group["shared_partition_ms"]
    return ms / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A figure of a group, and its words; with decimals, it is in seconds."""

    of: Callable[[_Group], float]
    one: str
    many: str
    decimals: int = 0

    def described(self, number: float) -> str:
        """Return a number with its words."""
        return f"{self.number(number)} {self.one if number == 1 else self.many}"

    def number(self, number: float) -> str:
        """Format a number."""
        return f"{number:,.{self.decimals}f}"


_FIGURES: Final = {
    INVALID: _Figure(
        of=lambda group: group["invalid"],
        one="invalid assignment",
        many="invalid assignments",
    ),
    HARM: _Figure(
        of=_harm,
        one="partition-second unread or read by two",
        many="partition-seconds unread or read by two",
        decimals=1,
    ),
    UNBALANCED: _Figure(
        of=lambda group: group["unbalanced"],
        one="unbalanced assignment",
        many="unbalanced assignments",
    ),
    NEEDLESS: _Figure(
        of=lambda group: group["needless_moves"],
        one="needless move",
        many="needless moves",
    ),
}
"""The figure of each word."""
