"""Groups in local files: records, describe texts, and documents, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pipeline.cases import NEXT, NOT_REPORTED, SNAPSHOT, Case, CaseMember, unpack
from pipeline.causes import Cause, LastSeen, Silence, silences_of
from pipeline.describe.record_states import with_record_states
from pipeline.files import is_local
from pipeline.groups.case_causes import causes_of_case
from pipeline.groups.held_now import with_held, with_subscriptions
from pipeline.groups.moments import GroupRebalance, Moment
from pipeline.groups.notes import notes_on_counts, presumed
from pipeline.groups.quarantine_reasons import reasons_of
from pipeline.history.stream import ORDER, histories
from pipeline.judging.instance_batch import instance_of_case
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.known_counts import known_counts
from pipeline.rows import (
    CASE,
    QUARANTINED,
    TOPIC,
    TOPIC_ID,
    UNREADABLE,
    Row,
    quarantine_row,
    sighting_of,
)
from pipeline.side_files.given_subscriptions import (
    read_subscriptions,
    with_given_subscriptions,
)
from pipeline.side_files.sidecars import read_offsets, read_topics
from pipeline.sources.find import FoundSources, find_sources
from pipeline.sources.read import read_found
from pipeline.topic_names import names_of_ids, with_names
from rebalance import MAX_PARTITIONS, AssignmentDocument, SourceError

LARGEST: Final = 1 << 30
"""Bytes of sources above which an audit has to be made first."""


@dataclass(frozen=True, kw_only=True)
class LocalFiles:
    """A file or a folder of sources, read once, with all its groups.

    All groups are read, because records of one state partition counts of topics of the
    others. ``group_name`` is the group of describe tables without a column GROUP.
    """

    path: Path
    max_partitions: int = MAX_PARTITIONS
    group_name: str | None = None

    @property
    def name(self) -> str:
        """The path, as it was given."""
        return str(self.path)

    def groups(self) -> list[str]:
        """Return the groups that have a case."""
        return sorted(self._cases)

    def moments(self, group: str) -> list[Moment]:
        """Return the rebalances of a group in order, and its snapshots."""
        return [
            Moment(
                group=group,
                key=case,
                generation=case.generation,
                at=_time(case.at),
                is_snapshot=case.owned_from == SNAPSHOT,
            )
            for case in self._cases.get(group, ())
        ]

    def read(self, moment: Moment) -> GroupRebalance:
        """Build the documents of a case.

        Raises
        ------
        DocumentError, InstanceError
            If the case contradicts itself, as in the audit.
        """
        facts = self._facts
        case = with_names(moment.key, facts.names)
        case = with_given_subscriptions(case, facts.subscriptions)
        instance = instance_of_case(case, facts)
        rebalance = instance.document
        assignment = _assignment(case)
        if moment.is_snapshot and assignment is not None:
            rebalance = with_held(rebalance, assignment)
        assumed = presumed(
            case.subscriptions, case.members_listed, case.at_rest, case.doubt
        )
        if case.subscriptions == NOT_REPORTED:
            rebalance = with_subscriptions(rebalance)
        return GroupRebalance(
            rebalance=rebalance,
            assignment=assignment,
            notes=(
                *(assumption.note for assumption in assumed),
                *notes_on_counts(instance.partition_counts, instance.newer_partitions),
            ),
            cooperative=case.cooperative,
            premises=tuple(assumption.premise for assumption in assumed),
        )

    def causes(self, moment: Moment) -> tuple[Cause, ...]:
        """Return the causes of a rebalance, as an audit states them."""
        cases = self._rebalances_of(moment.group)
        place = cases.index(moment.key)
        if moment.key.members is None:  # a document
            return ()
        named = [with_names(case, self._facts.names) for case in cases]
        return causes_of_case(
            named, place, lambda case: instance_of_case(case, self._facts).document
        )

    def silences(self, moment: Moment) -> tuple[Silence, ...]:
        """Return the members that are gone, as an audit states them."""
        cases, case = self._rebalances_of(moment.group), moment.key
        place = cases.index(case)
        before, number = cases[place - 1], case.generation
        if not place or number is None or before.generation != number - 1:
            return ()
        if before.ended != NEXT or before.lasted_unknown or before.until is None:
            return ()
        return silences_of(
            [_last_seen(*member) for member in (before.members or {}).items()],
            {
                member.instance_id or name
                for name, member in (case.members or {}).items()
            },
            before.until,
        )

    def _rebalances_of(self, group: str) -> list[Case]:
        return [case for case in self._cases[group] if case.owned_from != SNAPSHOT]

    def quarantined(self, group: str | None = None) -> str:
        """Return why a group, or anything, is not judged, as an audit states it."""
        quarantined = [row for row in self._rows if row["what"] in QUARANTINED]
        if group is not None:
            return reasons_of(
                row for row in quarantined if row.get("group_id") == group
            )
        unknown = [
            quarantine_row(UNREADABLE, error.reason, source=error.source)
            for error in self._found.unknown
        ]
        return reasons_of([*quarantined, *unknown])

    @cached_property
    def _found(self) -> FoundSources:
        found = find_sources([self.path], group_name=self.group_name)
        large = sum(file.length for file in found.files)
        if large > LARGEST or not all(is_local(file.uri) for file in found.files):
            reason = "too large to be read without Spark: audit it, and pass the folder"
            raise SourceError(f"{large:,} bytes, {reason}", source=self.name)
        return found

    @cached_property
    def _rows(self) -> list[Row]:
        found = self._found
        read = sorted(read_found(found, self.max_partitions), key=_order)
        return list(histories(read))

    @cached_property
    def _facts(self) -> ClusterFacts:
        """Facts beyond the cases, from side files and from the records."""
        beside = self._found.side_files
        given = read_topics(beside.get("topics.json"), self.max_partitions)
        stated = ((r["key"], r["record"]) for r in self._rows if r["what"] == TOPIC_ID)
        names = names_of_ids(stated) | given.names
        seen = (sighting_of(row) for row in self._rows if row["what"] == TOPIC)
        return ClusterFacts(
            counts=CountSources(
                at_end=given.at_end,
                dated=given.dated,
                shown=known_counts(seen, names),
            ),
            names=names,
            logs=read_offsets(beside.get("offsets.json")),
            subscriptions=read_subscriptions(beside.get("subscriptions.json")),
            max_partitions=self.max_partitions,
        )

    @cached_property
    def _cases(self) -> Mapping[str, list[Case]]:
        cases: dict[str, list[Case]] = {}
        for case in self._all_cases():
            cases.setdefault(case.group_id, []).append(case)
        for of_group in cases.values():
            of_group.sort(key=_generation_of_state)
        return cases

    def _all_cases(self) -> Iterator[Case]:
        rows: Iterable[Row] = self._rows
        if self._found.has_states:
            in_order = sorted(self._rows, key=_order)
            rows = with_record_states(in_order, self._facts.names)
        for row in rows:
            if row["what"] == CASE:
                yield unpack(row["value"])


def _last_seen(name: str, member: CaseMember) -> LastSeen:
    held = sum(map(len, (member.assigned or {}).values()))
    return LastSeen(name, member.instance_id, held, member.last_commit_at)


def _assignment(case: Case) -> AssignmentDocument | None:
    """Return the assignment of a case; assignment/1 has no null for an assignor."""
    if case.members is None:
        return None
    name = case.client_assignor
    assignor: dict[str, Any] = {} if name is None else {"assignor": name}
    members = {name: dict(part.assigned or {}) for name, part in case.members.items()}
    return AssignmentDocument(
        group=case.group_id, id=case.rebalance_id, members=members, **assignor
    )


def _order(row: Row) -> tuple[Any, ...]:
    """Return the order of `ORDER`, nulls first."""
    values = (row.get(name) for name in ORDER)
    return tuple((value is not None, value) for value in values)


def _generation_of_state(case: Case) -> int:
    """Return a key that sorts states by generation, and leaves the rest as it is."""
    return (case.generation or 0) if case.owned_from == SNAPSHOT else 0


def _time(milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
