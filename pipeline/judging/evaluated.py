"""Answers to rebalances by code: each code is evaluated once per process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import mul
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from heuristics import ASSIGNORS
from pipeline.evaluation import ACTUAL, OPTIMUM, Failure
from pipeline.judging.case_arrays import begins_of
from pipeline.judging.code_kernels import (
    COUNTS,
    FIELDS,
    IS_PROVED,
    Answers,
    AnswersOfMany,
    Begins,
    evaluate_all,
)
from pipeline.judging.code_layout import instance_columns
from pipeline.judging.rebalance_code import RACKS, RebalanceCode
from rebalance import NOBODY, ClaimRule, Claims, Instance, Int32, Int64, Racks

_Key: TypeAlias = tuple[bytes, tuple[str, ...]]
"""Bytes of a code, and names of heuristics."""
MOST_BYTES: Final = 64 << 20
"""Bytes of codes and answers that a process keeps."""
_OBJECTS: Final = 2_000
"""Bytes of the objects of one rebalance without the data of its columns, about."""
ROWS: Final = 1 << 20
"""Partitions of all answers that are evaluated together, about."""
SAMPLE: Final = 16
"""The judge checks all answers to one of so many rebalances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """All answers to a rebalance, without its names.

    Attributes
    ----------
    assignors : tuple of str, (A,)
        `ACTUAL`, `OPTIMUM`, and heuristics; the real answer is absent if not known.
    answers : Answers
        Of these.
    refused : dict
        Heuristics that do not apply, and why.
    counts : int64 (COUNTS,)
    level, price : int32 (M,)
        Certificate of the optimum.
    is_sampled : bool
        Whether the judge checks all answers. It depends on nothing but the code, so
        that it is the same in every audit.
    failures : tuple of Failure
        Assignors that raised an exception.
    judged : set of int
        Places of answers that the judge has checked in this process.
    """

    assignors: tuple[str, ...]
    answers: Answers
    refused: dict[str, str]
    counts: Int64
    level: Int32
    price: Int32
    is_sampled: bool
    failures: tuple[Failure, ...] = ()
    judged: set[int] = field(default_factory=set)

    @property
    def optimum(self) -> Int64:
        """Figures of the optimum, int64 (FIELDS,)."""
        figures: Int64 = self.answers.figures[self.assignors.index(OPTIMUM)]
        return figures

    @property
    def size(self) -> int:
        """Bytes, about."""
        arrays = (*self.answers, self.counts, self.level, self.price)
        return _OBJECTS + sum(array.nbytes for array in arrays)


@dataclass(slots=True)
class EvaluatedCodes:
    """Evaluates codes, and keeps the answers; the least recently used go first.

    Answers are equal whether they are kept or not.

    Attributes
    ----------
    claim_rule : ClaimRule
    found, evaluated : int
        Counts of codes.
    """

    claim_rule: ClaimRule
    most_bytes: int = MOST_BYTES
    n_bytes: int = 0
    found: int = 0
    evaluated: int = 0
    _known: OrderedDict[_Key, Evaluated] = field(default_factory=OrderedDict)

    def of_many(
        self, requests: Sequence[tuple[RebalanceCode, tuple[str, ...]]]
    ) -> list[Evaluated | None]:
        """Return the answers to each rebalance by some heuristics.

        None: its optimum is not proved.
        """
        keys = [(rebalance.code.tobytes(), names) for rebalance, names in requests]
        new = dict[_Key, RebalanceCode]()
        found = dict[_Key, Evaluated | None]()
        for key, (rebalance, _) in zip(keys, requests, strict=True):
            if key in self._known:
                self._known.move_to_end(key)
                found[key] = self._known[key]
            else:
                new.setdefault(key, rebalance)
        self.found += len(requests) - len(new)
        self.evaluated += len(new)
        for key, answers in zip(new, self._evaluated(new), strict=True):
            found[key] = answers
            if answers is not None and not answers.failures:
                self._keep(key, answers)
        return [found[key] for key in keys]

    def _evaluated(
        self, requests: Mapping[_Key, RebalanceCode]
    ) -> Iterator[Evaluated | None]:
        runs = (
            _run(rebalance, key, self.claim_rule) for key, rebalance in requests.items()
        )
        some, rows = list[_Run](), 0
        for run in runs:
            some.append(run)
            rows += (2 + len(run.assignees)) * run.rebalance.n_partitions
            if rows >= ROWS:
                yield from _found(some, self.claim_rule)
                some, rows = [], 0
        if some:
            yield from _found(some, self.claim_rule)

    def _keep(self, key: _Key, found: Evaluated) -> None:
        size = len(key[0]) + found.size
        if size > self.most_bytes:
            return
        self._known[key] = found
        self.n_bytes += size
        while self.n_bytes > self.most_bytes:
            (dropped, _), old = self._known.popitem(last=False)
            self.n_bytes -= len(dropped) + old.size


class _Run(NamedTuple):
    """A rebalance, and the assignments of heuristics to it."""

    rebalance: RebalanceCode
    assignees: dict[str, Int32]
    refused: dict[str, str]
    failures: tuple[Failure, ...]
    is_sampled: bool


