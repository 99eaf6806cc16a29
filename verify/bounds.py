"""What no assignment is below: the terms of a bound, added up from the documents.

A *term* is one argument. Whatever integers it holds, what is accepted here is true of
all assignments that keep to the room of the balance (`verify.room`). Values are in
units of 1 / scale; peak lag is at most T when unit * lag <= T for every member, where
unit = scale / capacity is a whole number.

``zero``. No value is below 0, and no load in a list of them.

``average``. Partitions whose seats are all among some members are held by these, so
together they are at least as much behind as those partitions are. With peak lag T each
of them is behind by at most T * capacity / scale.

``crowd``, ``topic-crowd``, ``company``, ``packing``. See `verify.crowds`.

``duals``. Give each member a weight, at least 0, and a price. Then

    T * sum of weights  >=  sum over members of weight * unit * lag
        =  sum over partitions of (weight * unit * lag + price), of who holds them,
           less the sum over members of price * load
        >=  sum over partitions of the least such number of all their seats,
            less the most that prices * loads can be within the limits.

Prices may be told topic by topic for members whose limits are.

``topic-peak-lag`` is a sum over topics. A term for it speaks of one topic, as if there
were no other; of each topic the largest counts, and these add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from verify.case import Case
from verify.crowds import Reason, Term, company, compared, crowd, lags_of, packing
from verify.objectives import Value, common_capacity
from verify.policy import Level
from verify.room import Room, dearest, of_topic

Prices = Mapping[str, int | Mapping[str, int]]
Line = tuple[int, int]  # slope, offset

LOAD: Level = ((1, "load"),)
PEAK_LAG: Level = ((1, "peak-lag"),)
TOPIC_PEAK_LAG: Level = ((1, "topic-peak-lag"),)


def term_fails(case: Case, room: Room, level: Level, term: Term) -> Reason | None:
    """Return why a term does not prove its bound for a level, or None."""
    kind = term["kind"]
    if kind == "zero":
        return compared(term, 0)
    if kind not in _KINDS or level not in {PEAK_LAG, TOPIC_PEAK_LAG}:
        return {"fails": "kind"}
    stranger = _stranger(case, term)
    if stranger is not None:
        return stranger
    if level == TOPIC_PEAK_LAG:
        if len(term.get("topics", ())) != 1:
            return {"fails": "topics"}
        room = of_topic(case, room, term["topics"][0])
    return _KINDS[kind](case, room, term)


def together(case: Case, level: Level, terms: Iterable[Term]) -> Value | None:
    """Return what terms that hold prove together; None for none."""
    most: dict[str, int] = {}
    for term in terms:
        about = (term.get("topics") or [""])[0] if level == TOPIC_PEAK_LAG else ""
        most[about] = max(term["bound"], most.get(about, term["bound"]))
    if not most:
        return None
    return [0] * len(case.in_play) if level == LOAD else sum(most.values())


def _stranger(case: Case, term: Term) -> Reason | None:
    """Return who or what a term names that there is not."""
    for part in ("members", "weight", "price"):
        for name in term.get(part, ()):
            if name not in case.wants:
                return {"fails": part, "member": name}
    for topic in term.get("topics", ()):
        if topic not in case.partitions:
            return {"fails": "topics", "topic": topic}
    return None


def _average(case: Case, room: Room, term: Term) -> Reason | None:
    seated = {name for seats in room.seats.values() for name in seats}
    members = set(term.get("members", seated))
    topics = set(term.get("topics", room.seats))
    capacity = sum(case.capacity[name] for name in members)
    behind = sum(
        sum(case.lag.get(topic, ()))
        for topic, seats in room.seats.items()
        if topic in topics and members.issuperset(seats)
    )
    return compared(term, -(-common_capacity(case) * behind // max(1, capacity)))


def _duals(case: Case, room: Room, term: Term) -> Reason | None:
    weight, price = term.get("weight", {}), term.get("price", {})
    together = sum(weight.values())
    if not together:
        return {"fails": "weight"}
    common = common_capacity(case)
    total = 0
    for pool in room.pools:
        if len(pool.topics) > 1:
            listed = [m for m in pool.limits if isinstance(price.get(m), Mapping)]
            if listed:
                return {"fails": "price", "member": listed[0]}
        ask = _of_topic(price, pool.topics[0])
        total -= dearest(pool.limits, ask, pool.units)
        for topic in pool.topics:
            prices = _of_topic(price, topic)
            lines = {
                (weight.get(m, 0) * (common // case.capacity[m]), prices(m))
                for m in room.seats[topic]
            }
            total += _least_total(lines, lags_of(case, topic))
    return compared(term, -(-total // together))


def _of_topic(price: Prices, topic: str) -> Callable[[str], int]:
    """Return who asks how much for a partition of a topic; who tells none, 0."""

    def ask(name: str) -> int:
        found = price.get(name, 0)
        return found if isinstance(found, int) else found.get(topic, 0)

    return ask


def _least_total(lines: Iterable[Line], lags: Sequence[int]) -> int:
    """Add up, over all lags, the least of slope * lag + offset."""
    lowest = _lowest(lines)
    total = at = 0
    for lag in sorted(lags):
        here = lowest[at][0] * lag + lowest[at][1]
        while at + 1 < len(lowest):
            after = lowest[at + 1][0] * lag + lowest[at + 1][1]
            if after > here:
                break
            at, here = at + 1, after
        total += here
    return total


def _lowest(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that are lowest somewhere, the steepest first.

    Of three in a row the middle one is, unless the outer two cross before it.
    """
    kept: list[Line] = []
    for slope, offset in sorted(lines, key=lambda line: (-line[0], line[1])):
        if kept and kept[-1][0] == slope:
            continue
        while len(kept) > 1:
            (steep, first), (middle, second) = kept[-2:]
            if (offset - first) * (steep - middle) > (second - first) * (steep - slope):
                break
            kept.pop()
        kept.append((slope, offset))
    return kept


_KINDS: Mapping[str, Callable[[Case, Room, Term], Reason | None]] = {
    "average": _average,
    "crowd": crowd,
    "topic-crowd": crowd,
    "company": company,
    "packing": packing,
    "duals": _duals,
}
