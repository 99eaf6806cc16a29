"""Topic peak lag where no topic depends on another: a peak lag problem a topic.

The terms of each speak of one topic alone, as if there were no other; what the level
cannot be below is the sum over topics of the largest term of each.
"""

from __future__ import annotations

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from rebalance.documents import BoundTerm, SearchProof, TermsProof
from solver.objectives import common_capacity, scale_of, value_of
from solver.peak_lag.deal import deal
from solver.peak_lag.evidence import evidence_of, sharpened
from solver.peak_lag.hands import peak_with
from solver.peak_lag.lower import lower
from solver.peak_lag.question import fits
from solver.peak_lag.setting import setting_of
from solver.peak_lag.single import topic_alone
from solver.peak_lag.work import Work
from solver.policy import Policy
from solver.result import ObjectiveResult, Proof, Result, Status, zero_term


def solve_by_topic(instance: Instance, policy: Policy, work: Work) -> Result:
    """Lower the peak of each topic, one after the other."""
    topics = _Topics(instance, policy, work)
    for t in range(len(instance.topics)):
        if work.exceeded() is not None:
            topics.deal_rest(t)
            break
        topics.settle(t)
    achieved = topics.achieved()
    return Result(
        policy=policy,
        status=Status.OPTIMAL if achieved.is_proved else Status.FEASIBLE,
        assignment=Assignment(assignee=topics.assignee),
        objectives=(achieved,),
        reason=None if achieved.is_proved else work.reason(fits=topics.fit),
    )


class _Topics:
    """What topics so far are given to whom, and what their peaks cannot be below."""

    def __init__(self, instance: Instance, policy: Policy, work: Work) -> None:
        self.instance, self.policy, self.work = instance, policy, work
        self.assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        self.terms: list[BoundTerm] = []
        self.engines: set[str] = set()
        self.bound, self.fit = 0, True

    def settle(self, topic: int) -> None:
        """Lower the peak of one topic as if there were no other."""
        alone, name = topic_alone(self.instance, topic), self.instance.topics[topic]
        setting = setting_of(alone, self.policy.balance)
        if setting is None or not setting.rows.size:
            return
        known = evidence_of(alone, setting, self.work, [name])
        start = deal(setting)
        reached = int(peak_with(setting.room, start))
        if reached > known.bound:
            known = sharpened(known, alone, setting, self.work, reached, [name])
        found = lower(setting, start, known.bound, self.work)
        known = known.joined(found.packing, [name])
        first, end = self.instance.topic_offsets[topic : topic + 2]
        self.assignee[first:end] = setting.column(alone, found.holder)
        # A topic's members may have fewer capacities in common than the group's.
        units = common_capacity(self.instance) // setting.scale
        self.bound += found.bound * units
        self.fit &= fits(setting)
        if found.bound > known.bound:
            self.engines.add(found.engine)
        self.terms += [
            term.model_copy(update={"bound": term.bound * units})
            for term in known.terms
        ]

    def deal_rest(self, topic: int) -> None:
        """Deal this topic and those after it out, all at once: a limit has struck."""
        setting = setting_of(self.instance, self.policy.balance)
        if setting is None:
            raise TypeError(self.policy)  # not of these balances
        start = self.instance.topic_offsets[topic]
        dealt = setting.column(self.instance, deal(setting))
        self.assignee[start:] = dealt[start:]

    def achieved(self) -> ObjectiveResult:
        """Count the level, and say what proves its bound."""
        (level,) = self.policy.objectives
        proof: Proof = TermsProof(terms=self.terms) if self.terms else zero_term()
        if self.engines:
            engine = " and ".join(sorted(self.engines))
            proof = SearchProof(engine=engine, terms=self.terms)
        assignment = Assignment(assignee=self.assignee)
        return ObjectiveResult(
            of=level,
            value=value_of(self.instance, assignment, level),
            bound=self.bound,
            scale=scale_of(self.instance, level),
            proof=proof,
        )
