"""Solve the policies of peak lag, exactly where possible and else with a bound.

Bounds, a construction and local search come first, for peak lag alone; owners are
restored within the peak that they reach. `solver.cpsat` does the rest of the policy,
given the assignment and the bounds, where its program is small.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance import (
    NOBODY,
    Assignment,
    BoundTerm,
    CertificateProof,
    Claims,
    Instance,
    SearchProof,
    TermsProof,
)
from solver import exact
from solver.limits import Limits
from solver.objectives import check_policy, common_capacity
from solver.peak_lag.alternate import Alternate, PolicySearch
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import (
    LagInstance,
    build_lag_instance,
    is_quickly_searched,
    is_searchable,
)
from solver.peak_lag.minimize_peak import MinimizePeak
from solver.peak_lag.set_partition import ENUMERATION
from solver.peak_lag.swap_descent import descend
from solver.peak_lag.work import Work
from solver.peak_lag_policies import LAG_THEN_MOVES, can_bound
from solver.policy import BalanceKind, Objective, Policy
from solver.result import (
    KnownBound,
    Proof,
    Result,
    Status,
    zero_term,
)

STEPS_PER_PARTITION: Final = 1_000
"""Steps that count for the feasible region and a greedy construction."""


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Solve a policy that `solver.peak_lag_policies` says can be answered.

    Where the exact core proves no certificate, `solver.cpsat` solves it.

    Raises
    ------
    InstanceError
        If the policy does not apply to this instance.
    """
    check_policy(instance, policy)
    first, work = policy.objectives[0].only, Work(limits=limits)
    if first is Objective.TOPIC_PEAK_LAG:
        return TopicPeakLag(instance, policy, work).solve()
    lag_instance = build_lag_instance(instance, policy.balance)
    core = _core(instance, policy)
    if lag_instance is None or (first is Objective.STICKINESS and core is None):
        from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

        return cpsat.solve(instance, policy, limits=limits)
    return _alternate(instance, policy, work, lag_instance, core).run()


def _alternate(
    instance: Instance,
    policy: Policy,
    work: Work,
    lag_instance: LagInstance,
    core: Result | None,
) -> Alternate:
    """Build the search, from the proofs of the exact core."""
    is_sticky = policy.objectives[0].only is Objective.STICKINESS
    stickiest, bounds = None, dict[Objective, KnownBound]()
    if core is not None:
        stickiest = lag_instance.to_holder(core.require_assignment().assignee)
        bounds[Objective.STICKINESS] = _fewest_moves(core)
    start = stickiest if is_sticky else None
    work.spend(STEPS_PER_PARTITION * instance.n_partitions)
    known = bound_peak_lag(instance, lag_instance, work)
    objectives = [objective.only for objective in policy.objectives]
    is_stickiness_next = objectives[:2] == LAG_THEN_MOVES
    can_search = is_searchable(lag_instance)
    is_searched = can_search and is_quickly_searched(lag_instance)
    by_swaps = is_stickiness_next and not is_searched
    if by_swaps and stickiest is not None:
        start, _ = descend(lag_instance, stickiest, known.value, work)
    is_quick = work.limits.is_default and objectives == LAG_THEN_MOVES
    return Alternate(
        search=PolicySearch(instance=instance, policy=policy, work=work),
        known=known,
        minimize=MinimizePeak(
            lag_instance=lag_instance,
            holder=construct_greedily(lag_instance) if start is None else start,
            bound=known.value,
            work=work,
            moves=bounds[Objective.STICKINESS].value if is_sticky else None,
            is_searchable=can_search and not (is_quick and by_swaps),
            is_quick=is_quick,
        ),
        stickiest=stickiest,
        is_stickiness_next=is_stickiness_next,
        by_swaps=by_swaps,
        bounds=bounds,
    )


def _fewest_moves(core: Result) -> KnownBound:
    """Return the proved bound on moves."""
    fewest = core.objectives[0].bound
    assert isinstance(fewest, int)  # noqa: S101 - only ``load`` is a vector
    return KnownBound(
        value=fewest, proof=CertificateProof(), certificate=core.certificate
    )


def known_bounds(
    instance: Instance, policy: Policy, *, limits: Limits
) -> dict[Objective, KnownBound]:
    """Return the lower bound on peak lag for `solver.cpsat`, with its terms.

    The terms bound peak lag within the balance, whatever the limit on moves. Empty
    unless the policy is peak lag, then at most stickiness, with ``max-moves`` and a
    balance that `solve` accepts.
    """
    if not can_bound(policy):
        return {}
    kind = policy.balance.kind
    lag_instance = build_lag_instance(instance, policy.balance)
    core = _core(instance, policy)
    if lag_instance is None or (kind is BalanceKind.DEC_MIN and core is None):
        return {}
    known = bound_peak_lag(instance, lag_instance, Work(limits=limits))
    bound = KnownBound(
        value=known.value,
        proof=known.proof(known.value),
        certificate=None if core is None else core.certificate,
    )
    return {Objective.PEAK_LAG: bound}


def _core(instance: Instance, policy: Policy) -> Result | None:
    """Return the result of the exact core where it is dec-min and proved."""
    if policy.balance.kind is not BalanceKind.DEC_MIN:
        return None
    result = exact.solve(instance)
    return result if result.status is Status.OPTIMAL else None


class TopicPeakLag:
    """Topic peak lag where topics are independent: one peak lag problem per topic.

    The terms of each are about one topic, as if there were no other; the bound of the
    objective is the sum over topics of the largest term of each.
    """

    def __init__(self, instance: Instance, policy: Policy, work: Work) -> None:
        self.instance, self.policy, self.work = instance, policy, work
        self.assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        self.terms: list[BoundTerm] = []
        self.bound, self.is_searched = 0, False

    def solve(self) -> Result:
        """Minimize the peak of each topic, one after the other."""
        whole = build_lag_instance(self.instance, self.policy.balance)
        if whole is None:
            raise TypeError(self.policy)  # not of these balances
        self.work.spend(STEPS_PER_PARTITION * self.instance.n_partitions)
        for t in range(len(self.instance.topics)):
            if self.work.exceeded() is not None:
                self._construct_rest(t, whole)
                break
            self._minimize(t)
        proof: Proof = TermsProof(terms=self.terms) if self.terms else zero_term()
        if self.is_searched:
            proof = SearchProof(engine=ENUMERATION, terms=self.terms)
        known = KnownBound(value=self.bound, proof=proof)
        search = PolicySearch(
            instance=self.instance, policy=self.policy, work=self.work
        )
        return search.settled(
            Assignment(assignee=self.assignee),
            {Objective.TOPIC_PEAK_LAG: known},
            is_searchable=is_searchable(whole),
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
            is_searchable=is_searchable(lag_instance),
        )
        found.start()
        found.enumerate_small()
        found.search_rounds()
        if found.packing is not None:
            topics = {"topics": list(alone.topics)}
            known = known.with_term(found.packing.model_copy(update=topics))
        start, end = self.instance.topic_offsets[topic : topic + 2]
        self.assignee[start:end] = lag_instance.to_assignee(alone, found.holder)
        self.bound += found.bound
        self.is_searched |= found.bound > known.value
        self.terms += known.terms

    def _construct_rest(self, topic: int, whole: LagInstance) -> None:
        """Construct this topic and those after it greedily: a limit is exceeded."""
        start = self.instance.topic_offsets[topic]
        holder = construct_greedily(whole)
        assignee = whole.to_assignee(self.instance, holder)
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
