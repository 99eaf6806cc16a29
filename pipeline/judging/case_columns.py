"""Cases of a table as arrays for kernels, and the facts of their topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cases import CLAIMS, PREVIOUS
from pipeline.judging.case_arrays import (
    UNSTATED,
    Cases,
    Evidence,
    Lists,
    Names,
    Sizes,
    Steps,
    begins_of,
)
from pipeline.judging.instance_texts import QuotedNames
from pipeline.judging.instances import ClusterFacts
from pipeline.known_counts import METADATA_MAX_AGE, KnownCounts
from pipeline.side_files.lag_metrics import LagOfGroups
from pipeline.sightings import MOST_PARTITIONS
from pipeline.topic_ids import is_topic_id
from rebalance import ABSENT, INT64_MAX, Int32, Int64, Texts

_HEAD: Final = ("group_id", "rebalance_id")
_HELD: Final = ("owned", "assigned", "claimed")
_SIZES: Final = ("recorded", "undated", "least")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseColumns:
    """Cases as arrays, and their names.

    Attributes
    ----------
    cases : Cases
    names : Names
    members : pa.StructArray
        Of all cases.
    topics, racks, instances : tuple of str
        Distinct and sorted.
    """

    cases: Cases
    names: Names
    members: pa.StructArray
    topics: tuple[str, ...]
    racks: tuple[str, ...]
    instances: tuple[str, ...]


class _FlatLists(NamedTuple):
    """Items of the lists of all rows; those of row r are ``at[r]:at[r+1]``."""

    items: Any
    at: Int64


class _Entries(NamedTuple):
    """A column of lists whose items state topics.

    Attributes
    ----------
    items : pa.Array
        Topics, or structs with a topic.
    at : int64
        Where the items of each row begin.
    topic : int32
        Of each item.
    rank : int32
        `Names.rank`.
    """

    items: Any
    at: Int64
    topic: Int32
    rank: Int32

    def sorted_by_name(self) -> _Entries:
        """Sort the topics of each row; ids can have another order than names."""
        row = np.searchsorted(self.at, np.arange(self.topic.size), "right")
        own = self.rank[self.topic]
        if not np.any((own[1:] < own[:-1]) & (row[1:] == row[:-1])):
            return self
        order = np.lexsort((own, row))
        items = self.items.take(pa.array(order))
        return self._replace(items=items, topic=self.topic[order])

    def lists(self) -> Lists:
        """Return the partitions of each topic."""
        numbers, number_at = _flat(self.items.field("partitions"))
        return Lists(self.at, self.topic, number_at, np.array(numbers))

    def offsets(self) -> Int64:
        """Return the offsets next to the partitions."""
        return _ints(_flat(self.items.field("offsets")).items)

    def sizes(self) -> Sizes:
        """Return the partition count of each topic."""
        return Sizes(self.at, self.topic, _ints(self.items.field("count")))


class _SortedNames(NamedTuple):
    """Distinct names, sorted, and the place of each row's name; `ABSENT`: none."""

    names: tuple[str, ...]
    place: Int64


def case_columns(
    table: pa.Table, facts: ClusterFacts, names_of_ids: Mapping[str, str] | None
) -> CaseColumns:
    """Convert a table of cases (`case_table`); None: all topics are names.

    All arrays are copies: kernels are compiled anew for those that cannot be written.
    """
    members = _flat(table["members"].combine_chunks())
    before = _flat(_episodes(table, "before"))
    lists = _lists_of_topics(table, members.items, before.items, facts.monitored)
    topics, names, entries = _entries_of(lists, names_of_ids)
    racks = _sorted_names(members.items.field("rack"))
    instances = _sorted_names(members.items.field("instance_id"))
    return CaseColumns(
        cases=_cases(table, members, before, entries, racks, instances),
        names=names,
        members=members.items,
        topics=topics,
        racks=racks.names,
        instances=instances.names,
    )


