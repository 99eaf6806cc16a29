"""Groups that are worse or better than before, or new, by their figures per day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, get_args

from oracle.audit_diff.diff_records import (
    Figure,
    FirstGroup,
    GroupDifference,
    GroupFigures,
    NewGroup,
)
from oracle.audit_diff.period_figures import Group

FACTOR: Final = 2
"""Values per day differ if one is at least so many times the other."""
FIGURES: Final[tuple[Figure, ...]] = get_args(Figure)
"""The figures that are compared, in the order of harm, as on the page."""
_NOTHING: Final = GroupFigures(**dict.fromkeys(GroupFigures.model_fields, 0))

Figures = Mapping[Group, GroupFigures]
Assignors = Mapping[Group, str]


def harm_rank(figures: GroupFigures) -> tuple[int, ...]:
    """Return numbers by which most harm is first."""
    return tuple(-getattr(figures, name) for name in FIGURES)


def changed_groups(
    old: Figures,
    new: Figures,
    days: tuple[int, int],
    assignors: tuple[Assignors, Assignors],
) -> tuple[list[GroupDifference], list[GroupDifference]]:
    """Return the groups of both periods that are worse, and those that are better.

    Parameters
    ----------
    days
        Durations of the two periods, in any unit; above 0.
    assignors
        The last assignor of each group in each of them.
    """
    worse: list[GroupDifference] = []
    better: list[GroupDifference] = []
    for group in sorted(old.keys() & new.keys()):
        before, after = old[group], new[group]
        by = differing(before, after, days)
        if by is None:
            continue
        used = [of_period.get(group) for of_period in assignors]
        has_changed = None not in used and used[0] != used[1]
        found = GroupDifference.known(
            cluster=group[0],
            group=group[1],
            by=by,
            old=before,
            new=after,
            old_assignor=used[0] if has_changed else None,
            new_assignor=used[1] if has_changed else None,
        )
        is_worse = getattr(after, by) * days[0] > getattr(before, by) * days[1]
        (worse if is_worse else better).append(found)
    worse.sort(key=lambda found: harm_rank(found.new))
    better.sort(key=lambda found: harm_rank(found.old))
    return worse, better


def differing(
    old: GroupFigures, new: GroupFigures, days: tuple[int, int]
) -> Figure | None:
    """Return the first figure of which one value per day is `FACTOR` times the other.

    0 and another value differ, whatever the value.
    """
    for name in FIGURES:
        before, after = getattr(old, name) * days[1], getattr(new, name) * days[0]
        if before != after and max(before, after) >= FACTOR * min(before, after):
            return name
    return None


def new_groups(new: Figures, known: Iterable[Group]) -> list[NewGroup]:
    """Return the groups with harm that were not known, most harm first."""
    found = []
    for group in sorted(new.keys() - set(known)):
        by = differing(_NOTHING, new[group], (1, 1))
        if by is not None:
            found.append(
                NewGroup(cluster=group[0], group=group[1], by=by, new=new[group])
            )
    return sorted(found, key=lambda row: harm_rank(row.new))


def first_group(old: Figures, new: Figures) -> FirstGroup | None:
    """Return the group with the most harm, if it is another one than before."""
    before, after = _first(old), _first(new)
    if after is None or before == after:
        return None
    return FirstGroup.known(
        cluster=after[0],
        group=after[1],
        old_cluster=None if before is None else before[0],
        old_group=None if before is None else before[1],
    )


def _first(figures: Figures) -> Group | None:
    """Return the group with the most harm; None if none has any."""
    harmed = [group for group in figures if any(harm_rank(figures[group]))]
    return min(
        harmed, key=lambda group: (harm_rank(figures[group]), group), default=None
    )
