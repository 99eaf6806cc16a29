"""Solve the policies of peak lag, exactly where possible and else with a bound.

Peak lag, stickiness, lag spread and deviation are solved lexicographically: each is
minimized with the values of those before as limits, until one cannot be proved; those
after it keep their trivial bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rebalance import (
    NOBODY,
    Assignment,
    BoundTerm,
    CertificateProof,
    Claims,
    Instance,
    Int32,
    SearchProof,
    TermsProof,
)
from solver import exact
from solver.limits import Limits
from solver.objectives import check_policy, common_capacity, scale_of, value_of
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import LagInstance, build_lag_instance, is_searchable
from solver.peak_lag.minimize_peak import MinimizePeak
from solver.peak_lag.restore_owners import restore_owners
from solver.peak_lag.work import Work
from solver.policy import BalanceKind, Objective, Policy, WeightedObjective
from solver.result import ObjectiveResult, Proof, Result, Status, zero_term

if TYPE_CHECKING:
    from solver import cpsat

_OBJECTIVES: Final = {
    Objective.STICKINESS,
    Objective.PEAK_LAG,
    Objective.LAG_SPREAD,
    Objective.LAG_DEVIATION,
}
_BALANCES: Final = {BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC, BalanceKind.NONE}
_BOUNDED: Final = (
    [Objective.PEAK_LAG],
    [Objective.PEAK_LAG, Objective.STICKINESS],
)


def can_answer(policy: Policy) -> bool:
    """Return whether `solve` accepts a policy.

    Peak lag first, or under dec-min right after stickiness; then stickiness, lag spread
    and lag deviation in any order. Topic peak lag only alone, and not under dec-min,
    so that topics are independent.
    """
    objectives = [one.only for one in policy.objectives]
    kind = policy.balance.kind
    if kind not in _BALANCES or policy.max_moves is not None:
        return False
    if objectives == [Objective.TOPIC_PEAK_LAG]:
        return kind is not BalanceKind.DEC_MIN
    if not _OBJECTIVES.issuperset(objectives):
        return False
    if objectives[:1] == [Objective.STICKINESS]:
        return kind is BalanceKind.DEC_MIN and objectives[1:2] == [Objective.PEAK_LAG]
    return objectives[:1] == [Objective.PEAK_LAG]


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Solve a policy that `can_answer` accepts.

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
    return LexicographicPeakLag(
        instance=instance,
        lag_instance=lag_instance,
        policy=policy,
        work=work,
        core=core,
    ).solve()


def known_bound(
    instance: Instance, policy: Policy, *, limits: Limits
) -> cpsat.KnownBound | None:
    """Return the lower bound on peak lag for `solver.cpsat`, with its terms.

    The terms bound peak lag within the balance, whatever the limit on moves.

    Returns
    -------
    KnownBound or None
        None unless the policy is peak lag, then at most stickiness, with ``max-moves``
        and a balance that `solve` accepts.
    """
    objectives = [one.only for one in policy.objectives]
    kind = policy.balance.kind
    if policy.max_moves is None or objectives not in _BOUNDED or kind not in _BALANCES:
        return None
    lag_instance = build_lag_instance(instance, policy.balance)
    core = _core(instance, policy)
    if lag_instance is None or (kind is BalanceKind.DEC_MIN and core is None):
        return None
    from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

    known = bound_peak_lag(instance, lag_instance, Work(limits=limits))
    return cpsat.KnownBound(
        value=known.value,
        proof=TermsProof(terms=list(known.terms)),
        certificate=None if core is None else core.certificate,
    )


def _core(instance: Instance, policy: Policy) -> Result | None:
    """Return the result of the exact core where it is dec-min and proved."""
    if policy.balance.kind is not BalanceKind.DEC_MIN:
        return None
    result = exact.solve(instance)
    return result if result.status is Status.OPTIMAL else None


@dataclass(slots=True, kw_only=True)
class LexicographicPeakLag:
    """The objectives that are solved, and an assignment that solves them.

    Attributes
    ----------
    core : Result or None
        The stickiest dec-min assignment, where the balance is dec-min.
    holder : int32 (P,)
    within : dict of Objective to int
        Values reached so far.
    """

    instance: Instance
    lag_instance: LagInstance
    policy: Policy
    work: Work
    core: Result | None
    holder: Int32 = field(init=False)
    within: dict[Objective, int] = field(default_factory=dict)

    def solve(self) -> Result:
        """Minimize one objective after the other, until one cannot be proved."""
        stickiest: Int32 | None = None
        if self.core is not None:
            assignee = self.core.require_assignment().assignee
            stickiest = self.lag_instance.to_holder(assignee)
        starts_sticky = self.policy.objectives[0].only is Objective.STICKINESS
        if stickiest is not None and starts_sticky:
            self.holder = stickiest
        else:
            self.holder = construct_greedily(self.lag_instance)
        bounds: list[tuple[int, Proof]] = []
        is_proved = True
        for of in self.policy.objectives:
            objective = of.measures[0]
            if not is_proved:
                bounds.append(self._trivial_bound(objective))
            elif objective is Objective.PEAK_LAG:
                bounds.append(self._minimize_peak())
            else:
                if set(self.within) == {Objective.PEAK_LAG} and (
                    objective is Objective.STICKINESS
                ):
                    self._restore_owners(stickiest)
                bounds.append(self._search(of))
            if is_proved:
                self.within[objective] = self._value(of)
                is_proved = self._value(of) == bounds[-1][0]
        return _result(
            self.instance,
            self.policy,
            self.work,
            self._assignment(),
            bounds,
            is_searchable=is_searchable(self.lag_instance),
            core=self.core,
        )

    def _minimize_peak(self) -> tuple[int, Proof]:
        known = bound_peak_lag(self.instance, self.lag_instance, self.work)
        found = MinimizePeak(
            lag_instance=self.lag_instance,
            holder=self.holder,
            bound=known.value,
            work=self.work,
            moves=self.within.get(Objective.STICKINESS),
        )
        found.run()
        self.holder = found.holder
        return found.bound, known.with_term(found.packing).proof(
            found.bound, found.engine
        )

    def _restore_owners(self, stickiest: Int32 | None) -> None:
        peak = self.within[Objective.PEAK_LAG]
        self.holder = restore_owners(
            self.lag_instance, self.holder, stickiest, peak, self.work
        )

    def _search(self, of: WeightedObjective) -> tuple[int, Proof]:
        """Minimize an objective by CP-SAT if the program is small; return its bound."""
        objective, value = of.measures[0], self._value(of)
        bound, proof = self._trivial_bound(objective)
        searchable = is_searchable(self.lag_instance)
        if value == bound or not searchable or self.work.exceeded() is not None:
            return bound, proof
        # Imported when needed: CP-SAT takes a second to load.
        from solver.peak_lag.peak_lag_program import ENGINE, improve  # noqa: PLC0415

        holder, raised = improve(
            self.lag_instance,
            self.holder,
            objective,
            value=value,
            bound=bound,
            within=self.within,
            work=self.work,
            effort=math.inf,
        )
        self.holder = self.holder if holder is None else holder
        return (
            (raised, SearchProof(engine=ENGINE)) if raised > bound else (bound, proof)
        )

    def _trivial_bound(self, objective: Objective) -> tuple[int, Proof]:
        """Return the bound of an objective that needs no work."""
        if objective is Objective.STICKINESS and self.core is not None:
            bound = self.core.objectives[0].bound
            assert isinstance(bound, int)  # noqa: S101
            return bound, CertificateProof()
        return 0, zero_term()

    def _value(self, of: WeightedObjective) -> int:
        value = value_of(self.instance, self._assignment(), of)
        assert isinstance(value, int)  # noqa: S101 - only ``load`` is a vector
        return value

    def _assignment(self) -> Assignment:
        assignee = self.lag_instance.to_assignee(self.instance, self.holder)
        return Assignment(assignee=assignee)


def _result(
    instance: Instance,
    policy: Policy,
    work: Work,
    assignment: Assignment,
    bounds: list[tuple[int, Proof]],
    *,
    is_searchable: bool,
    core: Result | None = None,
) -> Result:
    """Return an assignment with the bound on each objective."""
    objectives = tuple(
        ObjectiveResult(
            of=of,
            value=value_of(instance, assignment, of),
            bound=bound,
            scale=scale_of(instance, of),
            proof=proof,
        )
        for of, (bound, proof) in zip(policy.objectives, bounds, strict=True)
    )
    proved = all(one.is_proved for one in objectives)
    reason = work.reason(is_searchable=is_searchable)
    return Result(
        policy=policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=assignment,
        objectives=objectives,
        certificate=None if core is None else core.certificate,
        reason=None if proved else reason,
    )


class TopicPeakLag:
    """Topic peak lag where topics are independent: one peak lag problem per topic.

    The terms of each are about one topic, as if there were no other; the bound of the
    objective is the sum over topics of the largest term of each.
    """

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
        proof: Proof = TermsProof(terms=self.terms) if self.terms else zero_term()
        if self.engine is not None:
            proof = SearchProof(engine=self.engine, terms=self.terms)
        return _result(
            self.instance,
            self.policy,
            self.work,
            Assignment(assignee=self.assignee),
            [(self.bound, proof)],
            is_searchable=self.is_searchable,
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
