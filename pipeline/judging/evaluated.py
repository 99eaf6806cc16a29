"""Answers to rebalances by code: each code is evaluated once per process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from heuristics import ASSIGNORS
from pipeline.evaluation import ACTUAL, OPTIMUM, Failure
from pipeline.judging.case_arrays import begins_of
from pipeline.judging.code_kernels import (
    COUNTS,
    FIELDS,
    IS_PROVED,
    PEAK_LAG_BOUND,
    Answers,
    AnswersOfMany,
    evaluate_all,
    evaluate_more,
)
from pipeline.judging.rebalance_code import RACKS, RebalanceCode, sections_of
from rebalance import NOBODY, ClaimRule, Claims, Instance, Int32, Int64, Racks

_Key: TypeAlias = tuple[bytes, tuple[str, ...]]
"""Bytes of a code, and names of heuristics."""
MOST_BYTES: Final = 64 << 20
"""Bytes of codes and answers that a process keeps."""
_OBJECTS: Final = 2_000
"""Bytes of the objects of one rebalance without the data of its columns, about."""
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
        if not requests:
            return
        first = _first_answers([*requests.values()], self.claim_rule)
        for ((data, heuristics), rebalance), answers in zip(
            requests.items(), first, strict=True
        ):
            digest = blake2b(data, digest_size=8).digest()
            is_sampled = int.from_bytes(digest, "big") % SAMPLE == 0
            yield _evaluated(
                rebalance, self.claim_rule, heuristics, answers, is_sampled=is_sampled
            )

    def _keep(self, key: _Key, found: Evaluated) -> None:
        size = len(key[0]) + found.size
        if size > self.most_bytes:
            return
        self._known[key] = found
        self.n_bytes += size
        while self.n_bytes > self.most_bytes:
            (dropped, _), old = self._known.popitem(last=False)
            self.n_bytes -= len(dropped) + old.size


class _First(NamedTuple):
    """The real answer and the optimum of one rebalance."""

    answers: Answers
    counts: Int64
    level: Int32
    price: Int32


def _first_answers(
    rebalances: Sequence[RebalanceCode], claim_rule: ClaimRule
) -> Iterator[_First]:
    member_at = begins_of([len(rebalance.members) for rebalance in rebalances])
    partition_at = begins_of([rebalance.n_partitions for rebalance in rebalances])
    n_members, n_partitions = int(member_at[-1]), int(partition_at[-1])
    every = AnswersOfMany(
        assignee=np.full(2 * n_partitions, NOBODY, np.int32),
        figures=np.zeros((2 * len(rebalances), FIELDS), np.int64),
        loads=np.zeros(2 * n_members, np.int64),
        chains=np.zeros(2 * n_members, np.int32),
        counts=np.zeros((len(rebalances), COUNTS), np.int64),
        level=np.zeros(n_members, np.int32),
        price=np.zeros(n_members, np.int32),
    )
    evaluate_all(
        np.concatenate([rebalance.code for rebalance in rebalances]),
        begins_of([rebalance.code.size for rebalance in rebalances]),
        claim_rule is ClaimRule.CURRENT_GENERATION,
        member_at,
        partition_at,
        every,
    )
    members, partitions = member_at.tolist(), partition_at.tolist()
    for r in range(len(rebalances)):
        begin, end = members[r : r + 2]
        first, last = partitions[r : r + 2]
        # Copies: a kept answer must not keep the columns of all others.
        yield _First(
            answers=Answers(
                assignee=every.assignee[2 * first : 2 * last].reshape(2, -1).copy(),
                figures=every.figures[2 * r : 2 * r + 2].copy(),
                loads=every.loads[2 * begin : 2 * end].reshape(2, -1).copy(),
                chains=every.chains[2 * begin : 2 * end].reshape(2, -1).copy(),
            ),
            counts=every.counts[r].copy(),
            level=every.level[begin:end].copy(),
            price=every.price[begin:end].copy(),
        )


def _evaluated(
    rebalance: RebalanceCode,
    claim_rule: ClaimRule,
    heuristics: tuple[str, ...],
    found: _First,
    *,
    is_sampled: bool,
) -> Evaluated | None:
    first, counts = found.answers, found.counts
    if not counts[IS_PROVED]:
        return None
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
    answers = first
    if assignees:
        answers = _with_room(first, len(assignees))
        more = _from(answers, 2)
        np.concatenate([*assignees.values()], out=more.assignee.reshape(-1))
        bound = counts[PEAK_LAG_BOUND]
        is_strict = claim_rule is ClaimRule.CURRENT_GENERATION
        evaluate_more(rebalance.code, is_strict, first.loads[1], bound, more)
    begin = 0 if rebalance.is_answered else 1
    return Evaluated(
        assignors=(ACTUAL, OPTIMUM, *assignees)[begin:],
        answers=_from(answers, begin),
        refused=refused,
        counts=counts,
        level=found.level,
        price=found.price,
        is_sampled=is_sampled,
        failures=tuple(failures),
    )


def _with_room(first: Answers, count: int) -> Answers:
    """Return answers, and after them rows for more, which are not written yet."""
    columns = []
    for rows in first:
        every = np.empty((len(rows) + count, rows.shape[1]), rows.dtype)
        every[: len(rows)] = rows
        columns.append(every)
    return Answers(*columns)


def _from(answers: Answers, begin: int) -> Answers:
    return Answers(
        assignee=answers.assignee[begin:],
        figures=answers.figures[begin:],
        loads=answers.loads[begin:],
        chains=answers.chains[begin:],
    )


def _instance_of(rebalance: RebalanceCode, claim_rule: ClaimRule) -> Instance:
    """Return the instance that heuristics read."""
    sections = sections_of(rebalance.code)
    racks = None
    if sections.flags & RACKS:
        racks = Racks(
            names=rebalance.racks,
            member=sections.rack.astype(np.int32),
            offsets=np.zeros(rebalance.n_partitions + 1, np.int64),
            replicas=np.zeros(0, np.int32),
        )
    return Instance(
        group="",
        topics=rebalance.topics,
        topic_offsets=sections.topic_offsets,
        members=rebalance.members,
        member_class=sections.member_class,
        class_offsets=sections.class_offsets,
        class_topics=sections.class_topics,
        claims=Claims(
            offsets=sections.claim_offsets,
            partitions=sections.claims,
            generation=sections.generation,
        ),
        claim_rule=claim_rule,
        lag=sections.lag if sections.lag.size else None,
        racks=racks,
        instance_ids=rebalance.instance_ids,
    )


_OF_PROCESS: Final[dict[ClaimRule, EvaluatedCodes]] = {}


def codes_of_process(claim_rule: ClaimRule) -> EvaluatedCodes:
    """Return the cache of this process: Spark gives many tasks to one Python worker.

    Spark sends a function with copies of the values that it refers to, also of those of
    its module. This one is sent as the name of a function of this module.
    """
    return _OF_PROCESS.setdefault(claim_rule, EvaluatedCodes(claim_rule=claim_rule))
