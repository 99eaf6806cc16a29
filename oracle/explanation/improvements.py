"""Statements on how an assignment could be better, each checked by counting.

The judge counts the assignment at the beginning and after the last transfer; the gain
of each statement is the difference of two counts, and it stands only if it is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from oracle.explanation.explained_case import (
    ExplainedCase,
    Members,
    Verdict,
    load_of,
    require,
)
from oracle.explanation.improvement_records import (
    BetterAssignment,
    ClaimExchange,
    Gap,
    ImprovingChain,
    MovesGivenBack,
    PeakMember,
    Unbalanced,
    UnevenTopic,
)
from oracle.explanation.running_count import RunningCount
from oracle.explanation.statement_records import Gain, LagRecord, TransferRecord
from oracle.explanation.statements import Statements
from rebalance import Assignment
from solver import BalanceKind
from solver.explanation import Balancing, Chain, Exchange

LISTED: Final = 10
"""Statements of one kind in a document."""
TRANSFERS_LISTED: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Improvements:
    """Statements on how an assignment could be better, which are added to ``found``.

    ``members`` and ``assignment`` are its two forms, ``verdict`` is the judge's.
    """

    about: ExplainedCase
    found: Statements
    members: Members
    assignment: Assignment
    verdict: Verdict

    @property
    def count(self) -> RunningCount:
        """A new count of the assignment."""
        moves = self.verdict["figures"]["moves"]
        return RunningCount(self.about.case, self.members, moves)

    def add_balance(self, balancing: Balancing) -> Improvements:
        """State the fewest transfers to dec-min balance, then the chains one by one.

        Returns the improvements of the balanced assignment.
        """
        balanced = self.about.members_of(balancing.assignment)
        before, after = self.verdict["figures"], self.about.judge(balanced)
        chains = balancing.chains
        with self.found.checking():
            require(
                after["verdict"] == "valid", "the chains lead to a valid assignment"
            )
            require(after["figures"]["dec_min_balanced"], "the chains balance")
            require(not before["dec_min_balanced"], "it is not balanced")
            self.found.add(
                Unbalanced(
                    text="",
                    chains=len(chains),
                    transfers=sum(map(len, chains)),
                    loads=before["loads"],
                    best_loads=after["figures"]["loads"],
                    gain=_gain(self.about, before, after["figures"]),
                )
            )
        self._add_chains(_by_route(self.about, chains))
        assignment = balancing.assignment
        return replace(self, members=balanced, assignment=assignment, verdict=after)

    def _add_chains(self, routes: Sequence[list[Chain]]) -> None:
        """State chains, those with one route together."""
        about, count = self.about, self.count
        listed, score = routes[:LISTED], self.verdict["figures"]["kip54_score"]
        with self.found.checking(len(listed)):
            records = []
            for of_route in listed:
                transfers = list(map(about.records, of_route))
                record, score = _chains(about, count, transfers, score)
                records.append(record)
            _require_counted(about, count)
            self.found.add(*records)
        self.found.count_more("chain", len(routes) - LISTED)

    def add_exchanges(self, exchanges: Sequence[Exchange]) -> None:
        """State each exchange that keeps more claims at the same balance."""
        about, count, listed = self.about, self.count, exchanges[:LISTED]
        with self.found.checking(len(listed)):
            records = [_exchange(about, count, exchange) for exchange in listed]
            figures = _require_counted(about, count)
            require(figures["dec_min_balanced"], "it stays balanced")
            self.found.add(*records)
        self.found.count_more("exchange", len(exchanges) - LISTED)

    def add_gap(self, at: int) -> None:
        """State an objective whose best value is lower, as the judge has counted both.

        ``at`` is its place; the objectives before it have equal values.
        """
        about, verdicts = self.about, (self.verdict, self.about.best_verdict)
        mine, best = (judged["objectives"] for judged in verdicts)
        with self.found.checking():
            require(best[at]["value"] < mine[at]["value"], "the best value is lower")
            pairs = list(zip(mine[:at], best[:at], strict=True))
            are_equal = all(a["value"] == b["value"] for a, b in pairs)
            require(are_equal, "those before equal")
            gap = Gap.known(
                text="",
                of=mine[at]["of"],
                after=[objective["of"] for objective in mine[:at]],
                value=mine[at]["value"],
                best=best[at]["value"],
                is_least=best[at].get("bound") == best[at]["value"],
                same_balance=about.policy.balance.kind is BalanceKind.DEC_MIN,
                scale=mine[at].get("scale"),
            )
            self.found.add(gap)

    def add_needless(self, fewest: int) -> None:
        """State how many moves of a dec-min assignment are needless."""
        moves = self.verdict["figures"]["moves"]
        with self.found.checking():
            require(fewest < moves, "fewer moves are enough")
            gap = Gap(
                text="", of="stickiness", value=moves, best=fewest, same_balance=True
            )
            self.found.add(gap)

    def add_exceeded_budget(self) -> None:
        """State how many moves the budget allows."""
        budget = self.verdict["evidence"]["budget"]
        moves, most = budget["moves"], budget["max_moves"]
        with self.found.checking():
            self.found.add(Gap(text="", of="max-moves", value=moves, best=most))

    def add_given_back(self, transfers: Sequence[tuple[int, int, int]]) -> None:
        """State which moves to give back, so that budget and balance are met.

        The judge counts the assignment after all of them.
        """
        about, count = self.about, self.count
        with self.found.checking():
            records, before = about.records(transfers), count.moves
            count.apply(records)
            after = about.judge(count.members, policy=str(about.policy))
            met = after["policy"]
            require(after["verdict"] == "valid", "it is valid")
            require(met["balance_met"] and met["budget_met"], "both are met")
            require(after["figures"]["moves"] == count.moves, "the moves are counted")
            back = [record for record in records if _is_to_owner(about, record)]
            require(len(back) >= before - count.moves > 0, "some return to owners")
            self.found.add(
                MovesGivenBack(
                    text="",
                    moves=[before, count.moves],
                    budget=self.verdict["evidence"]["budget"]["max_moves"],
                    count=len(records),
                    transfers=records[:TRANSFERS_LISTED],
                    returned=[t for t in records[:TRANSFERS_LISTED] if t in back],
                )
            )

    def add_peaks(self, chains: Sequence[Chain]) -> None:
        """State the members with the peak lag, and the transfers that each could make.

        Nothing is stated unless all of it together lowers the objective, within the
        balance and the move budget.
        """
        if not chains:
            return
        about, count = self.about, self.count
        listed = [about.records(chain) for chain in chains]
        with self.found.checking(len(listed)):
            for transfers in listed:
                count.apply(transfers)
        judged = about.judge(count.members, policy=str(about.policy))
        before, after = map(_values_before_peak, (self.verdict, judged))
        if before is None or after is None or not after < before:
            return
        count = self.count
        with self.found.checking(len(listed[:LISTED])):
            self.found.add(*[_peak(count, transfers) for transfers in listed[:LISTED]])
        self.found.count_more("peak", len(listed) - LISTED)

    def add_difference(self, transfers: Sequence[tuple[int, int, int]]) -> None:
        """State the transfers that lead to the optimum."""
        with self.found.checking():
            records, count = self.about.records(transfers), self.count
            count.apply(records)
            best = self.about.best_document["members"]
            reached = {
                name: {topic: sorted(numbers) for topic, numbers in held.items()}
                for name, held in best.items()
            }
            require(count.members == reached, "the transfers lead to the optimum")
            listed = records[:TRANSFERS_LISTED]
            self.found.add(
                BetterAssignment(text="", count=len(records), transfers=listed)
            )

    def add_transfer(self) -> None:
        """State the transfer that KIP-54 asks for, as the judge has found it."""
        evidence = self.verdict["evidence"]["kip54_balanced"]
        with self.found.checking():
            transfer = TransferRecord.known(
                topic=evidence["topic"],
                partition=evidence["partition"],
                giver=evidence["member"],
                to=evidence["to"],
            )
            count, score = self.count, self.verdict["figures"]["kip54_score"]
            loads = count.loads[transfer.giver] - count.loads[transfer.to]
            require(loads >= 2, "the loads differ by two")
            chain, _ = _chains(self.about, count, [[transfer]], score, by_count=True)
            self.found.add(chain)

    def add_uneven_topic(self) -> None:
        """State a topic that is not even, as the judge has found it."""
        evidence, about = self.verdict["evidence"]["balance"], self.about
        with self.found.checking():
            topic, names = evidence["topic"], (evidence["member"], evidence["to"])
            loads = [len(self.members[name].get(topic, ())) for name in names]
            require(topic in about.case.wants[names[1]], "the receiver subscribes")
            require(loads[0] > 0, "the giver holds a partition")
            if about.instance.capacity is None:
                require(loads[0] - loads[1] >= 2, "the loads differ by two")
            giver, to = names
            self.found.add(
                UnevenTopic(text="", topic=topic, member=giver, to=to, loads=loads)
            )


def _is_to_owner(about: ExplainedCase, transfer: TransferRecord) -> bool:
    """Return whether a transfer returns the partition to its owner."""
    owned = about.case.owned.get((transfer.to, transfer.topic), ())
    return transfer.partition in owned


def _by_route(about: ExplainedCase, chains: Sequence[Chain]) -> list[list[Chain]]:
    """Group the chains with the same topics and members, in order."""
    topic = about.instance.partition_topic
    routes: dict[tuple[tuple[int, int, int], ...], list[Chain]] = {}
    for chain in chains:
        route = tuple((int(topic[t.partition]), t.giver, t.receiver) for t in chain)
        routes.setdefault(route, []).append(chain)
    return list(routes.values())


def _chains(
    about: ExplainedCase,
    count: RunningCount,
    chains: list[list[TransferRecord]],
    score: int,
    *,
    by_count: bool = False,
) -> tuple[ImprovingChain, int]:
    """Apply chains of one route, each of which improves the loads.

    Returns their statement, and the new balance score. Sorted vectors that differ in
    two members compare as the loads of these two. ``by_count``: capacities do not
    matter (KIP-54).
    """
    ends = (chains[0][0].giver, chains[0][-1].to)
    loads = [count.loads[name] for name in ends]
    figures = {"kip54_score": score, "moves": count.moves}
    for transfers in chains:
        ratios = count.ratios(ends)
        count.apply(transfers)
        require(by_count or count.ratios(ends) < ratios, "it improves the balance")
    changed = {"kip54_score": count.balance_score(), "moves": count.moves}
    record = ImprovingChain(
        text="",
        chains=len(chains),
        transfers=[transfer for transfers in chains for transfer in transfers],
        loads=loads,
        gain=_gain(about, figures, changed),
    )
    return record, changed["kip54_score"]


def _exchange(
    about: ExplainedCase, count: RunningCount, exchange: Exchange
) -> ClaimExchange:
    """Apply an exchange that keeps the balance; return the statement."""
    transfers = about.records(exchange.transfers)
    ends = (transfers[0].giver, transfers[-1].to)
    ratios, moves = count.ratios(ends), count.moves
    count.apply(transfers)
    require(count.ratios(ends) == ratios, "the balance is the same")
    gain = moves - count.moves
    require(gain == exchange.fewer_moves > 0, "it keeps more claims")
    restored = [transfer for transfer in transfers if _is_to_owner(about, transfer)]
    return ClaimExchange(
        text="", transfers=transfers, restored=restored, gain=Gain(moves=gain)
    )


def _peak(count: RunningCount, transfers: list[TransferRecord]) -> PeakMember:
    """Apply the exchange of a member with the peak lag; return the statement."""
    first, receiver = transfers[0].giver, transfers[0].to
    names, members = {first, receiver}, count.members
    lag, before = count.lag(first), max(map(count.lag_ratio, names))
    require(before == count.lag_ratio(first), "the first member has more lag")
    count.apply(transfers)
    require(max(map(count.lag_ratio, names)) < before, "the larger lag decreases")
    return PeakMember(
        text="",
        member=first,
        load=load_of(members, first),
        partitions=_largest(count, members, first),
        transfers=transfers,
        lags=[lag, count.lag(first), count.lag(receiver)],
    )


def _require_counted(about: ExplainedCase, count: RunningCount) -> Mapping[str, Any]:
    """Have the judge count the end, and compare."""
    verdict = about.judge(count.members)
    figures: Mapping[str, Any] = verdict["figures"]
    require(verdict["verdict"] == "valid", "the transfers lead to a valid assignment")
    require(figures["moves"] == count.moves, "the moves are counted")
    require(figures["kip54_score"] == count.balance_score(), "the score is counted")
    return figures


def _gain(
    about: ExplainedCase, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Gain:
    """Subtract the figures; Kafka's score does not count with capacities."""
    less = {name: before[name] - after[name] for name in ("kip54_score", "moves")}
    if about.instance.capacity is not None:
        del less["kip54_score"]
    return Gain(**less)


def _values_before_peak(verdict: Verdict) -> list[Any] | None:
    """Return the values up to peak lag, if the assignment meets the constraints."""
    policy = verdict["policy"]
    if not (policy["balance_met"] and policy["budget_met"]):
        return None
    names = [objective["of"] for objective in verdict["objectives"]]
    end = names.index("peak-lag") + 1
    return [objective["value"] for objective in verdict["objectives"][:end]]


def _largest(count: RunningCount, members: Members, name: str) -> list[LagRecord]:
    lag = count.case.lag
    listed = [
        LagRecord(topic=topic, partition=number, lag=lag[topic][number])
        for topic, numbers in sorted(members[name].items())
        if topic in lag
        for number in numbers
    ]
    return sorted(listed, key=lambda record: -record.lag)[:LISTED]
