"""Instances of the cases of records, stated and encoded together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.case_table import case_table
from pipeline.cases import SNAPSHOT, Case, Held, pack
from pipeline.judging.case_arrays import CaseInstances, Lags
from pipeline.judging.case_columns import (
    CaseColumns,
    case_columns,
    evidence_of,
    quoted_names,
)
from pipeline.judging.case_instances import instances_of_cases, read_logs
from pipeline.judging.case_tables import named_lists, per_case, where
from pipeline.judging.encoding import Questions, encode_cases
from pipeline.judging.instance_texts import instance_texts
from pipeline.judging.instances import (
    LAG_AT_END,
    LAG_GIVEN,
    LAG_MONITORED,
    LAG_SNAPSHOT,
    CaseInstance,
    ClusterFacts,
)
from pipeline.judging.partition_counts import CERTAINTY
from pipeline.judging.rebalance_code import PAIRS_MAX, RebalanceCode, have_one_order
from pipeline.judging.stated_cases import has_more_than_codes, stated_case
from pipeline.side_files.lag_metrics import LagOfGroups, named_partitions
from rebalance import Int64, lag_of

MOST_PARTITIONS: Final = 1 << 21
"""Partitions of the cases whose instances are stated together."""


@dataclass(frozen=True, kw_only=True)
class InstanceBatch:
    """Cases and episodes of several rounds as questions: first, one for each case.

    Attributes
    ----------
    table : pa.Table
        As `case_table`, of N cases.
    columns : CaseColumns
    instances : CaseInstances
    lags : Lags
    questions : Questions
        Q of them.
    texts : pa.StringArray
        The rebalance of each question.
    monitored : dict
        As in `ClusterFacts`.
    """

    table: pa.Table
    columns: CaseColumns
    instances: CaseInstances
    lags: Lags
    questions: Questions
    texts: pa.StringArray
    monitored: LagOfGroups
    _code: Int64
    _code_at: Int64

    def code_of(self, question: int) -> RebalanceCode | None:
        """Return the code of a question; None if only its document can state it."""
        code = self._code[self._code_at[question] : self._code_at[question + 1]]
        if not code.size:
            return None
        case = int(self.questions.case[question])
        begin, end = self._topic_at[case : case + 2]
        is_document = self.columns.cases.is_document[case]
        if is_document and has_more_than_codes(self.canonical(question)):
            return None
        topics = self.columns.topics
        members = slice(*self._member_at[case : case + 2])
        found = RebalanceCode(
            code=code,
            topics=tuple([topics[rank] for rank in self._ranks[begin:end]]),
            members=tuple(self._named["member_id"][members]),
            instance_ids=tuple(self._named["instance_id"][members]),
            racks=self._racks_of(members),
        )
        return found if self._have_one_order or found.has_one_order else None

    def _racks_of(self, members: slice) -> tuple[str, ...]:
        if not self.columns.racks:
            return ()
        racks = self._named["rack"][members]
        return tuple(sorted({rack for rack in racks if rack is not None}))

    def canonical(self, question: int) -> dict[str, Any]:
        """Return the rebalance of a question, subscriptions and claims sorted."""
        found: dict[str, Any] = orjson.loads(self.texts[question].as_py())
        return found

    def assigned(self, case: int) -> dict[str, Held]:
        """Return the real answer to a case."""
        at, topics, number_at, numbers = self._assigned
        names = self._named["member_id"]
        return {
            names[member]: {
                topics[entry]: numbers[number_at[entry] : number_at[entry + 1]]
                for entry in range(at[member], at[member + 1])
            }
            for member in range(*self._member_at[case : case + 2])
        }

    @cached_property
    def lag_basis(self) -> pa.StringArray:
        """From where the lag of each case is known; of several, the least certain."""
        cases, lags = self.columns.cases, self.lags
        basis = np.where(lags.is_stated, LAG_MONITORED, LAG_AT_END)
        of_source = np.where(cases.is_document, LAG_GIVEN, LAG_SNAPSHOT)
        basis = np.where(cases.has_lags, of_source, basis)
        return where(lags.is_known, basis)

    @cached_property
    def lag_missing(self) -> list[str | None]:
        """Partitions of each case that the lag reported for its group lacks."""
        groups = self.table["group_id"].to_pylist() if self.monitored else []
        found = [self._missing(case, group) for case, group in enumerate(groups)]
        return found or [None] * len(self.table)

    def _missing(self, case: int, group: str) -> str | None:
        if group not in self.monitored:
            return None
        missing = []
        for place in range(*self._topic_at[case : case + 2]):
            count = int(self.instances.partitions[place])
            if count > self.lags.at[place + 1] - self.lags.at[place]:
                topic = self.columns.topics[self._ranks[place]]
                reported = self.monitored[group].get(topic, {})
                numbers = [number for number in range(count) if number not in reported]
                missing.append(named_partitions(topic, numbers, len(numbers)))
        return "; ".join(missing) or None

    @cached_property
    def _have_one_order(self) -> bool:
        names = (*self.columns.topics, *self.columns.instances)
        return have_one_order([*names, *self._named["member_id"], ""])

    @cached_property
    def held(self) -> dict[str, pa.ListArray]:
        """Owned, claimed, and assigned partitions, by name and sorted."""
        return named_lists(self.columns)

    @cached_property
    def _named(self) -> dict[str, list[Any]]:
        names = ("member_id", "instance_id", "rack")
        return {name: self.columns.members.field(name).to_pylist() for name in names}

    @cached_property
    def _assigned(self) -> tuple[list[int], list[str], list[int], list[int]]:
        """Entries of each member, their topics, and the partitions of each entry."""
        held = self.held["assigned"]
        topics, listed = held.values.flatten()
        parts = (held.offsets, topics, listed.offsets, listed.values)
        at, names, number_at, numbers = (part.to_pylist() for part in parts)
        return at, names, number_at, numbers

    @cached_property
    def _member_at(self) -> list[int]:
        return list(map(int, self.columns.cases.member_at))

    @cached_property
    def _topic_at(self) -> list[int]:
        return list(map(int, self.instances.topic_at))

    @cached_property
    def _ranks(self) -> list[int]:
        return list(map(int, self.instances.topic))


class TooManyPartitionsError(Exception):
    """The cases together have more partitions than are held in memory at once."""


def instance_batch(
    table: pa.Table, facts: ClusterFacts, *, are_named: bool = False
) -> InstanceBatch:
    """State and encode the instances of a table; ``are_named``: topics have no ids.

    Raises
    ------
    TooManyPartitionsError
        If several cases have more than `MOST_PARTITIONS`.
    """
    columns = case_columns(table, facts, None if are_named else facts.names)
    cases, names = columns.cases, columns.names
    evidence = evidence_of(columns.topics, facts)
    instances = instances_of_cases(cases, names, evidence, facts.max_partitions)
    if instances.partitions.sum() > MOST_PARTITIONS and len(table) > 1:
        raise TooManyPartitionsError
    log, first, end = read_logs(cases, names, evidence, instances)
    records = lag_of(log.records, first, end, facts.offset_reset)
    lags = log._replace(records=records)
    questions = _questions(table, columns)
    code, code_at = encode_cases(cases, names, instances, lags, questions, PAIRS_MAX)
    quoted = quoted_names(table, columns)
    text, ends = instance_texts(cases, names, instances, lags, questions, quoted)
    return InstanceBatch(
        table=table,
        columns=columns,
        instances=instances,
        lags=lags,
        questions=questions,
        texts=_texts(text.tobytes(), ends, table["document"]),
        monitored=facts.monitored,
        _code=code,
        _code_at=code_at,
    )


def instance_of_case(case: Case, facts: ClusterFacts) -> CaseInstance:
    """State the rebalance of one case, of which the topics have names.

    Raises
    ------
    DocumentError
        If the case's own document is invalid, or too large.
    """
    table = case_table([pack(stated_case(case, replace(facts, names={})))])
    batch = instance_batch(table, facts, are_named=True)
    return CaseInstance(
        text=batch.texts[0].as_py(),
        max_partitions=facts.max_partitions,
        partition_counts=CERTAINTY[batch.instances.basis[0]],
        newer_partitions=int(batch.instances.newer[0]),
        lag_known=bool(batch.lags.is_known[0]),
        lag_basis=batch.lag_basis[0].as_py(),
        lag_missing=batch.lag_missing[0],
    )


def _questions(table: pa.Table, columns: CaseColumns) -> Questions:
    """Ask for all cases, then for the episodes that several rounds make."""
    rounds = pc.struct_field(table["episode"].combine_chunks(), "rounds")
    several = np.flatnonzero(np.asarray(pc.fill_null(rounds, 0)) > 1)
    count = table.num_rows
    is_episode = np.arange(count + several.size) >= count
    case = np.concatenate((np.arange(count), several))
    is_state = np.asarray(pc.equal(table["owned_from"], SNAPSHOT))
    is_round = np.asarray(table["cooperative"]) & ~is_state
    are_assigned = per_case(columns, pc.is_valid(columns.members.field("assigned"))) > 0
    is_answered = ~columns.cases.is_document | are_assigned
    return Questions(case, is_episode, is_round[case] & ~is_episode, is_answered[case])


def _texts(text: bytes, ends: Int64, documents: pa.ChunkedArray) -> pa.StringArray:
    """Return the texts of questions; those of the first cases can be documents."""
    offsets = np.concatenate(([0], ends)).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    written = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
    if documents.null_count == len(documents):
        return written
    more = pa.nulls(len(ends) - len(documents), pa.large_string())
    given = pa.concat_arrays([documents.combine_chunks().cast(more.type), more])
    return pc.coalesce(given, written)
