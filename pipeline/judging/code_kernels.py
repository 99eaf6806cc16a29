"""Validity, figures, evidence, and proof of all answers to a rebalance, compiled.

The fast counterpart of the judge (`verify`), which tests and a sample of every audit
compare it with. An answer that breaks a rule is left to the judge, which names the
fault.

Without capacities, an assignment is dec-min balanced if and only if its load vector
equals that of a proved optimum, and it is then KIP-54 balanced, too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipeline.evaluation import needless_lag
from pipeline.evaluation.evidence_columns import first_transfer, shortest_chain
from pipeline.judging.code_layout import Layout, lay_out
from pipeline.judging.rebalance_code import (
    COOPERATIVE,
    LAG,
    LAG_KNOWN,
    Sections,
    sections_of,
)
from rebalance import (
    ABSENT,
    NOBODY,
    Int32,
    Int64,
    borrowing_kernel,
    kernel,
)
from solver.exact import solve_columns

(
    DECIDED,
    KEPT,
    WITHHELD,
    SCORE,
    KIP54_BALANCED,
    DEC_MIN_BALANCED,
    PEAK_LAG,
    LAG_SPREAD,
    GIVER,
    TOPIC,
    PARTITION,
    RECEIVER,
    IS_PEAK_LEAST,
    NEEDLESS_LAG,
) = range(14)
FIELDS: Final = 14
"""Fields of an answer; `GIVER` to `RECEIVER` are the transfer that refutes KIP-54."""

TOPICS, PARTITIONS, OWNED, PEAK_LAG_BOUND, IS_PROVED = range(5)
COUNTS: Final = 5
"""Counts of a rebalance: of topics with a subscriber, and of their partitions."""

UNKNOWN: Final = -1

_needless_lag = kernel(needless_lag)


class Answers(NamedTuple):
    """Answers to one rebalance; A answers, M members, P partitions.

    Attributes
    ----------
    assignee : int32 (A, P)
    figures : int64 (A, FIELDS)
    loads : int64 (A, M)
        Largest first.
    chains : int32 (A, M)
        The members of the chain that refutes dec-min balance; `ABSENT` after its end.
    """

    assignee: Int32
    figures: Int64
    loads: Int64
    chains: Int32


class AnswersOfMany(NamedTuple):
    """Answers to each of R rebalances, one after another, as in `Answers`.

    Attributes
    ----------
    assignee : int32
    figures : int64 (A, FIELDS)
    loads : int64
    chains : int32
    counts : int64 (R, COUNTS)
    level, price : int32 (M,)
        Certificates of the optima; M members of all rebalances.
    """

    assignee: Int32
    figures: Int64
    loads: Int64
    chains: Int32
    counts: Int64
    level: Int32
    price: Int32


class Begins(NamedTuple):
    """First entries of each rebalance in columns of many, and the ends; int64 (R+1,).

    Attributes
    ----------
    code
    member
        In ``level`` and ``price``.
    answer
        In ``figures``.
    load
        In ``loads`` and ``chains``.
    row
        In ``assignee``.
    """

    code: Int64
    member: Int64
    answer: Int64
    load: Int64
    row: Int64


@kernel
def evaluate_all(
    codes: Int64, begins: Begins, current_generation: bool, answers: AnswersOfMany
) -> None:
    """Write the real answers, the optima, and the counts of R rebalances.

    Of further answers, the assignees are given; their facts are written.
    """
    code, member, answer, load, row = begins
    for r in range(code.size - 1):
        own, count = slice(member[r], member[r + 1]), answer[r + 1] - answer[r]
        loads, rows = slice(load[r], load[r + 1]), slice(row[r], row[r + 1])
        answers.level[own], answers.price[own] = _evaluate(
            codes[code[r] : code[r + 1]],
            current_generation,
            Answers(
                answers.assignee[rows].reshape(count, -1),
                answers.figures[answer[r] : answer[r + 1]],
                answers.loads[loads].reshape(count, -1),
                answers.chains[loads].reshape(count, -1),
            ),
            answers.counts[r],
        )


@kernel
def _evaluate(
    code: Int64, current_generation: bool, answers: Answers, counts: Int64
) -> tuple[Int32, Int32]:
    """Write the answers to a rebalance, and its counts.

    Parameters
    ----------
    answers
        The real answer, the optimum, and further ones, whose assignees are given.
    counts : int64 (COUNTS,)

    Returns
    -------
    int32 (M,), int32 (M,)
        Levels and prices of the optimum's certificate.
    """
    sections = sections_of(code)
    layout = lay_out(sections, current_generation)
    _count(sections, layout, counts)
    assignee, level, price, is_balanced, kept, most_kept = solve_columns(
        sections.topic_offsets,
        sections.member_class,
        sections.class_offsets,
        sections.class_topics,
        layout.owner,
    )
    answers.assignee[1] = assignee
    counts[IS_PROVED] = is_balanced and kept == most_kept
    figures, loads, chains = answers.figures, answers.loads, answers.chains
    bound = counts[PEAK_LAG_BOUND]
    _measure(sections, layout, assignee, False, loads[1], bound, figures[1])
    least = _largest_first(loads[1])
    _decide(sections, assignee, loads[1], least, figures[1], chains[1])
    if _read_given(sections, answers.assignee[0]):
        is_round = (sections.flags & COOPERATIVE) != 0
        given = answers.assignee[0]
        _measure(sections, layout, given, is_round, loads[0], bound, figures[0])
        _decide(sections, given, loads[0], least, figures[0], chains[0])
        if figures[0, DEC_MIN_BALANCED] and counts[IS_PROVED]:
            needless = figures[1, KEPT] - figures[0, KEPT]
            lag = _needless_lag(sections.lag, layout.owner, given, needless)
            figures[0, NEEDLESS_LAG] = lag
    for a in range(2, figures.shape[0]):
        more = answers.assignee[a]
        _measure(sections, layout, more, False, loads[a], bound, figures[a])
        _decide(sections, more, loads[a], least, figures[a], chains[a])
    return level, price


@kernel
def _count(sections: Sections, layout: Layout, counts: Int64) -> None:
    """Write the counts of a rebalance that need no answer."""
    counts[PEAK_LAG_BOUND] = _peak_lag_bound(sections, layout)
    sizes = np.diff(sections.topic_offsets)
    counts[TOPICS] = np.count_nonzero(layout.subscribed)
    counts[PARTITIONS] = sizes[layout.subscribed].sum()
    counts[OWNED] = np.count_nonzero(layout.owner != NOBODY)


@kernel
def _read_given(sections: Sections, assignee: Int32) -> bool:
    """Write the real answer; return whether the column states it as it was given.

    It does if each partition exists, and is there once.
    """
    assignee[:] = NOBODY
    for m in range(sections.member_class.size):
        for row in range(sections.given_offsets[m], sections.given_offsets[m + 1]):
            p = sections.given[row]
            if p == ABSENT or assignee[p] != NOBODY:
                return False
            assignee[p] = m
    return True


@kernel
def _measure(
    sections: Sections,
    layout: Layout,
    assignee: Int32,
    is_round: bool,
    loads: Int64,
    bound: int,
    figures: Int64,
) -> None:
    """Count an answer; `DECIDED` remains 0 if it breaks a rule.

    ``loads`` become those by member.
    """
    loads[:] = 0
    figures[:] = 0
    lags = np.zeros(loads.size, np.int64)
    for p in range(assignee.size):
        m, t = assignee[p], layout.topic[p]
        if m == NOBODY:
            if layout.subscribed[t] and not (is_round and layout.can_wait[p]):
                return
            figures[WITHHELD] += is_round and layout.can_wait[p]
            continue
        if not layout.eligible[sections.member_class[m], t]:
            return
        if is_round and layout.is_claimed[p] and layout.owner[p] != m:
            return
        loads[m] += 1
        figures[KEPT] += layout.owner[p] == m
        if sections.lag.size:
            lags[m] += sections.lag[p]
    figures[DECIDED] = 1
    least, most = np.int64(-1), np.int64(-1)
    for m in range(lags.size):
        figures[PEAK_LAG] = max(figures[PEAK_LAG], lags[m])
        if layout.in_play[sections.member_class[m]]:
            least = lags[m] if least < 0 else min(least, lags[m])
            most = max(most, lags[m])
    figures[LAG_SPREAD] = most - least
    is_complete = figures[WITHHELD] == 0
    figures[IS_PEAK_LEAST] = is_complete and figures[PEAK_LAG] == bound


@kernel
def _decide(
    sections: Sections,
    assignee: Int32,
    loads: Int64,
    least: Int64,
    figures: Int64,
    chain: Int32,
) -> None:
    """Decide the balances of a counted answer; sort its loads, largest first.

    ``least`` are the loads of a proved optimum, largest first.
    """
    chain[:] = ABSENT
    figures[GIVER] = ABSENT
    if not figures[DECIDED]:
        return
    of_member = loads.copy()
    loads[:] = _largest_first(of_member)
    last = loads.size - 1
    for place in range(loads.size):
        figures[SCORE] += loads[place] * (last - 2 * place)
    is_complete = figures[WITHHELD] == 0
    if is_complete and (loads == least).all():
        figures[KIP54_BALANCED] = figures[DEC_MIN_BALANCED] = 1
        return
    columns = (
        sections.topic_offsets,
        sections.member_class,
        sections.class_offsets,
        sections.class_topics,
    )
    transfer = first_transfer(assignee, of_member, *columns)
    figures[GIVER], figures[TOPIC], figures[PARTITION], figures[RECEIVER] = transfer
    figures[KIP54_BALANCED] = transfer[0] == ABSENT
    if is_complete:
        found = shortest_chain(assignee, of_member, *columns)
        chain[: found.size] = found
        # Without one, the loads would be those of the optimum: the judge decides.
        figures[DECIDED] = found.size > 0


@kernel
def _largest_first(loads: Int64) -> Int64:
    return -np.sort(-loads)


@borrowing_kernel
def _peak_lag_bound(sections: Sections, layout: Layout) -> int:
    """Return the larger of mean and largest lag; `UNKNOWN` where lag is not known."""
    if not sections.flags & LAG_KNOWN or not sections.flags & LAG:
        return UNKNOWN
    total, largest, n_members = np.int64(0), np.int64(0), 0
    for p in range(layout.topic.size):
        if layout.subscribed[layout.topic[p]]:
            total += sections.lag[p]
            largest = max(largest, sections.lag[p])
    first = sections.class_offsets
    for k in sections.member_class:
        n_members += first[k + 1] > first[k]
    if n_members == 0:
        return UNKNOWN
    return int(max(-(-total // n_members), largest))