def _cases(
    table: pa.Table,
    members: _FlatLists,
    before: _FlatLists,
    entries: Mapping[str, _Entries],
    racks: _SortedNames,
    instances: _SortedNames,
) -> Cases:
    counted_at = _counted_at(table)
    return Cases(
        member_at=members.at,
        topic_at=entries["subscription"].at,
        topic=entries["subscription"].topic,
        owned=entries["owned"].sorted_by_name().lists(),
        assigned=entries["assigned"].sorted_by_name().lists(),
        claimed=entries["claimed"].sorted_by_name().lists(),
        generation=_generations(table, members),
        rack=racks.place,
        instance=instances.place,
        has_unnamed_rack=racks.names[:1] == ("",),
        before=entries["before"].sorted_by_name().lists(),
        before_of=_before_of(members, before),
        at=_ints(table["at"], 0),
        is_dated=np.array(pc.is_valid(table["at"])),
        counted_at=_ints(counted_at, 0),
        is_counted=np.array(pc.is_valid(counted_at)),
        is_document=np.array(pc.is_valid(table["document"])),
        commits=entries["commits"].lists(),
        offset=entries["commits"].offsets(),
        has_commits=np.array(pc.is_valid(table["committed"])),
        lags=entries["lags"].lists(),
        behind=entries["lags"].offsets(),
        has_lags=np.array(pc.is_valid(table["lag"])),
        has_least=np.array(pc.is_valid(table["least_sizes"])),
        recorded=entries["recorded"].sizes(),
        undated=entries["undated"].sizes(),
        least=entries["least"].sizes(),
    )


def evidence_of(topics: Sequence[str], facts: ClusterFacts) -> Evidence:
    """Return the facts of topics beyond the cases."""
    counts, logs = facts.counts, [facts.logs.ends.get(topic, {}) for topic in topics]
    known = [
        [log[number] for number in range(len(log)) if number in log] for log in logs
    ]
    # Of a log with a gap, only the part before the gap.
    known = [
        ends[: next((n for n in range(len(log)) if n not in log), len(log))]
        for ends, log in zip(known, logs, strict=True)
    ]
    flat = np.array([pair for ends in known for pair in ends], np.int64).reshape(-1, 2)
    read_at = facts.logs.at
    return Evidence(
        at_end=np.array(
            [counts.at_end.get(topic, ABSENT) for topic in topics], np.int64
        ),
        dated=_steps(topics, counts.dated),
        shown=_steps(topics, counts.shown),
        log_at=begins_of(map(len, known)),
        log_first=flat[:, 0].copy(),
        log_end=flat[:, 1].copy(),
        logs_read_at=INT64_MAX if read_at is None else read_at,
        metadata_max_age=METADATA_MAX_AGE,
        most_partitions=MOST_PARTITIONS,
    )


def quoted_names(table: pa.Table, columns: CaseColumns) -> QuotedNames:
    """Return names as JSON."""
    heads = zip(*(table[name].to_pylist() for name in _HEAD), strict=True)
    ids = columns.members.field("member_id").to_pylist()
    return QuotedNames(
        heads=Texts.of(
            [
                b'{"format":"rebalance/1","group":%b,"id":%b,"members":{'
                % (orjson.dumps(group), orjson.dumps(identity))
                for group, identity in heads
            ]
        ),
        members=Texts.keys(ids),
        topics=Texts.of([*map(orjson.dumps, columns.topics)]),
        racks=Texts.of([*map(orjson.dumps, columns.racks)]),
        instances=Texts.of([*map(orjson.dumps, columns.instances)]),
    )


def _steps(topics: Sequence[str], known: KnownCounts) -> Steps:
    steps = [known.steps.get(topic, ()) for topic in topics]
    flat = np.array(
        [step for of_topic in steps for step in of_topic], np.int64
    ).reshape(-1, 2)
    return Steps(begins_of(map(len, steps)), flat[:, 0].copy(), flat[:, 1].copy())


def _episodes(table: pa.Table, name: str) -> pa.Array:
    """Return a field of the episodes; null where a case has none."""
    return pc.struct_field(table["episode"].combine_chunks(), name)


def _lists_of_topics(
    table: pa.Table,
    members: pa.StructArray,
    before: pa.StructArray,
    monitored: LagOfGroups,
) -> dict[str, pa.ListArray]:
    """Return the lists that state topics: of cases, members, and members before."""
    return {
        "subscription": members.field("subscription"),
        **{name: members.field(name) for name in _HELD},
        "before": before.field("owned"),
        "commits": table["committed"].combine_chunks(),
        "lags": _lags(table, monitored),
        **{name: table[f"{name}_sizes"].combine_chunks() for name in _SIZES},
    }


def _lags(table: pa.Table, monitored: LagOfGroups) -> pa.Array:
    """Return the lag that sources state; where they do not, that of the group."""
    lags = table["lag"].combine_chunks()
    if not monitored:
        return lags
    of_groups = {
        group: [
            {"topic": t, "partitions": [*behind], "offsets": [*behind.values()]}
            for t, behind in topics.items()
        ]
        for group, topics in monitored.items()
    }
    groups = table["group_id"].to_pylist()
    stated = zip(lags.to_pylist(), groups, strict=True)
    return pa.array(
        [of_groups.get(group) if own is None else own for own, group in stated],
        lags.type,
    )


