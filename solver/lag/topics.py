"""Topic peak lag where no topic depends on another: a peak lag problem a topic.

The terms of each speak of one topic alone, as if there were no other; what the level
cannot be below is the sum over topics of the largest term of each.
"""

from __future__ import annotations

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32
from rebalance.documents import BoundTerm, SearchProof, TermsProof
from solver.answer import Status
from solver.lag.deal import deal
from solver.lag.evidence import evidence_of, sharpened
from solver.lag.hands import peak_with
from solver.lag.lower import lower
from solver.lag.question import fits
from solver.lag.setting import setting_of
from solver.lag.single import topic_alone
from solver.lag.work import Work
from solver.outcome import Achieved, Outcome, Proof, zero_term
from solver.policy import Policy
from solver.values import common_capacity, scale_of, value_of


def solve_by_topic(instance: Instance, policy: Policy, work: Work) -> Outcome:
    """Lower the peak of each topic, one after the other."""
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    terms: list[BoundTerm] = []
    engines: set[str] = set()
    bound, small = 0, True
    for t, name in enumerate(instance.topics):
        if work.struck() is not None:
            _deal_rest(instance, policy, assignee, t)
            break
        alone = topic_alone(instance, t)
        setting = setting_of(alone, policy.balance)
        if setting is None or not setting.rows.size:
            continue
        known = evidence_of(alone, setting, work, [name])
        start = deal(setting)
        reached = int(peak_with(setting.room, start))
        if reached > known.bound:
            known = sharpened(known, alone, setting, work, reached, [name])
        found = lower(setting, start, known.bound, work)
        known = known.joined(found.packing, [name])
        first, end = instance.topic_offsets[t : t + 2]
        assignee[first:end] = setting.column(alone, found.holder)
        # A topic's members may have fewer capacities in common than the group's.
        units = common_capacity(instance) // setting.scale
        bound += found.bound * units
        small &= fits(setting)
        if found.bound > known.bound:
            engines.add(found.engine)
        terms += [
            term.model_copy(update={"bound": term.bound * units})
            for term in known.terms
        ]
    assignment = Assignment(assignee=assignee)
    (level,) = policy.levels
    value = value_of(instance, assignment, level)
    proof: Proof = TermsProof(terms=terms) if terms else zero_term()
    if engines:
        proof = SearchProof(engine=" and ".join(sorted(engines)), terms=terms)
    achieved = Achieved(
        of=level,
        value=value,
        bound=bound,
        scale=scale_of(instance, level),
        proof=proof,
    )
    reason = None
    if not achieved.is_proved:
        reason = work.reason(fits=small)
    return Outcome(
        policy=policy,
        status=Status.OPTIMAL if achieved.is_proved else Status.FEASIBLE,
        assignment=assignment,
        objectives=(achieved,),
        reason=reason,
    )


def _deal_rest(instance: Instance, policy: Policy, assignee: Int32, topic: int) -> None:
    """Deal this topic and those after it out, all at once: a limit has struck."""
    setting = setting_of(instance, policy.balance)
    if setting is None:
        raise TypeError(policy)  # not of these balances
    start = instance.topic_offsets[topic]
    assignee[start:] = setting.column(instance, deal(setting))[start:]