def _run(rebalance: RebalanceCode, key: _Key, claim_rule: ClaimRule) -> _Run:
    """Run the heuristics of a key."""
    data, heuristics = key
    assignees, refused, failures = {}, {}, list[Failure]()
    if heuristics:
        instance = _instance_of(rebalance, claim_rule)
        for name in heuristics:
            try:
                assignor = ASSIGNORS[name]
                reason = assignor.refuses(instance)
                if reason is None:
                    assignees[name] = assignor.assign(instance).assignee
                else:
                    refused[name] = reason
            except Exception as error:  # noqa: BLE001  # a failure affects one answer
                failures.append(Failure(assignor=name, error=error))
    return _Run(
        rebalance=rebalance,
        assignees=assignees,
        refused=refused,
        failures=tuple(failures),
        is_sampled=int.from_bytes(blake2b(data, digest_size=8).digest(), "big") % SAMPLE
        == 0,
    )


def _found(runs: Sequence[_Run], claim_rule: ClaimRule) -> Iterator[Evaluated | None]:
    """Find the optima, and evaluate all answers; None: an optimum is not proved."""
    codes = [run.rebalance.code for run in runs]
    answers = [2 + len(run.assignees) for run in runs]
    members = [len(run.rebalance.members) for run in runs]
    partitions = [run.rebalance.n_partitions for run in runs]
    begins = Begins(
        code=begins_of([code.size for code in codes]),
        member=begins_of(members),
        answer=begins_of(answers),
        load=begins_of([*map(mul, answers, members)]),
        row=begins_of([*map(mul, answers, partitions)]),
    )
    every = _with_room(begins)
    for run, end in zip(runs, begins.row[1:].tolist(), strict=True):
        if run.assignees:
            given = [*run.assignees.values()]
            begin = end - len(given) * len(given[0])
            np.concatenate(given, out=every.assignee[begin:end])
    is_strict = claim_rule is ClaimRule.CURRENT_GENERATION
    evaluate_all(np.concatenate(codes), begins, is_strict, every)
    for r, (run, is_proved) in enumerate(
        zip(runs, every.counts[:, IS_PROVED].tolist(), strict=True)
    ):
        yield _of_run(run, every, begins, r) if is_proved else None


def _with_room(begins: Begins) -> AnswersOfMany:
    """Return columns for answers."""
    n_answers, n_loads, n_members = (
        begins.answer[-1],
        begins.load[-1],
        begins.member[-1],
    )
    return AnswersOfMany(
        assignee=np.full(begins.row[-1], NOBODY, np.int32),
        figures=np.zeros((n_answers, FIELDS), np.int64),
        loads=np.zeros(n_loads, np.int64),
        chains=np.zeros(n_loads, np.int32),
        counts=np.zeros((begins.code.size - 1, COUNTS), np.int64),
        level=np.zeros(n_members, np.int32),
        price=np.zeros(n_members, np.int32),
    )


def _of_run(run: _Run, every: AnswersOfMany, begins: Begins, r: int) -> Evaluated:
    """Copy the answers to a rebalance, without a real answer that is not known.

    Copies: a kept answer must not keep the columns of all others.
    """
    skipped, n_answers = int(not run.rebalance.is_answered), 2 + len(run.assignees)
    answers = slice(begins.answer[r] + skipped, begins.answer[r + 1])
    loads = slice(begins.load[r], begins.load[r + 1])
    rows = slice(begins.row[r], begins.row[r + 1])
    own = slice(begins.member[r], begins.member[r + 1])
    return Evaluated(
        assignors=(ACTUAL, OPTIMUM, *run.assignees)[skipped:],
        answers=Answers(
            assignee=every.assignee[rows].reshape(n_answers, -1)[skipped:].copy(),
            figures=every.figures[answers].copy(),
            loads=every.loads[loads].reshape(n_answers, -1)[skipped:].copy(),
            chains=every.chains[loads].reshape(n_answers, -1)[skipped:].copy(),
        ),
        refused=run.refused,
        counts=every.counts[r].copy(),
        level=every.level[own].copy(),
        price=every.price[own].copy(),
        is_sampled=run.is_sampled,
        failures=run.failures,
    )


def _instance_of(rebalance: RebalanceCode, claim_rule: ClaimRule) -> Instance:
    """Return the instance that heuristics read; a code states no contradictions."""
    is_strict = claim_rule is ClaimRule.CURRENT_GENERATION
    (
        topic_offsets,
        lag,
        member_class,
        class_offsets,
        class_topics,
        generation,
        rack,
        claim_offsets,
        claims,
        partition_topic,
        owner,
    ) = instance_columns(rebalance.code, is_strict)
    return Instance.of_columns(
        group="",
        id=None,
        topics=rebalance.topics,
        topic_offsets=topic_offsets,
        members=rebalance.members,
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        claims=Claims(offsets=claim_offsets, partitions=claims, generation=generation),
        claim_rule=claim_rule,
        lag=lag if lag.size else None,
        capacity=None,
        racks=_racks_of(rebalance, rack),
        instance_ids=rebalance.instance_ids or (None,) * len(rebalance.members),
        partition_topic=partition_topic,
        owner=owner,
    )


def _racks_of(rebalance: RebalanceCode, member: Int32) -> Racks | None:
    """Return the racks, given each member's; a code states no replicas."""
    if not rebalance.code[6] & RACKS:
        return None
    return Racks(
        names=rebalance.racks,
        member=member,
        offsets=np.zeros(rebalance.n_partitions + 1, np.int64),
        replicas=np.zeros(0, np.int32),
    )


_OF_PROCESS: Final[dict[ClaimRule, EvaluatedCodes]] = {}


def codes_of_process(claim_rule: ClaimRule) -> EvaluatedCodes:
    """Return the cache of this process: Spark gives many tasks to one Python worker.

    Spark sends a function with copies of the values that it refers to, also of those of
    its module. This one is sent as the name of a function of this module.
    """
    return _OF_PROCESS.setdefault(claim_rule, EvaluatedCodes(claim_rule=claim_rule))
