"""Cases of a table as arrays for kernels, and the facts of their topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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


def case_columns(
    table: pa.Table, facts: ClusterFacts, names_of_ids: Mapping[str, str] | None
) -> CaseColumns:
    """Convert a table of cases (`case_table`); None: all topics are names.

    All arrays are copies: kernels are compiled anew for those that cannot be written.
    """
    members, member_at = _flat(table["members"].combine_chunks())
    before, before_at = _flat(_episodes(table, "before"))
    sub, sub_at = _flat(members.field("subscription"))
    held = {name: _flat(members.field(name)) for name in _HELD}
    held["before"] = _flat(before.field("owned"))
    held["commits"] = _flat(table["committed"].combine_chunks())
    held["lags"] = _flat(_lags(table, facts.monitored))
    sizes = {name: _flat(table[f"{name}_sizes"].combine_chunks()) for name in _SIZES}
    stated = [sub, *(entries.field("topic") for entries, _ in (held | sizes).values())]
    topics, names, numbers = _names(stated, names_of_ids)
    lists = dict(zip(held, numbers[1:], strict=False))
    offsets = {name: held.pop(name) for name in ("commits", "lags")}
    listed = {
        name: _sorted_lists(entries, at, lists[name], names.rank)
        for name, (entries, at) in held.items()
    }
    stated_sizes = {
        name: Sizes(at, topic, _ints(entries.field("count")))
        for (name, (entries, at)), topic in zip(
            sizes.items(), numbers[1 + len(lists) :], strict=True
        )
    }
    racks, rack = _places(members.field("rack"))
    instances, instance = _places(members.field("instance_id"))
    is_document = np.array(pc.is_valid(table["document"]))
    dated = pc.is_in(table["owned_from"], pa.array([PREVIOUS, CLAIMS]))
    is_dated = np.repeat(np.asarray(dated) | is_document, np.diff(member_at))
    counted_at = table["at"]
    if "state_at" in table.column_names:
        counted_at = pc.coalesce(table["state_at"], counted_at)
    generation = _ints(members.field("generation"), UNSTATED)
    return CaseColumns(
        cases=Cases(
            member_at=member_at,
            topic_at=sub_at,
            topic=numbers[0],
            owned=listed["owned"],
            assigned=listed["assigned"],
            claimed=listed["claimed"],
            generation=np.where(is_dated, generation, UNSTATED),
            rack=rack,
            instance=instance,
            has_unnamed_rack=racks[:1] == ("",),
            before=listed["before"],
            before_of=_before_of(members, member_at, before, before_at),
            at=_ints(table["at"], 0),
            is_dated=np.array(pc.is_valid(table["at"])),
            counted_at=_ints(counted_at, 0),
            is_counted=np.array(pc.is_valid(counted_at)),
            is_document=is_document,
            commits=_lists(*offsets["commits"], lists["commits"]),
            offset=_ints(_flat(offsets["commits"][0].field("offsets"))[0]),
            has_commits=np.array(pc.is_valid(table["committed"])),
            lags=_lists(*offsets["lags"], lists["lags"]),
            behind=_ints(_flat(offsets["lags"][0].field("offsets"))[0]),
            has_lags=np.array(pc.is_valid(table["lag"])),
            has_least=np.array(pc.is_valid(table["least_sizes"])),
            recorded=stated_sizes["recorded"],
            undated=stated_sizes["undated"],
            least=stated_sizes["least"],
        ),
        names=names,
        members=members,
        topics=topics,
        racks=racks,
        instances=instances,
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


def _flat(lists: pa.ListArray) -> tuple[Any, Int64]:
    """Return the items of all lists, and where each list begins; null is empty."""
    offsets = np.asarray(lists.offsets).astype(np.int64)
    return lists.values, offsets


def _ints(values: pa.Array, default: int = ABSENT) -> Int64:
    filled = pc.fill_null(values, default) if values.null_count else values
    return np.asarray(filled).astype(np.int64)


def _lists(entries: pa.StructArray, at: Int64, topic: Int32) -> Lists:
    numbers, number_at = _flat(entries.field("partitions"))
    return Lists(at, topic, number_at, np.array(numbers))


def _sorted_lists(
    entries: pa.StructArray, at: Int64, topic: Int32, rank: Int32
) -> Lists:
    """Sort the topics of each row by name; ids can have another order than names."""
    row, own = np.searchsorted(at, np.arange(topic.size), "right"), rank[topic]
    if np.any((own[1:] < own[:-1]) & (row[1:] == row[:-1])):
        order = np.lexsort((own, row))
        entries, topic = entries.take(pa.array(order)), topic[order]
    return _lists(entries, at, topic)


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


def _places(names: pa.StringArray) -> tuple[tuple[str, ...], Int64]:
    """Return distinct names, sorted, and the place of each; `ABSENT`: none."""
    encoded = names.dictionary_encode()
    listed = encoded.dictionary.to_pylist()
    sort = sorted(range(len(listed)), key=listed.__getitem__)
    place = np.empty(len(listed) + 1, np.int64)
    place[sort], place[-1] = np.arange(len(listed)), ABSENT
    return tuple(listed[index] for index in sort), place[_ints(encoded.indices)]


def _before_of(
    members: pa.StructArray, member_at: Int64, before: pa.StructArray, before_at: Int64
) -> Int64:
    """Return the row of each member's entry in ``before``; `ABSENT`: none."""
    found = np.full(len(members), ABSENT, np.int64)
    if len(before):
        case = np.repeat(np.arange(member_at.size - 1), np.diff(member_at))
        case_before = np.repeat(np.arange(before_at.size - 1), np.diff(before_at))
        joined = pa.concat_arrays(
            [members.field("member_id"), before.field("member_id")]
        )
        number = np.asarray(joined.dictionary_encode().indices).astype(np.int64)
        key = number * member_at.size + np.concatenate([case, case_before])
        order = np.argsort(key[len(members) :], kind="stable")
        sort = key[len(members) :][order]
        place = np.searchsorted(sort, key[: len(members)])
        place = np.minimum(place, len(before) - 1)
        is_there = sort[place] == key[: len(members)]
        found[is_there] = order[place[is_there]]
    return found
