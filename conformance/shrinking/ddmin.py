"""Delta debugging: minimize a list while a property holds (ddmin).

Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
Transactions on Software Engineering 28(2), 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

_T = TypeVar("_T")


def ddmin(items: Sequence[_T], holds: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return a sublist that holds and is 1-minimal: no single item can be removed.

    Parameters
    ----------
    items : sequence
        A list that holds.
    holds : callable
        Returns whether a sublist, in the order of the list, has the property.
    """
    kept = list(items)
    if not kept or holds([]):
        return []
    parts = 2
    while len(kept) > 1:
        smaller = _smaller(kept, parts, holds)
        if smaller is not None:
            kept, parts = smaller
        elif parts < len(kept):
            parts = min(len(kept), 2 * parts)
        else:
            break
    return kept


def _smaller(
    kept: list[_T], parts: int, holds: Callable[[Sequence[_T]], bool]
) -> tuple[list[_T], int] | None:
    """Return a part, or the complement of one, that holds, and the next granularity."""
    ends = [len(kept) * i // parts for i in range(parts + 1)]
    pairs = list(pairwise(ends))
    for start, end in pairs if parts > 2 else ():
        if holds(kept[start:end]):
            return kept[start:end], 2
    for start, end in pairs:
        complement = kept[:start] + kept[end:]
        if holds(complement):
            return complement, max(parts - 1, 2)
    return None
