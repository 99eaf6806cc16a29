"""All groups as compact data for search, sorting, and links (``groups.js``).

The table on the page has the first groups; scripts look the others up here. Without
scripts, the table remains as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup

from oracle.names import visible
from oracle.report.advice_words import SettingsBlock
from oracle.report.client_row import ClientRow
from oracle.report.folding import Fold
from oracle.report.harm import Harm
from oracle.report.outliers import Outlier

DATA_BYTES: Final = 1_500_000
"""Most bytes of the data; groups beyond, of least gain, are only in the tables."""
NAME_KEPT: Final = 300
_ID_LENGTH: Final = 100
_PLAIN: Final = re.compile(r"[^A-Za-z0-9-]")
_LITERAL: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

Group = tuple[str, str]
Advised = tuple[str, tuple[SettingsBlock, ...]]


def group_id(cluster: str, group: str, *, many_clusters: bool) -> str:
    """Return the id of a group's first row; different groups have different ids.

    Letters, digits and ``-`` stay, other characters become ``_`` and the hexadecimal
    digits of their UTF-8 bytes. A long id is cut and ends in a digest of the whole.
    """
    names = (cluster, group) if many_clusters else (group,)
    text = "group-" + ".".join(map(_encoded, names))
    if len(text) <= _ID_LENGTH:
        return text
    return f"{text[:_ID_LENGTH]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def case_id(case: Outlier, *, many_clusters: bool) -> str:
    """Return the id of a rebalance on the page: its group and its generation."""
    group = group_id(case.cluster, case.group, many_clusters=many_clusters)
    place = case.kind if case.generation is None else case.generation
    return f"rebalance-{group.removeprefix('group-')}-{place}"


def _encoded(name: str) -> str:
    def spelled(match: re.Match[str]) -> str:
        return "".join(f"_{byte:02X}" for byte in match[0].encode("utf-8", "replace"))

    return _PLAIN.sub(spelled, name)


def group_ids(rows: Iterable[ClientRow], *, many_clusters: bool) -> list[str]:
    """Return the id of each row; only the first row of a group has one."""
    seen: set[Group] = set()
    ids = []
    for row in rows:
        place = (row.cluster, row.group)
        ids.append(
            "" if place in seen else group_id(*place, many_clusters=many_clusters)
        )
        seen.add(place)
    return ids


def group_data(
    patterns: Sequence[Fold],
    rows: Sequence[ClientRow],
    ids: Sequence[str],
    endless: Collection[Group],
) -> tuple[Markup, int]:
    """Return the data as JSON, and the number of rows in it.

    A row is cluster, group, assignor (places in lists; -1 unknown), judged, at the
    optimum, with needless moves, needless moves, unbalanced, invalid, median percent of
    lag above its bound (-1: unknown), 1 if it rebalances endlessly, advice (as
    assignor), the pattern of its name (as assignor) if equal groups are one row, harm,
    and its id, unless that follows from the name. Harm is 0, or a list: unread or
    shared, waiting, imbalance (partition-ms; -1: unknown), invalid rebalances of
    unknown duration, and 1 if the harm lasts until the end of the history. To each line
    of advice belongs a place in ``settings``, whose items are lists of blocks: title,
    steps of instruction and setting, and note.
    """
    data = _GroupData(patterns, rows)
    for row, id_ in zip(rows, ids, strict=True):
        if not data.add(row, id_, is_endless=(row.cluster, row.group) in endless):
            break
    text = f'{literal(data.head())[:-1]},"rows":[{",".join(data.texts)}]}}'
    return Markup(text), len(data.texts)  # noqa: S704 - `literal` leaves no markup


class _GroupData:
    """Rows of groups, as texts; names, advice, and settings are listed once."""

    def __init__(self, patterns: Sequence[Fold], rows: Sequence[ClientRow]) -> None:
        self.patterns = patterns
        self.pattern_at = {
            row: at for at, fold in enumerate(patterns) for row in fold.rows
        }
        self.clusters = _places(row.cluster for row in rows)
        self.assignors = _places(row.assignor for row in rows if row.assignor)
        self.advice: dict[Advised, int] = {}
        self.settings: dict[tuple[SettingsBlock, ...], int] = {}
        self.texts: list[str] = []
        self.left = DATA_BYTES

    def add(self, row: ClientRow, id_: str, *, is_endless: bool) -> bool:
        """Return whether there is room for a row, and add it if so."""
        advised = row.advice, row.settings
        text = literal(self._values(row, id_, is_endless))
        if advised not in self.advice:
            self.left -= len(literal(row.advice)) + len(literal(len(self.advice))) + 2
        if advised[1] not in self.settings:
            self.left -= len(literal(_blocks(advised[1]))) + 1
        self.left -= len(text) + 1
        if self.left < 0:
            return False
        self.advice.setdefault(advised, len(self.advice))
        self.settings.setdefault(advised[1], len(self.settings))
        self.texts.append(text)
        return True

    def _values(self, row: ClientRow, id_: str, is_endless: bool) -> list[Any]:
        shown = visible(row.group, limit=NAME_KEPT)
        values: list[Any] = [
            self.clusters[row.cluster],
            shown,
            self.assignors.get(row.assignor or "", -1),
            *_numbers(row),
            int(is_endless),
            self.advice.get((row.advice, row.settings), len(self.advice)),
            self.pattern_at.get(row, -1),
            _harm(row.harm),
        ]
        return values if id_ == f"group-{_encoded(shown)}" else [*values, id_]

    def head(self) -> dict[str, Any]:
        """Return the lists in which the rows have places."""
        return {
            "clusters": [visible(name, limit=NAME_KEPT) for name in self.clusters],
            "assignors": [visible(name, limit=NAME_KEPT) for name in self.assignors],
            "advice": [line for line, _ in self.advice],
            "settings_of": [self.settings[blocks] for _, blocks in self.advice],
            "settings": [_blocks(blocks) for blocks in self.settings],
            "patterns": [
                visible(fold.pattern, limit=NAME_KEPT) for fold in self.patterns
            ],
        }


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _blocks(blocks: Sequence[SettingsBlock]) -> list[list[object]]:
    return [
        [
            block.title,
            [[step.says, step.setting] for step in block.steps],
            block.note,
        ]
        for block in blocks
    ]


def _numbers(row: ClientRow) -> tuple[int, ...]:
    counts, above = row.counts, row.lag.median_above
    return (
        counts.judged,
        counts.optimum,
        counts.needless,
        counts.needless_moves,
        counts.unbalanced,
        counts.invalid,
        -1 if above is None else above,
    )


def _harm(harm: Harm) -> list[int] | int:
    lasting = (harm.invalid, harm.waiting, harm.imbalance)
    found = [-1 if number is None else number for number in lasting]
    found += [harm.unknown, int(harm.open)]
    return found if any(found) else 0


def literal(value: object) -> str:
    """Return JSON in ASCII that cannot end the element that it stands in."""
    text = json.dumps(value, separators=(",", ":"))
    return re.sub("[<>&]", lambda match: _LITERAL[match[0]], text)
