"""Topic peak lag where topics are independent: one peak lag problem per topic.

The terms of each are about one topic, as if there were no other; the bound of the
objective is the sum over topics of the largest term of each.
"""

from __future__ import annotations

import numpy as np

from rebalance import (
    NOBODY,
    Assignment,
    BoundTerm,
    Claims,
    Instance,
    SearchProof,
    TermsProof,
)
from solver.objectives import common_capacity, scale_of, value_of
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import build_lag_instance, is_searchable
from solver.peak_lag.minimize_peak import MinimizePeak
from solver.peak_lag.work import Work
from solver.policy import Policy
from solver.result import ObjectiveResult, Proof, Result, Status, zero_term


class TopicPeakLag:
    """The assignment of the topics so far, and what bounds their peaks."""

    def __init__(self, instance: Instance, policy: Policy, work: Work) -> None:
        self.instance, self.policy, self.work = instance, policy, work
        self.assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        self.terms: list[BoundTerm] = []
        self.engine: str | None = None
        self.bound, self.is_searchable = 0, True

    def solve(self) -> Result:
        """Minimize the peak of each topic, one after the other."""
        for t in range(len(self.instance.topics)):
            if self.work.exceeded() is not None:
                self._construct_rest(t)
                break
            self._minimize(t)
        (of,) = self.policy.objectives
        proof: Proof = TermsProof(terms=self.terms) if self.terms else zero_term()
        if self.engine is not None:
            proof = SearchProof(engine=self.engine, terms=self.terms)
        assignment = Assignment(assignee=self.assignee)
        value = value_of(self.instance, assignment, of)
        proved = value == self.bound
        objective = ObjectiveResult(
            of=of,
            value=value,
            bound=self.bound,
            scale=scale_of(self.instance, of),
            proof=proof,
        )
        reason = self.work.reason(is_searchable=self.is_searchable)
        return Result(
            policy=self.policy,
            status=Status.OPTIMAL if proved else Status.FEASIBLE,
            assignment=assignment,
            objectives=(objective,),
            reason=None if proved else reason,
        )

    def _minimize(self, topic: int) -> None:
        """Minimize the peak of one topic as if there were no other."""
        alone = instance_of_topic(self.instance, topic)
        # In units of the whole instance: the judge adds up the topics' terms in these.
        scale = common_capacity(self.instance)
        lag_instance = build_lag_instance(alone, self.policy.balance, scale)
        if lag_instance is None or not lag_instance.rows.size:
            return
        known = bound_peak_lag(alone, lag_instance, self.work, list(alone.topics))
        found = MinimizePeak(
            lag_instance=lag_instance,
            holder=construct_greedily(lag_instance),
            bound=known.value,
            work=self.work,
        )
        found.run()
        if found.packing is not None:
            topics = {"topics": list(alone.topics)}
            known = known.with_term(found.packing.model_copy(update=topics))
        start, end = self.instance.topic_offsets[topic : topic + 2]
        self.assignee[start:end] = lag_instance.to_assignee(alone, found.holder)
        self.bound += found.bound
        self.is_searchable &= is_searchable(lag_instance)
        proof = known.proof(found.bound, found.engine)
        if isinstance(proof, SearchProof):
            self.engine = proof.engine
        self.terms += known.terms

    def _construct_rest(self, topic: int) -> None:
        """Construct this topic and those after it greedily: a limit is exceeded."""
        lag_instance = build_lag_instance(self.instance, self.policy.balance)
        if lag_instance is None:
            raise TypeError(self.policy)  # not of these balances
        start = self.instance.topic_offsets[topic]
        holder = construct_greedily(lag_instance)
        assignee = lag_instance.to_assignee(self.instance, holder)
        self.assignee[start:] = assignee[start:]


def instance_of_topic(instance: Instance, topic: int) -> Instance:
    """Return the instance as if there were no other topic; nobody owns anything."""
    start, end = instance.topic_offsets[topic : topic + 2]
    wants = instance.class_topics == topic
    offsets = np.r_[0, np.cumsum(wants)][instance.class_offsets]
    members = len(instance.members)
    return Instance(
        group=instance.group,
        topics=(instance.topics[topic],),
        topic_offsets=np.array([0, end - start]),
        members=instance.members,
        member_class=instance.member_class.copy(),
        class_offsets=offsets,
        class_topics=np.zeros(offsets[-1], np.int32),
        claims=Claims(
            offsets=np.zeros(members + 1, np.int64),
            partitions=np.zeros(0, np.int32),
            generation=np.full(members, -1),
        ),
        lag=None if instance.lag is None else instance.lag[start:end].copy(),
        capacity=None if instance.capacity is None else instance.capacity.copy(),
    )