def _counted_at(table: pa.Table) -> pa.ChunkedArray:
    """Return the times of cases; of a state, when the rebalance was that led to it."""
    if "state_at" not in table.column_names:
        return table["at"]
    return pc.coalesce(table["state_at"], table["at"])


def _generations(table: pa.Table, members: _FlatLists) -> Int64:
    """Return the generation of each member's claims, or `UNSTATED`."""
    is_document = np.array(pc.is_valid(table["document"]))
    dated = pc.is_in(table["owned_from"], pa.array([PREVIOUS, CLAIMS]))
    is_dated = np.repeat(np.asarray(dated) | is_document, np.diff(members.at))
    generation = _ints(members.items.field("generation"), UNSTATED)
    return np.where(is_dated, generation, UNSTATED)


def _flat(lists: pa.ListArray) -> _FlatLists:
    """Return the items of all lists; null is empty."""
    offsets = np.asarray(lists.offsets).astype(np.int64)
    return _FlatLists(lists.values, offsets)


def _ints(values: pa.Array, default: int = ABSENT) -> Int64:
    filled = pc.fill_null(values, default) if values.null_count else values
    return np.asarray(filled).astype(np.int64)


def _entries_of(
    lists: Mapping[str, pa.ListArray], names_of_ids: Mapping[str, str] | None
) -> tuple[tuple[str, ...], Names, dict[str, _Entries]]:
    """Give numbers to the topics of lists (`_names`), of structs or of topics alone."""
    flat = {name: _flat(column) for name, column in lists.items()}
    stated = [
        items.field("topic") if pa.types.is_struct(items.type) else items
        for items, _ in flat.values()
    ]
    topics, names, numbers = _names(stated, names_of_ids)
    entries = {
        name: _Entries(items, at, topic, names.rank)
        for (name, (items, at)), topic in zip(flat.items(), numbers, strict=True)
    }
    return topics, names, entries


def _names(
    stated: Sequence[pa.Array], names_of_ids: Mapping[str, str] | None
) -> tuple[tuple[str, ...], Names, list[Int32]]:
    """Give numbers to the topics that columns state; return them per column.

    Without ``names_of_ids``, all of them are names.
    """
    encoded = pa.concat_arrays(stated).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    are_ids = [names_of_ids is not None and is_topic_id(text) for text in texts]
    named = [
        names_of_ids.get(text) if is_id and names_of_ids is not None else text
        for text, is_id in zip(texts, are_ids, strict=True)
    ]
    topics = tuple(sorted({name for name in named if name is not None}))
    rank = {name: place for place, name in enumerate(topics)}
    names = Names(
        rank=np.array([rank.get(name, ABSENT) for name in named], np.int32),
        is_id=np.array(are_ids, np.bool_),
    )
    numbers = np.array(encoded.indices)
    ends = np.cumsum([len(column) for column in stated])[:-1]
    return topics, names, np.split(numbers, ends)


def _sorted_names(names: pa.StringArray) -> _SortedNames:
    encoded = names.dictionary_encode()
    listed = encoded.dictionary.to_pylist()
    sort = sorted(range(len(listed)), key=listed.__getitem__)
    place = np.empty(len(listed) + 1, np.int64)
    place[sort], place[-1] = np.arange(len(listed)), ABSENT
    distinct = tuple(listed[index] for index in sort)
    return _SortedNames(distinct, place[_ints(encoded.indices)])


def _before_of(members: _FlatLists, before: _FlatLists) -> Int64:
    """Return the row of each member's entry in ``before``; `ABSENT`: none."""
    n_members, n_before = len(members.items), len(before.items)
    found = np.full(n_members, ABSENT, np.int64)
    if n_before:
        case = np.repeat(np.arange(members.at.size - 1), np.diff(members.at))
        case_before = np.repeat(np.arange(before.at.size - 1), np.diff(before.at))
        joined = pa.concat_arrays(
            [members.items.field("member_id"), before.items.field("member_id")]
        )
        number = np.asarray(joined.dictionary_encode().indices).astype(np.int64)
        key = number * members.at.size + np.concatenate([case, case_before])
        order = np.argsort(key[n_members:], kind="stable")
        sort = key[n_members:][order]
        place = np.searchsorted(sort, key[:n_members])
        place = np.minimum(place, n_before - 1)
        is_there = sort[place] == key[:n_members]
        found[is_there] = order[place[is_there]]
    return found
