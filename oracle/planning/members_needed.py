"""The smallest number of members for a limit on peak lag or on load, with its proof.

A number suffices if an assignment that the judge accepts stays within the limit. That a
smaller number does not follows from a sum, or from a bound that the judge has checked:
for load from the most even loads, for lag from the terms of the solver
(`docs/plan.md`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import verify
from oracle.planning.apply_changes import common_subscription, new_names
from oracle.planning.plan_records import MembersNeeded, Refuted
from oracle.planning.what_if import PlanQuestion
from rebalance import InstanceError, Member, Rebalance, instance_of, plain_of
from solver import (
    STICKY,
    Balance,
    BalanceKind,
    Objective,
    Policy,
    WeightedObjective,
)

MOST_TRIED: Final = 100
"""Numbers of members for which peak lag is solved, one after the other."""

Limited = Literal["peak-lag", "load"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResizedGroup:
    """The group with any number of members.

    Members that join have the ``subscription``. Members leave only if all subscribe to
    the same topics, so that it does not matter which.
    """

    rebalance: Rebalance
    subscription: list[str]
    question: PlanQuestion

    @property
    def present(self) -> int:
        """Number of members in the group."""
        return len(self.rebalance.members)

    @property
    def least(self) -> int:
        """The smallest number that is examined."""
        return self.present if common_subscription(self.rebalance) is None else 1

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members, also those that join, subscribe to the same topics."""
        return common_subscription(self.rebalance) == sorted(self.subscription)

    @property
    def lags(self) -> dict[tuple[str, int], int]:
        """Lag of each partition, records.

        Raises
        ------
        InstanceError
            If the lag of a topic is not stated.
        """
        lags: dict[tuple[str, int], int] = {}
        for topic in self.sizes:
            stated = self.rebalance.topics[topic].lag
            if stated is None:
                raise InstanceError("the lag of the topic is not stated", subject=topic)
            lags |= {(topic, number): lag for number, lag in enumerate(stated)}
        return lags

    @property
    def sizes(self) -> dict[str, int]:
        """Partitions of the topics that a member subscribes to."""
        members = self.rebalance.members.values()
        wanted = {topic for member in members for topic in member.subscription}
        topics = self.rebalance.topics.items()
        return {name: topic.partitions for name, topic in topics if name in wanted}

    def names(self, count: int) -> tuple[list[str], list[str]]:
        """Return who joins and who leaves for a number of members."""
        joins = new_names(self.rebalance, max(0, count - self.present))
        leaves = sorted(self.rebalance.members)[count:]
        return joins, leaves

    def of(self, count: int) -> Rebalance:
        """Return the group with this number of members."""
        joins, leaves = self.names(count)
        members = {n: m for n, m in self.rebalance.members.items() if n not in leaves}
        members |= dict.fromkeys(joins, Member(subscription=self.subscription))
        return self.rebalance.model_copy(update={"members": members})

    @property
    def unrelieved(self) -> Rebalance | None:
        """The present members with the topics that no new member takes, if any."""
        taken = set(self.subscription)
        if taken.issuperset(self.sizes):
            return None
        members = {
            name: member.model_copy(
                update={
                    "subscription": [t for t in member.subscription if t not in taken]
                }
            )
            for name, member in self.rebalance.members.items()
        }
        return self.rebalance.model_copy(update={"members": members})

    @property
    def enough(self) -> int:
        """A number above which no further member changes the least peak lag.

        Then some new member has no partition in any case, and one more would have none,
        either.
        """
        taken = sum(self.sizes.get(topic, 0) for topic in set(self.subscription))
        return self.present + taken + 1

    def judged(self, rebalance: Rebalance, policy: Policy) -> dict[str, Any]:
        """Solve a group, and return the verdict."""
        rule = self.question.claim_rule
        instance = instance_of(rebalance, claim_rule=rule)
        result = self.question.solve_one(instance, policy)
        case = verify.case_of(plain_of(rebalance), claim_rule=rule.value)
        return verify.judge_case(case, plain_of(result.to_document(instance)))


def members_needed(
    rebalance: Rebalance,
    limited: Limited,
    at_most: int,
    question: PlanQuestion,
    *,
    subscription: list[str] | None = None,
) -> MembersNeeded:
    """Find the smallest number of members with an assignment within a limit.

    Parameters
    ----------
    subscription : list of str or None
        Of members that join; None: that of all members.

    Raises
    ------
    InstanceError
        If members state capacities, if they subscribe to different topics and
        ``subscription`` is None, or if there is no lag.
    """
    common = common_subscription(rebalance)
    wanted = common if subscription is None else subscription
    if wanted is None:
        reason = (
            "members subscribe to different topics: state those of new members with"
            " --subscription"
        )
        raise InstanceError(reason, subject=rebalance.group)
    served = {t for member in rebalance.members.values() for t in member.subscription}
    if unserved := sorted(set(wanted) - served):
        reason = "--subscription: no member subscribes to the topic of new members"
        raise InstanceError(reason, subject=unserved[0])
    if any(member.capacity is not None for member in rebalance.members.values()):
        reason = "the number of members is not examined for members with capacities"
        raise InstanceError(reason, subject=rebalance.group)
    group = ResizedGroup(rebalance=rebalance, subscription=wanted, question=question)
    search = _MembersSearch(group=group, limited=limited, at_most=at_most)
    return search.by_load() if limited == "load" else search.by_lag()


