"""Groups in the folder of an audit, read with Arrow: no Spark, no other groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pipeline.cases import NEXT, NOT_REPORTED
from pipeline.causes import Cause, LastSeen, Silence, listed_causes, silences_of
from pipeline.groups.held_now import with_held, with_subscriptions
from pipeline.groups.moments import GroupRebalance, Moment
from pipeline.groups.notes import notes_on_counts, presumed
from pipeline.groups.quarantine_reasons import reasons_of
from pipeline.tables import MANIFEST, SCHEMAS, opened_table, read_manifest
from rebalance import MAX_PARTITIONS, SourceError, parse_assignment, parse_rebalance

_ACTUAL: Final = "actual"
_PLACE: Final = ("source", "source_partition", "source_offset")
_DIGITS: Final = re.compile(r"(\d+)")


def is_audit(path: Path) -> bool:
    """Return whether a folder is that of an audit."""
    return (path / MANIFEST).is_file() and (path / "rebalances").is_dir()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFolder:
    """The tables of an audit on this machine."""

    folder: Path
    max_partitions: int = MAX_PARTITIONS

    @property
    def name(self) -> str:
        """The folder, as it was given."""
        return str(self.folder)

    def groups(self) -> list[str]:
        """Return the groups with rebalances or snapshots."""
        names: set[str] = set()
        for table in ("rebalances", "snapshots"):
            with self._opened(table) as dataset:
                column = dataset.to_table(columns=["group_id"]).column(0)
                names.update(pc.unique(column).to_pylist())
        return sorted(names)

    def moments(self, group: str) -> list[Moment]:
        """Return the rebalances of a group, then its snapshots."""
        rebalances = self.rows(
            "rebalances",
            group,
            ("cluster", "rebalance_id", "generation", "at", *_PLACE),
        )
        snapshots = self.rows("snapshots", group, ("cluster", "snapshot_id", "at"))
        clusters = sorted({row["cluster"] for row in (*rebalances, *snapshots)})
        if len(clusters) > 1:
            reason = f"group {group!r} is in several clusters: {', '.join(clusters)}"
            raise SourceError(reason, source=self.name)
        return [
            *(
                Moment(
                    group=group,
                    key=row["rebalance_id"],
                    generation=row["generation"],
                    at=row["at"],
                )
                for row in sorted(rebalances, key=_place)
            ),
            *(
                Moment(
                    group=group, key=row["snapshot_id"], at=row["at"], is_snapshot=True
                )
                for row in sorted(snapshots, key=_natural)
            ),
        ]

    def read(self, moment: Moment) -> GroupRebalance:
        """Read the documents of a rebalance, or of a snapshot."""
        if moment.is_snapshot:
            return self._snapshot(moment)
        wanted = ds.field("rebalance_id") == moment.key
        columns = ("instance", "partition_counts", "newer_partitions", "cooperative")
        (row,) = self.rows("rebalances", moment.group, columns, wanted)
        actual = self.rows(
            "answers",
            moment.group,
            ("assignment",),
            wanted & (ds.field("assignor") == _ACTUAL),
        )
        answer = actual[0]["assignment"] if actual else None
        return GroupRebalance(
            rebalance=self._parsed(row["instance"]),
            assignment=None if answer is None else parse_assignment(answer),
            notes=tuple(
                notes_on_counts(row["partition_counts"], row["newer_partitions"])
            ),
            cooperative=bool(row["cooperative"]),
        )

    def causes(self, moment: Moment) -> tuple[Cause, ...]:
        """Return the causes of a rebalance, as the audit states them."""
        wanted = ds.field("rebalance_id") == moment.key
        (row,) = self.rows("rebalances", moment.group, ("causes",), wanted)
        return listed_causes(row["causes"])

    def silences(self, moment: Moment) -> tuple[Silence, ...]:
        """Return the members that are gone, as the tables state them."""
        columns = ("rebalance_id", "generation", "until", "ended", "lasted_ms", *_PLACE)
        rows = sorted(self.rows("rebalances", moment.group, columns), key=_place)
        place = [row["rebalance_id"] for row in rows].index(moment.key)
        before, row = rows[place - 1], rows[place]
        number = row["generation"]
        if not place or number is None or before["generation"] != number - 1:
            return ()
        if before["ended"] != NEXT or before["lasted_ms"] is None:
            return ()
        ids = before["rebalance_id"], row["rebalance_id"]
        people = self.rows(
            "members",
            moment.group,
            ("rebalance_id", "member_id", "instance_id", "load", "last_commit_at"),
            ds.field("rebalance_id").isin(ids),
        )
        return silences_of(
            [_last_seen(row) for row in people if row["rebalance_id"] == ids[0]],
            {
                row["instance_id"] or row["member_id"]
                for row in people
                if row["rebalance_id"] == ids[1]
            },
            _milliseconds(before["until"]),
        )

    def quarantined(self, group: str | None = None) -> str:
        """Return why a group, or anything, is not judged, from ``quarantine``."""
        return reasons_of(self.rows("quarantine", group, ("reason", *_PLACE)))

    def rows(
        self,
        table: str,
        group: str | None,
        columns: Sequence[str],
        wanted: ds.Expression | None = None,
    ) -> list[dict[str, Any]]:
        """Read columns of the rows of a group; None: of all.

        Raises
        ------
        SourceError
            If the table cannot be read, or is of another version.
        """
        chosen = wanted
        if group is not None:
            of_group = ds.field("group_id") == group
            chosen = of_group if wanted is None else of_group & wanted
        with self._opened(table) as dataset:
            found = dataset.to_table(columns=list(columns), filter=chosen)
            rows: list[dict[str, Any]] = found.to_pylist()
            return rows

    def _snapshot(self, moment: Moment) -> GroupRebalance:
        columns = (
            "instance",
            "assignment",
            "partition_counts",
            "subscriptions",
            "members_listed",
            "at_rest",
            "doubt",
        )
        wanted = ds.field("snapshot_id") == moment.key
        (row,) = self.rows("snapshots", moment.group, columns, wanted)
        assignment = parse_assignment(row["assignment"])
        rebalance = with_held(self._parsed(row["instance"]), assignment)
        if row["subscriptions"] == NOT_REPORTED:
            rebalance = with_subscriptions(rebalance)
        assuming = ("subscriptions", "members_listed", "at_rest", "doubt")
        assumed = presumed(*(row[name] for name in assuming))
        return GroupRebalance(
            rebalance=rebalance,
            assignment=assignment,
            notes=(
                *(assumption.note for assumption in assumed),
                *notes_on_counts(row["partition_counts"], None),
            ),
            premises=tuple(assumption.premise for assumption in assumed),
        )

    def _parsed(self, text: str) -> Any:
        return parse_rebalance(text, max_partitions=self.max_partitions)

    @contextmanager
    def _opened(self, table: str) -> Iterator[ds.Dataset]:
        place = self.folder / table
        try:
            if place.is_dir():
                yield opened_table(self.folder, table)
            else:  # no row of this table
                yield ds.dataset(SCHEMAS[table].empty_table())
        except (OSError, pa.ArrowException) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            reason = f"no table of an audit: {first}"
            raise SourceError(reason, source=str(place), cause=error) from None


def opened_audit(path: Path, max_partitions: int = MAX_PARTITIONS) -> AuditFolder:
    """Open the folder of an audit.

    Raises
    ------
    SourceError
        As `read_manifest`.
    """
    read_manifest(path)
    return AuditFolder(folder=path, max_partitions=max_partitions)


def _last_seen(row: dict[str, Any]) -> LastSeen:
    at = row["last_commit_at"]
    return LastSeen(
        row["member_id"],
        row["instance_id"],
        row["load"] or 0,
        None if at is None else _milliseconds(at),
    )


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _place(row: dict[str, Any]) -> tuple[int, str, int]:
    """Return the order of rebalances: by offset, or by file and line."""
    partition, offset = row["source_partition"], row["source_offset"]
    source = row["source"] if partition is None else ""
    return (-1 if partition is None else partition, source, offset or 0)


def _natural(row: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the order of snapshots: by name, numbers in it by value."""
    parts = _DIGITS.split(row["snapshot_id"])
    return [(int(part) if part.isdigit() else -1, part) for part in parts]
