"""Groups with the same pattern of name and the same results, as one row.

Of thousands of groups, most differ in a number within the name only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from oracle.report.client_row import NO_LAG, ClientRow, Lag
from oracle.report.harm import Harm
from oracle.report.outcomes import OutcomeCounts, added

FEWEST: Final = 3
"""Groups of a pattern from which they are one row."""
_TOKENS: Final = re.compile(r"([-._/ ]+)")
_HEXADECIMAL: Final = re.compile(r"(?=.*\d)[0-9a-fA-F]{6,}")
_REPEATED: Final = re.compile(r"\*(?:[-._/ ]+\*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Rows that the table shows as one; ``pattern`` is empty if there is only one.

    Rows with wrong answers have equal numbers. Of the others, the counts are sums.
    """

    pattern: str
    rows: tuple[ClientRow, ...]

    @property
    def first(self) -> ClientRow:
        """The first row by rank."""
        return self.rows[0]

    @property
    def is_sum(self) -> bool:
        """Whether the counts are those of all groups together."""
        return bool(self.pattern) and not is_wrong(self.first)

    @property
    def counts(self) -> OutcomeCounts:
        """The counts that the row shows."""
        if not self.is_sum:
            return self.first.counts
        return added(OutcomeCounts, [row.counts for row in self.rows])

    @property
    def harm(self) -> Harm:
        """The harm of each group; it is the same, or 0."""
        return self.first.harm

    @property
    def lag(self) -> Lag:
        """The lag of each group, if it is the same."""
        same = len({row.lag for row in self.rows}) == 1
        return self.first.lag if same else NO_LAG


def folded(rows: Sequence[ClientRow]) -> list[Fold]:
    """Return the rows in their order; equal ones are at the place of the first."""
    alike: defaultdict[Any, list[ClientRow]] = defaultdict(list)
    keys = [_key(row) for row in rows]
    for row, key in zip(rows, keys, strict=True):
        alike[key].append(row)
    folds = []
    for row, key in zip(rows, keys, strict=True):
        found = alike[key]
        if len(found) < FEWEST:
            folds.append(Fold(pattern="", rows=(row,)))
        elif found[0] is row:
            folds.append(Fold(pattern=pattern_of(row.group), rows=tuple(found)))
    return folds


def pattern_of(name: str) -> str:
    """Return a name with ``*`` for its numbers, or for its last part if it has none."""
    tokens = _TOKENS.split(name)
    starred = [
        "*" if _HEXADECIMAL.fullmatch(token) else re.sub(r"\d+", "*", token)
        for token in tokens
    ]
    if starred == tokens and len(tokens) > 1:
        starred[-1] = "*"
    return _REPEATED.sub("*", "".join(starred))


def is_wrong(row: ClientRow) -> bool:
    """Whether a row has wrong answers, or harm."""
    harm = row.harm
    lasting = (harm.invalid, harm.waiting, harm.imbalance)
    return bool(row.counts.wrong or harm.unknown or any(lasting))


def _key(row: ClientRow) -> Any:
    results = (row.counts, row.lag, row.harm) if is_wrong(row) else None
    return row.cluster, pattern_of(row.group), row.assignor, row.advice, results
