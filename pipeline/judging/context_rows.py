"""Rebalances that are not judged, because their causes' neighbours are.

The cause of a rebalance is a difference to others of its group (`pipeline.causes`). If
only those of a window of time are judged, the others have here the columns by which
they are compared; nothing is solved or evaluated for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from pipeline.case_table import case_at, case_table
from pipeline.cases import pack
from pipeline.causes import OF_MEMBER, OF_REBALANCE, OF_TOPICS
from pipeline.judging.case_arrays import CaseInstances
from pipeline.judging.case_columns import CaseColumns, case_columns, evidence_of
from pipeline.judging.case_instances import instances_of_cases
from pipeline.judging.case_tables import (
    batch,
    named_lists,
    rebalances_of,
    with_counts,
)
from pipeline.judging.lasted_times import lasted_times
from pipeline.judging.settings import Settings
from pipeline.judging.stated_cases import stated_case
from pipeline.tables import SCHEMAS
from rebalance import Bools, Int64, OracleError

CONTEXT_OF: Final = {
    "context_rebalances": "rebalances",
    "context_members": "members",
}
"""The tables of which `context_rows` have columns."""
_COLUMNS: Final = {
    "context_rebalances": OF_REBALANCE,
    "context_members": tuple(dict.fromkeys((*OF_MEMBER, *OF_TOPICS))),
}
CONTEXT_SCHEMAS: Final = {
    name: pa.schema([SCHEMAS[of].field(column) for column in _COLUMNS[name]])
    for name, of in CONTEXT_OF.items()
}


def context_rows(
    table: pa.Table, settings: Settings, *, are_named: bool = False
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield rows of `CONTEXT_SCHEMAS` of rebalances of records.

    Parameters
    ----------
    table
        As `pipeline.case_table.CASES`, with times that dates can state.
    are_named
        Whether topics have no ids.
    """
    if not len(table):
        return
    facts = settings.facts
    columns = case_columns(table, facts, None if are_named else facts.names)
    evidence = evidence_of(columns.topics, facts)
    instances = instances_of_cases(
        columns.cases, columns.names, evidence, facts.max_partitions
    )
    lasted = lasted_times(table, facts.history_end)
    rows = rebalances_of(table, columns, instances, settings.cluster, lasted)
    rows = with_counts(rows, _counts(columns, instances))
    is_stated = instances.is_named & instances.is_small
    of = np.repeat(np.arange(len(table)), np.diff(columns.cases.member_at))
    members = _members(columns, rows["rebalance_id"].take(pa.array(of)))
    yield _kept("context_rebalances", rows, is_stated)
    yield _kept("context_members", members, is_stated[of])
    if not (are_named or instances.is_named.all()):
        yield from _restated(table, ~instances.is_named, settings)


def _members(columns: CaseColumns, rebalance_ids: pa.StringArray) -> pa.RecordBatch:
    """Return rows of ``members``, given the rebalance of each."""
    of_members = {
        name: columns.members.field(name)
        for name in OF_MEMBER
        if name != "rebalance_id"
    }
    given = {"rebalance_id": rebalance_ids, **named_lists(columns)}
    return batch("members", len(rebalance_ids), of_members | given)


def _kept(
    name: str, rows: pa.RecordBatch, is_kept: Bools
) -> tuple[str, pa.RecordBatch]:
    """Return the name of a table of `CONTEXT_SCHEMAS`, and its part of some rows."""
    chosen = rows.select(_COLUMNS[name]).filter(pa.array(is_kept))
    schema = CONTEXT_SCHEMAS[name]
    return name, pa.RecordBatch.from_arrays(chosen.columns, schema=schema)


def _restated(
    table: pa.Table, is_chosen: Bools, settings: Settings
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the rows of cases whose topics have ids, by their names."""
    texts = []
    for place in np.flatnonzero(is_chosen).tolist():
        try:
            texts.append(pack(stated_case(case_at(table, place), settings.facts)))
        except OracleError:  # it would not be judged
            continue
    if texts:
        yield from context_rows(case_table(texts), settings, are_named=True)


def _counts(columns: CaseColumns, instances: CaseInstances) -> Int64:
    """Count topics and partitions that a member subscribes to; owned ones are 0."""
    cases, n_cases = columns.cases, len(instances.is_named)
    size = max(len(columns.topics), 1)
    case = np.repeat(np.arange(n_cases), np.diff(cases.member_at))
    subscribed = np.repeat(case, np.diff(cases.topic_at)) * size
    subscribed += columns.names.rank[cases.topic]
    of = np.repeat(np.arange(n_cases), np.diff(instances.topic_at))
    is_wanted = np.isin(of * size + instances.topic, subscribed)
    found = np.zeros((n_cases, 3), np.int64)
    np.add.at(found[:, 0], of[is_wanted], 1)
    np.add.at(found[:, 1], of[is_wanted], instances.partitions[is_wanted])
    return found
