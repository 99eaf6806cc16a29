"""Harm of real answers: partitions, times the milliseconds that the state lasts.

Four counts of partitions are kept apart: those without a reader, those with several,
those withheld beyond the ones that the optimum withholds in the same cooperative round,
and those to transfer until the loads are dec-min balanced. Each rebalance has the harm
of its own state, so that sums count nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.evaluation import AssignorAnswer, Least
from pipeline.judging.rebalance_code import sections_of
from pipeline.tables import HARM, least_transfers
from rebalance import ABSENT, INT64_MAX, ClaimRule, Int64
from verify import Case

UNREAD, SHARED_BY_SEVERAL, WAITING, IMBALANCE = range(len(HARM))
"""Columns of counts; `ABSENT`: not known."""
_NAMES: Final = tuple(field.name for field in HARM)
_UNASSIGNED: Final = "unassigned"
_TWICE: Final = "assigned-twice"
_OLDEST: Final = np.iinfo(np.int64).min


def harm_of(case: Case, answer: AssignorAnswer, least: Least) -> Int64:
    """Count the partitions that an answer harms; int64 (4,), in the order of `HARM`."""
    assignment, verdict = answer.judged()
    figures = verdict["figures"]
    rules = Counter(violation["rule"] for violation in verdict["violations"])
    unread = rules[_UNASSIGNED] + verdict.get("more_violations", {}).get(_UNASSIGNED, 0)
    shared = _count_shared(case, assignment["members"]) if rules[_TWICE] else 0
    withheld, waiting, imbalance = figures.get("withheld", 0), 0, ABSENT
    if withheld:
        rivals = sum(map(len, case.rivals.values()))
        waiting = waiting_of(withheld, least.moves, rivals)
    elif figures["dec_min_balanced"]:
        imbalance = 0
    elif verdict["verdict"] == "valid" and least.kip54_score is not None:
        scores = figures["kip54_score"], least.kip54_score, len(case.wants)
        (transfers,) = least_transfers(*(pa.array([number]) for number in scores))
        imbalance = transfers.as_py()
    return np.array([unread, shared, waiting, imbalance], np.int64)


def waiting_of(withheld: int, moves_least: int | None, rivals: int) -> int:
    """Return the partitions withheld beyond those that the optimum withholds.

    In a cooperative round, an optimum withholds the partitions that it moves, and those
    that several members claim; ``moves_least`` is None without a proof.
    """
    if moves_least is None:
        return ABSENT
    return max(0, withheld - moves_least - rivals)


def count_rivals(code: Int64, claim_rule: ClaimRule) -> int:
    """Count the partitions of which two newest claims, of subscribers, are equal."""
    sections = sections_of(code)
    offsets, partition = sections.topic_offsets, sections.claims
    n_topics, classes = len(offsets) - 1, np.diff(sections.class_offsets)
    member = np.repeat(np.arange(len(sections.rack)), np.diff(sections.claim_offsets))
    generation = sections.generation[member]
    topic = np.searchsorted(offsets, partition, "right") - 1
    wanted = np.repeat(np.arange(len(classes)), classes) * n_topics
    counts = np.isin(
        sections.member_class[member] * n_topics + topic, wanted + sections.class_topics
    )
    if claim_rule is ClaimRule.CURRENT_GENERATION:
        counts &= generation == sections.generation.max(initial=_OLDEST)
    newest = np.full(offsets[-1], _OLDEST)
    np.maximum.at(newest, partition[counts], generation[counts])
    counts &= generation == newest[partition]
    return int(np.count_nonzero(np.bincount(partition[counts]) > 1))


def harm_columns(counts: Int64, lasted: pa.Array) -> dict[str, pa.Array]:
    """Return counts times milliseconds, null where one is not known.

    Parameters
    ----------
    counts : int64 (N, 4)
    lasted : int64 (N,)
        Null: not known. So is a product above 64 bits.
    """
    known = np.asarray(pc.is_valid(lasted))
    ms = np.asarray(pc.fill_null(lasted, 0))
    found = {}
    for name, count in zip(_NAMES, counts.T, strict=True):
        is_known = known & (count != ABSENT) & (ms <= INT64_MAX // np.maximum(count, 1))
        found[name] = pa.array(np.where(is_known, count * ms, 0), mask=~is_known)
    return found


def _count_shared(case: Case, members: Mapping[str, Mapping[str, list[int]]]) -> int:
    """Count the existing partitions that several members have."""
    found = Counter(
        (topic, number)
        for held in members.values()
        for topic, numbers in held.items()
        for number in {n for n in numbers if n < case.partitions.get(topic, 0)}
    )
    return sum(count > 1 for count in found.values())
