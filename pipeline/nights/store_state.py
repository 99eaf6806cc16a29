"""The state of a store, ``store.json``: marks, options, and audits so far.

Rows of the tables depend on the options in `StoreState.options`; an audit with others
is refused, so that all rows of a store can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any, Final

import orjson

from pipeline.nights.marks import ReadMark
from pipeline.tables import LAYOUT, STORE_FORMAT
from rebalance import SourceError

ANOTHER: Final = "give another --history"
MOST_AUDITS: Final = 100
"""Audits that are listed: one that follows a cluster adds some hundred a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An audit in a store.

    ``records`` are new ones; ``rebalances`` are those that this audit has judged, some
    of which an earlier one had judged before they changed; ``sources`` are names of
    files, or the cluster.
    """

    night: int
    started: str
    finished: str
    rows_read: int
    rows_repeated: int
    records: int
    rebalances: int
    sources: list[str]
    newest_record: str | None = None
    """Latest time of a record of this audit or of one before it; None: none has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """The content of ``store.json``.

    ``night`` counts the audits; 0: none is complete. ``log`` has the ids of a running
    cluster and of its topic; ``files`` are those that were read to their end, as
    `file_id` names them; ``first_day`` is the first day that is kept.
    """

    night: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    log: dict[str, str | None] | None = None
    marks: dict[int, ReadMark] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    first_day: date | None = None
    audits: list[AuditEntry] = field(default_factory=list)
    """The last `MOST_AUDITS`."""
    rows_read_before: int = 0
    rows_repeated_before: int = 0
    """Sums over the audits before them."""

    @property
    def rows_read(self) -> int:
        """Rows that all audits have read."""
        return self.rows_read_before + sum(entry.rows_read for entry in self.audits)

    @property
    def rows_repeated(self) -> int:
        """Of them, those that were found more than once."""
        return self.rows_repeated_before + sum(
            entry.rows_repeated for entry in self.audits
        )

    def check_options(self, options: Mapping[str, Any], store: str) -> None:
        """Compare the options with those of earlier audits.

        Raises
        ------
        SourceError
            If one differs.
        """
        given = orjson.loads(orjson.dumps(dict(options)))
        for name in sorted(self.options.keys() | given.keys()) if self.night else ():
            before, now = self.options.get(name), given.get(name)
            if before != now:
                reason = f"was begun with {name} {_shown(before)}, not {_shown(now)}"
                raise SourceError(f"{reason}: {ANOTHER}", source=store)

    def check_log(self, cluster: str, topic: str | None, store: str) -> None:
        """Compare a running cluster with the one that was read before.

        Raises
        ------
        SourceError
            If it is another one, or its topic was deleted and created again.
        """
        known = self.log
        if known is None:
            return
        if known["cluster"] != cluster:
            reason = f"is of cluster {known['cluster']}, not {cluster}"
            raise SourceError(f"{reason}: {ANOTHER}", source=store)
        if None not in (known["topic"], topic) and known["topic"] != topic:
            raise SourceError(
                f"__consumer_offsets of cluster {cluster} was deleted and created again"
                f" (topic {known['topic']} is now {topic}): {ANOTHER}",
                source=store,
            )

    def after(self, entry: AuditEntry, **changes: Any) -> StoreState:
        """Return the state after one more audit."""
        audits = [*self.audits, entry]
        dropped = audits[:-MOST_AUDITS]
        return replace(
            self,
            night=entry.night,
            audits=audits[-MOST_AUDITS:],
            rows_read_before=self.rows_read_before
            + sum(audit.rows_read for audit in dropped),
            rows_repeated_before=self.rows_repeated_before
            + sum(audit.rows_repeated for audit in dropped),
            **changes,
        )

    def as_bytes(self) -> bytes:
        """Return the file's content."""
        document = asdict(self) | {
            "format": STORE_FORMAT,
            "tables": LAYOUT,
            "marks": {str(partition): asdict(m) for partition, m in self.marks.items()},
        }
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(document, option=options)


def read_state(data: bytes, store: str) -> StoreState:
    """Read the state of a store.

    Raises
    ------
    SourceError
        If it is not one, or of another version.
    """
    try:
        found = orjson.loads(data)
        kind, layout = found.pop("format"), found.pop("tables")
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        raise SourceError(
            f"not the state of a store, {STORE_FORMAT}", source=store
        ) from None
    if (kind, layout) != (STORE_FORMAT, LAYOUT):
        reason = f"has {kind} with {layout}, but this version of assignor-oracle writes"
        raise SourceError(
            f"{reason} {STORE_FORMAT} with {LAYOUT}: {ANOTHER}", source=store
        )
    first = found["first_day"]
    return StoreState(
        **found
        | {
            "marks": {int(p): ReadMark(**mark) for p, mark in found["marks"].items()},
            "audits": [AuditEntry(**entry) for entry in found["audits"]],
            "first_day": None if first is None else date.fromisoformat(first),
        }
    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