@dataclass(slots=True, kw_only=True)
class _MembersSearch:
    """One search; ``refuted`` are the numbers that do not suffice, ascending."""

    group: ResizedGroup
    limited: Limited
    at_most: int
    refuted: list[Refuted] = field(default_factory=list)
    undecided: int | None = None

    def by_load(self) -> MembersNeeded:
        """Search by bisection: a further member never makes the largest load larger."""
        total = sum(self.group.sizes.values())
        low = self._beyond_sum(total)
        if low is None:
            return self._none("every partition is a load of 1")
        high = (
            low if self.group.is_homogeneous else max(low, self.group.present + total)
        )
        value = self._load(high)
        if value > self.at_most:
            return self._none(
                "new members do not subscribe to topics that are too large for their"
                f" subscribers: one of these has at least {value:,} partitions"
            )
        refuting = None
        begin = low
        while low < high:
            middle = (low + high) // 2
            load = self._load(middle)
            if load > self.at_most:
                low, refuting = middle + 1, load
            else:
                high, value = middle, load
        if refuting is not None:
            self._refute(begin, high - 1, refuting, "dec-min")
        return self._found(high, value)

    def by_lag(self) -> MembersNeeded:
        """Solve one number after the other: a balance can make more members worse."""
        lags = self.group.lags
        largest = max(lags.values(), default=0)
        if largest > self.at_most:
            topic, number = max(lags, key=lambda place: lags[place])
            return self._none(f"{topic}:{number} alone has a lag of {largest:,}")
        begin = self._beyond_sum(sum(lags.values()))
        if begin is None:
            return self._none("every record is a lag of 1")
        unrelieved = self._unrelieved_lag()
        if unrelieved is not None:
            return self._none(unrelieved)
        peak = WeightedObjective.of(Objective.PEAK_LAG)
        policy = Policy(balance=self.group.question.policy.balance, objectives=(peak,))
        end = max(begin, self.group.enough) + 1
        last = min(begin + MOST_TRIED, end)
        for count in range(begin, last):
            value = self._lag(count, policy)
            if value is not None:
                return self._found(count, value)
        if last == end and self.undecided is None:
            return self._none(
                f"{last - 1:,} members do not suffice, and further ones would have no"
                " partitions"
            )
        return self._none(
            f"no assignment within the limit was found for up to {last - 1:,} members",
            status="unknown",
        )

    def _load(self, count: int) -> int:
        """Return the smallest possible largest load, checked by the judge's chains."""
        verdict = self.group.judged(self.group.of(count), STICKY)
        if verdict["verdict"] != "valid" or not verdict["figures"]["dec_min_balanced"]:
            raise InstanceError("the judge refutes the optimum", subject=count)
        loads: list[int] = verdict["figures"]["loads"]
        return max(loads, default=0)

    def _lag(self, count: int, policy: Policy) -> int | None:
        """Return the peak lag if it is within the limit; else note why it is not."""
        verdict = self.group.judged(self.group.of(count), policy)
        objectives = verdict.get("objectives", [])
        if verdict["verdict"] == "valid" and objectives:
            (peak,) = objectives
            value, bound = peak["value"], peak["bound"]
            if verdict["policy"]["balance_met"] and value <= self.at_most:
                return int(value)
            if bound > self.at_most and peak["rests_on"] in _CHECKED:
                self._refute(count, count, bound, peak["rests_on"])
                return None
        if self.undecided is None:
            self.undecided = count
        return None

    def _unrelieved_lag(self) -> str | None:
        """Return why no number of new members suffices, if they leave too much lag.

        Whatever the balance, an assignment has to give the topics that new members do
        not take to the present members, so their least peak lag is a bound.
        """
        rebalance = self.group.unrelieved
        if rebalance is None:
            return None
        verdict = self.group.judged(rebalance, _PEAK_LAG)
        if verdict["verdict"] != "valid" or not verdict.get("objectives"):
            return None
        (peak,) = verdict["objectives"]
        if peak["rests_on"] not in _CHECKED or peak["bound"] <= self.at_most:
            return None
        source = "the report of a search" if peak["rests_on"] == "search" else "terms"
        return (
            "new members do not subscribe to topics with too much lag for their"
            f" subscribers: one of these has at least {peak['bound']:,} ({source})"
        )

    def _beyond_sum(self, total: int) -> int | None:
        """Return the least number that a sum allows; None if there is none."""
        least = self.group.least
        if not total:
            return least
        if not self.at_most:
            return None
        count = -(-total // self.at_most)
        if count > least:
            self._refute(least, count - 1, -(-total // (count - 1)), "sum")
        return max(count, least)

    def _refute(self, first: int, last: int, bound: int, rests_on: str) -> None:
        before = self.refuted[-1] if self.refuted else None
        if before is not None and first <= (before.up_to or before.members):
            first = (before.up_to or before.members) + 1
        self.refuted.append(
            Refuted.known(
                members=first,
                up_to=None if last <= first else last,
                bound=bound,
                rests_on=rests_on,
            )
        )

    def _found(self, count: int, value: int) -> MembersNeeded:
        joins, leaves = self.group.names(count)
        is_proved = self.undecided is None
        return self._record(
            status="optimal" if is_proved else "feasible",
            members=count,
            at_least=None if is_proved else self.undecided,
            value=value,
            joins=joins,
            leaves=leaves,
        )

    def _none(self, reason: str, status: str = "infeasible") -> MembersNeeded:
        return self._record(status=status, reason=reason, at_least=self.undecided)

    def _record(self, **found: Any) -> MembersNeeded:
        balance = STICKY if self.limited == "load" else self.group.question.policy
        return MembersNeeded.known(
            of=self.limited,
            at_most=self.at_most,
            balance=str(balance.balance),
            present=self.group.present,
            refuted=self.refuted,
            **found,
        )


_PEAK_LAG: Final = Policy(
    balance=Balance(kind=BalanceKind.NONE),
    objectives=(WeightedObjective.of(Objective.PEAK_LAG),),
)
_CHECKED: Final = frozenset({"certificate", "terms", "search"})
"""Bases of a bound of the judge."""
