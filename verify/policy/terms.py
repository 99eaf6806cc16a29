"""Terms of a bound: each proves a value that no assignment is below.

A *term* is one argument (docs/bounds.md). Whatever integers it holds, an accepted term
is true of all assignments in the feasible region of the balance. Values are in units of
1 / scale; peak lag is at most T when unit * lag <= T for every member, where unit =
scale / capacity is an integer.

``zero``. No value is below 0, and no load in a list of them.

``average``. Partitions for which only some members are eligible are held by these, so
these have at least the lag of those partitions together. With peak lag T each of them
has at most T * capacity / scale. (Over all members, the mean; otherwise the
densest-subset bound.)

``packing``. Give each partition a weight, at least 0, by where its lag is among some
steps. Some member holds its share of all weight or more, that is U / m rounded up, of U
in all, m the members eligible for any of it. So its lag is at least the least lag of
any partitions of that weight, a knapsack; how many it must hold does not matter.

``crowd``, ``topic-crowd``: `verify.policy.pigeonhole`.

``topic-peak-lag`` is a sum over topics. A term for it is about one topic, as if there
were no other; of each topic the largest counts, and these are summed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping

from verify.case import Case
from verify.policy.feasible_region import Region, region_of_topic
from verify.policy.notation import LOAD, PEAK_LAG, TOPIC_PEAK_LAG, Level
from verify.policy.objectives import Value, common_capacity
from verify.policy.pigeonhole import Reason, Term, compared, crowd_fails, lags_of_topic
from verify.policy.work import STEPS_PER_ITEM, Work


def term_fails(
    case: Case, region: Region, level: Level, term: Term, work: Work
) -> Reason | None:
    """Return why a term does not prove its bound for a level, or None."""
    kind = term["kind"]
    if kind == "zero":
        return compared(term, 0)
    if kind not in _KINDS or level not in {PEAK_LAG, TOPIC_PEAK_LAG}:
        return {"fails": "kind"}
    unknown = _unknown_name(case, term)
    if unknown is not None:
        return unknown
    if level == TOPIC_PEAK_LAG:
        if len(term.get("topics", ())) != 1:
            return {"fails": "topics"}
        region = region_of_topic(case, region, term["topics"][0])
    pairs = sum(case.partitions[t] + len(who) for t, who in region.eligible.items())
    others = len(case.in_play) + len(case.partitions)  # passed over, much quicker
    refused = work.refuse(STEPS_PER_ITEM * pairs + others // STEPS_PER_ITEM)
    return refused or _KINDS[kind](case, region, term, work)


def together(case: Case, level: Level, terms: Iterable[Term]) -> Value | None:
    """Return the bound that accepted terms prove together; None for none."""
    most: dict[str, int] = {}
    for term in terms:
        about = (term.get("topics") or [""])[0] if level == TOPIC_PEAK_LAG else ""
        most[about] = max(term["bound"], most.get(about, term["bound"]))
    if not most:
        return None
    return [0] * len(case.in_play) if level == LOAD else sum(most.values())


def _unknown_name(case: Case, term: Term) -> Reason | None:
    """Return the first member or topic of a term that does not exist."""
    for part, known in (("members", case.wants), ("topics", case.partitions)):
        for name in term.get(part, ()):
            if name not in known:
                return {"fails": part, part.removesuffix("s"): name}
    return None


def _average_fails(case: Case, region: Region, term: Term, _: Work) -> Reason | None:
    everyone = {name for eligible in region.eligible.values() for name in eligible}
    members = set(term.get("members", everyone))
    topics = set(term.get("topics", region.eligible))
    capacity = sum(case.capacity[name] for name in members)
    lag = sum(
        sum(case.lag.get(topic, ()))
        for topic, eligible in region.eligible.items()
        if topic in topics and members.issuperset(eligible)
    )
    return compared(term, -(-common_capacity(case) * lag // max(1, capacity)))


def _packing_fails(case: Case, region: Region, term: Term, work: Work) -> Reason | None:
    """Return why the least lag of a share of all weight is below a bound, or None."""
    steps = [(-1, 0), *sorted((step[0], step[1]) for step in term.get("steps", ()))]
    starts = [least for least, _ in steps]
    topics = set(term.get("topics", region.eligible))
    items: list[tuple[int, int]] = []
    members: set[str] = set()
    for topic, eligible in region.eligible.items():
        lags = lags_of_topic(case, topic) if topic in topics else ()
        weighted = [(steps[bisect_right(starts, lag) - 1][1], lag) for lag in lags]
        mine = [(weight, lag) for weight, lag in weighted if weight]
        items += mine
        members |= set(eligible if mine else ())
    if not items:
        return compared(term, 0)
    share = -(-sum(weight for weight, _ in items) // len(members))
    refused = work.refuse(share * len(items))
    if refused is not None:
        return refused
    unit = common_capacity(case) // max(case.capacity[name] for name in members)
    return compared(term, unit * _lightest(items, share))


def _lightest(items: Iterable[tuple[int, int]], share: int) -> int:
    """Return the least lag of partitions of weight ``share`` or more (a knapsack)."""
    items = sorted(items)
    beyond = 1 + sum(lag for _, lag in items)
    least = [0] + [beyond] * share  # by weight
    for weight, lag in items:
        first = min(weight, share) + 1
        pairs = zip(least[first:], least[1 : share - first + 2], strict=True)
        # Comparisons take a third of the time of min().
        least[1:] = [
            *[lag if lag < n else n for n in least[1:first]],  # noqa: FURB136
            *[n + lag if n + lag < known else known for known, n in pairs],  # noqa: FURB136
        ]
    return least[share]


_KINDS: Mapping[str, Callable[[Case, Region, Term, Work], Reason | None]] = {
    "average": _average_fails,
    "crowd": crowd_fails,
    "topic-crowd": crowd_fails,
    "packing": _packing_fails,
}
