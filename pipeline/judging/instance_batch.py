"""Instances of the cases of records, stated and encoded together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cases import Held
from pipeline.judging.case_arrays import CaseInstances, Lags
from pipeline.judging.case_columns import (
    CaseColumns,
    case_columns,
    evidence_of,
    quoted_names,
)
from pipeline.judging.case_instances import instances_of_cases, read_logs
from pipeline.judging.case_tables import named_lists
from pipeline.judging.encoding import Questions, encode_cases
from pipeline.judging.instance_texts import instance_texts
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.rebalance_code import PAIRS_MAX, RebalanceCode, have_one_order
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
    """

    table: pa.Table
    columns: CaseColumns
    instances: CaseInstances
    lags: Lags
    questions: Questions
    texts: pa.StringArray
    _code: Int64
    _code_at: Int64

    def code_of(self, question: int) -> RebalanceCode | None:
        """Return the code of a question; None if only its document can state it."""
        code = self._code[self._code_at[question] : self._code_at[question + 1]]
        if not code.size:
            return None
        case = int(self.questions.case[question])
        begin, end = self._topic_at[case : case + 2]
        topics = self.columns.topics
        members = slice(*self._member_at[case : case + 2])
        return RebalanceCode(
            code=code,
            topics=tuple([topics[rank] for rank in self._ranks[begin:end]]),
            members=tuple(self._named["member_id"][members]),
            instance_ids=tuple(self._named["instance_id"][members]),
            racks=tuple(sorted({*filter(_is_text, self._named["rack"][members])})),
        )

    def canonical(self, question: int) -> dict[str, Any]:
        """Return the rebalance of a question as `CaseInstance.canonical`."""
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


def instance_batch(table: pa.Table, facts: ClusterFacts) -> InstanceBatch | None:
    """State and encode the instances of a table; None if no code can state their names.

    Raises
    ------
    TooManyPartitionsError
        If several cases have more than `MOST_PARTITIONS`.
    """
    columns = case_columns(table, facts.names)
    ids = columns.members.field("member_id").to_pylist()
    if not have_one_order([*columns.topics, *columns.instances, *ids, ""]):
        return None
    cases, names = columns.cases, columns.names
    evidence = evidence_of(columns.topics, facts)
    instances = instances_of_cases(cases, names, evidence, facts.max_partitions)
    if instances.partitions.sum() > MOST_PARTITIONS and len(table) > 1:
        raise TooManyPartitionsError
    log, first, end = read_logs(cases, names, evidence, instances)
    records = lag_of(log.records, first, end, facts.offset_reset)
    lags = log._replace(records=records)
    questions = _questions(table)
    code, code_at = encode_cases(cases, names, instances, lags, questions, PAIRS_MAX)
    quoted = quoted_names(table, columns)
    text, ends = instance_texts(cases, names, instances, lags, questions, quoted)
    return InstanceBatch(
        table=table,
        columns=columns,
        instances=instances,
        lags=lags,
        questions=questions,
        texts=_texts(text.tobytes(), ends),
        _code=code,
        _code_at=code_at,
    )


def _questions(table: pa.Table) -> Questions:
    """Ask for all cases, then for the episodes that several rounds make."""
    rounds = pc.struct_field(table["episode"].combine_chunks(), "rounds")
    several = np.flatnonzero(np.asarray(pc.fill_null(rounds, 0)) > 1)
    count = table.num_rows
    is_episode = np.arange(count + several.size) >= count
    case = np.concatenate((np.arange(count), several))
    is_round = np.asarray(table["cooperative"])[case] & ~is_episode
    return Questions(case, is_episode, is_round)


def _texts(text: bytes, ends: Int64) -> pa.StringArray:
    offsets = np.concatenate(([0], ends)).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


def _is_text(name: str | None) -> bool:
    return name is not None
