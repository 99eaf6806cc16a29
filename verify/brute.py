"""Brute force for policies: the least that is allowed, by dealing in every way.

Each topic is dealt by itself, partition by partition, to each subscriber in turn; then
every way to deal it joins every way to deal those before. Hands that are equal in all
that the policy asks about go on one heap. What is allowed is told from these by the
definitions alone: no chains, no certificates, no terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verify.case import Case, Row
from verify.enumerate import DEALS_MAX, TooLarge, plus, refuse_large
from verify.objectives import (
    Pair,
    Tally,
    at_most,
    common_capacity,
    load_vector,
    scale_of,
    scaled,
    tally_of,
    value_of,
)
from verify.policy import Policy, read_policy
from verify.room import served

HANDS_MAX = 100_000

ASKS: Mapping[str, frozenset[str]] = {
    "stickiness": frozenset({"moves"}),
    "peak-lag": frozenset({"lags"}),
    "topic-peak-lag": frozenset({"lags", "topics"}),
    "lag-spread": frozenset({"lags"}),
    "lag-deviation": frozenset({"lags"}),
    "rack": frozenset({"racks"}),
    "per-topic-spread": frozenset({"loads", "topics"}),
    "load": frozenset({"loads"}),
    "kip54-score": frozenset({"loads"}),
    "sum-of-squares": frozenset({"loads"}),
    "dec-min": frozenset({"loads"}),
    "kip54": frozenset({"loads", "topics"}),
    "per-topic": frozenset(),  # what is uneven is left out topic by topic
    "spread": frozenset({"loads"}),
    "none": frozenset(),
}
"""What hands must be told apart by, for each objective and each balance."""

Document = Mapping[str, Any]
Vector = tuple[Any, ...]  # values of all levels, the first first


class Hand(NamedTuple):
    """What is asked of one way to deal, or of several that are equal in it.

    Of a topic the amounts are those of its subscribers; of a group those of its pairs.
    """

    loads: tuple[int, ...]
    lags: tuple[int, ...]
    moves: int
    mismatches: int


class Brute:
    """Everything a policy allows of one case, and what it is worth.

    Parameters
    ----------
    text : str
        The policy.

    Raises
    ------
    TooLarge
        If more hands differ than can be looked at.
    """

    def __init__(self, case: Case, text: str) -> None:
        refuse_large(case)
        self.case = case
        self.policy = read_policy(text)
        self._asked = _asked(self.policy)
        self._even: dict[str, list[int]] = {}
        hands = [self._tally(hand) for hand in self._joined()]
        self._least_loads = min(load_vector(case, tally) for tally in hands)
        self.vectors = {self.vector(tally) for tally in hands if self.allows(tally)}

    def allows(self, tally: Tally) -> bool:
        """Tell by the definitions whether balance and budget are met."""
        case, policy = self.case, self.policy
        if policy.max_moves is not None and tally.moves > policy.max_moves:
            return False
        match policy.balance:
            case "dec-min":
                return load_vector(case, tally) == self._least_loads
            case "kip54":
                return _is_kip54(case, tally.loads)
            case "spread":
                loads = scaled(case, tally.loads).values()
                width = max(loads, default=0) - min(loads, default=0)
                return width <= (policy.most or 0) * common_capacity(case)
        return True  # per topic: what is uneven has been left out

    def allows_answer(self, tally: Tally) -> bool:
        """Tell the same of a tally from elsewhere, which may be uneven in topics."""
        even = all(
            self._shares(topic, tally) == least for topic, least in self._even.items()
        )
        return even and self.allows(tally)

    def vector(self, tally: Tally) -> Vector:
        """Return the values of all levels."""
        levels = self.policy.levels.values()
        found = [value_of(self.case, tally, level) for level in levels]
        return tuple(tuple(one) if isinstance(one, list) else one for one in found)

    def _joined(self) -> set[Hand]:
        """Deal all topics; keep amounts by member, or by topic too if asked."""
        places: dict[Pair, int] = {}
        topics = served(self.case)
        for topic in topics:
            for name in self.case.subscribers[topic]:
                places.setdefault(self._pair(name, topic), len(places))
        self._pairs = list(places)
        nothing = (0,) * len(places)
        hands = {Hand(nothing, nothing, 0, 0)}
        for topic in topics:
            mine = [self._pair(name, topic) for name in self.case.subscribers[topic]]
            at = [places[pair] for pair in mine]
            dealt = self._dealt(topic)
            _refuse_above(DEALS_MAX, len(hands) * len(dealt))
            hands = {_sum(hand, at, more) for hand in hands for more in dealt}
            _refuse_above(HANDS_MAX, len(hands))
        return hands

    def _pair(self, name: str, topic: str) -> Pair:
        return name, topic if "topics" in self._asked else ""

    def _dealt(self, topic: str) -> set[Hand]:
        """Deal one topic in every way, or in every even one if asked."""
        case, asked = self.case, self._asked
        names = case.subscribers[topic]
        nothing = (0,) * len(names)
        hands = {Hand(nothing, nothing, 0, 0)}
        for number in range(case.partitions[topic]):
            lag = case.lag[topic][number] if topic in case.lag else 0
            costs = [_cost(case, name, topic, number) for name in names]
            _refuse_above(DEALS_MAX, len(hands) * len(names))
            hands = {
                Hand(
                    plus(hand.loads, at, 1),
                    plus(hand.lags, at, lag if "lags" in asked else 0),
                    hand.moves + (moved if "moves" in asked else 0),
                    hand.mismatches + (mismatched if "racks" in asked else 0),
                )
                for hand in hands
                for at, (moved, mismatched) in enumerate(costs)
            }
        if self.policy.balance == "per-topic":
            hands = self._even_ones(topic, hands)
        if "loads" in asked:
            return hands
        return {hand._replace(loads=nothing) for hand in hands}

    def _even_ones(self, topic: str, hands: set[Hand]) -> set[Hand]:
        names = self.case.subscribers[topic]
        vectors = {loads: self._scaled(names, loads) for loads, *_ in hands}
        self._even[topic] = min(vectors.values())
        return {hand for hand in hands if vectors[hand.loads] == self._even[topic]}

    def _shares(self, topic: str, tally: Tally) -> list[int]:
        names = self.case.subscribers[topic]
        return self._scaled(names, [tally.loads.get((m, topic), 0) for m in names])

    def _scaled(self, names: Sequence[str], loads: Sequence[int]) -> list[int]:
        common, capacity = common_capacity(self.case), self.case.capacity
        pairs = zip(names, loads, strict=True)
        return sorted((n * (common // capacity[m]) for m, n in pairs), reverse=True)

    def _tally(self, hand: Hand) -> Tally:
        held = zip(self._pairs, hand.loads, hand.lags, strict=True)
        listed = [(pair, load, lag) for pair, load, lag in held if load or lag]
        return Tally(
            loads={pair: load for pair, load, _ in listed},
            lags={pair: lag for pair, _, lag in listed},
            moves=hand.moves,
            mismatches=hand.mismatches,
        )


def settle_policy(
    case: Case,
    rows: Sequence[Row],
    assignment: Document,
    *,
    complete: bool,
) -> dict[str, Any]:
    """Return what brute force says to what an answer claims of its policy.

    Parameters
    ----------
    rows : sequence of (member, topic, numbers)
        What is assigned, none empty.
    complete : bool
        Whether it is a complete valid assignment; what is not, reaches nothing.

    Returns
    -------
    dict
        ``feasible`` : whether anything is allowed by balance and budget;
        ``allowed`` : whether the assignment is;
        ``objectives`` : of each level its ``least`` under the levels before (left out
        if nothing is allowed), whether the assignment ``reached`` it, in the levels
        before as well, and if a bound is claimed, whether ``bound_holds`` of all
        that is as good in the levels before;
        ``optimal`` : whether all levels are reached; and, if a status is claimed that
        can be wrong, ``status_holds``.

    Raises
    ------
    TooLarge
        If more hands differ than can be looked at.
    """
    brute = Brute(case, assignment["policy"])
    tally = tally_of(case, rows) if complete else None
    allowed = tally is not None and brute.allows_answer(tally)
    mine = None if tally is None else brute.vector(tally)
    optimal = allowed and mine == min(brute.vectors)
    found: dict[str, Any] = {
        "policy": assignment["policy"],
        "feasible": bool(brute.vectors),
        "allowed": allowed,
        "objectives": _levels(brute, mine, assignment, allowed=allowed),
        "optimal": optimal,
    }
    holds = {"optimal": optimal, "feasible": allowed, "infeasible": not brute.vectors}
    if assignment.get("status") in holds:
        found["status_holds"] = holds[assignment["status"]]
    return found


def _levels(
    brute: Brute, mine: Vector | None, assignment: Document, *, allowed: bool
) -> list[dict[str, Any]]:
    """Say of each level what is least, and whether that and a bound hold."""
    bounds = {one["of"]: one["bound"] for one in assignment.get("objectives", ())}
    least = min(brute.vectors, default=())
    levels = brute.policy.levels.items()
    found: list[dict[str, Any]] = []
    for place, (of, level) in enumerate(levels, start=1):
        one: dict[str, Any] = {"of": of}
        if least:
            one["least"] = _plain(least[place - 1])
        if scale_of(brute.case, level) != 1:
            one["scale"] = scale_of(brute.case, level)
        one["reached"] = allowed and (mine or ())[:place] == least[:place]
        if of in bounds:
            before = (least if mine is None else mine)[: place - 1]
            as_good = (v[place - 1] for v in brute.vectors if v[: place - 1] == before)
            one["bound_holds"] = all(at_most(bounds[of], _plain(v)) for v in as_good)
        found.append(one)
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _asked(policy: Policy) -> set[str]:
    """Return what hands must be told apart by."""
    words = [one for level in policy.levels.values() for _, one in level]
    asked = set().union(*(ASKS[word] for word in (policy.balance, *words)))
    return asked | (set() if policy.max_moves is None else {"moves"})


def _refuse_above(limit: int, ways: int) -> None:
    if ways > limit:
        reason = f"more than {limit} ways to deal that differ in what the policy asks"
        raise TooLarge(f"too large for brute force: {reason}")


def _cost(case: Case, name: str, topic: str, number: int) -> tuple[int, int]:
    """Return whether a partition moves, and whether its racks are elsewhere."""
    mine = number in case.owned.get((name, topic), ())
    rivals = case.claimants.get(topic, {}).get(number, ())
    racks = case.replica_racks[topic][number] if topic in case.replica_racks else ()
    rack = case.member_rack.get(name)
    far = bool(racks) and rack is not None and rack not in racks
    return int(len(rivals) == 1 and not mine), int(far)


def _is_kip54(case: Case, held: Mapping[Pair, int]) -> bool:
    """Tell whether nobody could give one to a subscriber with two fewer."""
    loads = dict.fromkeys(case.wants, 0)
    for (name, _), count in held.items():
        loads[name] += count
    return all(
        loads[name] - loads[other] <= 1
        for (name, topic), count in held.items()
        for other in (case.subscribers[topic] if count else ())
    )


def _sum(hand: Hand, at: Sequence[int], more: Hand) -> Hand:
    loads, lags = list(hand.loads), list(hand.lags)
    for place, load, lag in zip(at, more.loads, more.lags, strict=True):
        loads[place] += load
        lags[place] += lag
    moves, mismatches = hand.moves + more.moves, hand.mismatches + more.mismatches
    return Hand(tuple(loads), tuple(lags), moves, mismatches)
