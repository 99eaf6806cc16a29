"""Slow reference of the sticky assignor's general path, with upstream's bookkeeping.

It includes fixed members, the early end at balance, the records of movements by pairs
of members, and the revert, as the published algorithm does; the fast implementation
omits them, because they do not change the result.
"""

from __future__ import annotations

from tests.references.heuristics import (
    Held,
    believed,
    constrained_sticky,
    flat,
    give,
    java,
    nobody,
    size,
    topics_in_order,
    wants,
)
from tests.references.range_racks import matches
from tests.references.sticky_racks import Quotas, near_only, racks_tell
from tests.support.shapes import Document

TP = tuple[str, int]
HASHED = 12
"""Entries of a Java hash table before it grows beyond 16 buckets."""


class Endless(Exception):  # noqa: N818
    """The loop of moves has gone on for longer than any that ends."""


def is_mixed(document: Document) -> bool:
    topics, members = document["topics"], document["members"].values()
    return len({frozenset(topics.keys() & m["subscription"]) for m in members}) > 1


def sticky(document: Document, *, current_only: bool = False) -> Held:
    if not is_mixed(document):
        if document["members"] and racks_tell(document):
            return Quotas(document, current_only=current_only).build()
        return constrained_sticky(document, current_only=current_only)
    return General(document, current_only=current_only).build()


class General:
    """One rebalance.

    ``as_upstream`` does not ask whether a move back evens out, and of several that
    might go back moves the one that Java's hashes put first. ``ways`` tells which of
    the two has made a difference.
    """

    def __init__(
        self,
        document: Document,
        *,
        current_only: bool = False,
        as_upstream: bool = False,
        most_moves: int = 100_000,
    ) -> None:
        self.document, self.as_upstream = document, as_upstream
        self.moves_left = most_moves
        self.reverted = False
        self.ways: set[str] = set()
        self.subscribers = {
            topic: [m for m in document["members"] if wants(document, m, topic)]
            for topic in topics_in_order(document)
        }
        owned = believed(document, current_only=current_only)
        self.previous = self._previous()
        self.must_revoke = self._must_revoke(current_only)
        self.has_racks = racks_tell(document)
        if self.has_racks:
            near = near_only(document, owned)
            self.must_revoke |= any(flat(near[m]) != flat(owned[m]) for m in owned)
            owned = near
        self.has = {m: set(flat(mine)) for m, mine in owned.items()}
        self.moved: dict[TP, tuple[str, str]] = {}

    def build(self) -> Held:
        served = [t for t in self.subscribers if self.subscribers[t]]
        served.sort(key=lambda t: (len(self.subscribers[t]), java(t)))
        every = [(t, n) for t in served for n in range(size(self.document, t))]
        free = [tp for tp in every if self._holder(tp) is None]
        is_first = not any(self.has.values())
        for near in [True, False] if self.has_racks else [False]:
            self._give_out(free, near=near)
        self._balance(every, free, is_first=is_first)
        held = nobody(self.document)
        for m, mine in self.has.items():
            for topic, number in mine:
                give(held, m, topic, number)
        return held

    def _give_out(self, free: list[TP], *, near: bool) -> None:
        for tp in free:
            takers = [
                m
                for m in self.has
                if m in self.subscribers[tp[0]]
                and (not near or matches(self.document, m, *tp))
            ]
            if takers and self._holder(tp) is None:
                self.has[min(takers, key=self._rank)].add(tp)

    def _balance(self, every: list[TP], free: list[TP], *, is_first: bool) -> None:
        fixed = {m: self.has.pop(m) for m in list(self.has) if self._is_fixed(m)}
        every = [tp for tp in every if len(self.subscribers[tp[0]]) > 1]
        before = {m: set(mine) for m, mine in self.has.items()}
        if not self.must_revoke:
            self._move_while_it_helps([tp for tp in free if tp in every])
        has_moved = self._move_while_it_helps(every)
        if not is_first and has_moved and score(self.has) >= score(before):
            self.has, self.reverted = before, True
        self.has |= fixed

    def _move_while_it_helps(self, partitions: list[TP]) -> bool:
        has_moved = was_modified = False
        while not has_moved or was_modified:
            was_modified = False
            for tp in partitions:
                if self._is_balanced():
                    break
                holder = self._holder(tp)
                assert holder is not None
                takers = [m for m in self.has if m in self.subscribers[tp[0]]]
                least = min(takers, key=self._rank)
                back = self.previous.get(tp)
                for taker in ([back] if back is not None else []) + [least]:
                    if len(self.has[holder]) > len(self.has[taker]) + 1:
                        self._move(self._actual(tp, holder, taker), taker)
                        has_moved = was_modified = True
                        break
            if not was_modified:
                break
        return has_moved

    def _actual(self, tp: TP, holder: str, taker: str) -> TP:
        origin = self.moved[tp][0] if tp in self.moved else holder
        reverse = [
            other
            for other, pair in self.moved.items()
            if pair == (taker, origin) and other[0] == tp[0]
        ]
        if not reverse:
            return tp
        evens_out = len(self.has[origin]) > len(self.has[taker]) + 1
        if not self.as_upstream:
            return min(reverse) if evens_out else tp
        first = first_by_hash(reverse)
        self.ways |= {"no evening out"} if not evens_out else set()
        self.ways |= {"tie by hash"} if first != min(reverse) else set()
        return first

    def _move(self, tp: TP, taker: str) -> None:
        self.moves_left -= 1
        if self.moves_left < 0:
            raise Endless
        holder = self._holder(tp)
        assert holder is not None
        source = self.moved.pop(tp, (holder, ""))[0]
        if source != taker:
            self.moved[tp] = (source, taker)
        self.has[holder].remove(tp)
        self.has[taker].add(tp)

    def _is_balanced(self) -> bool:
        loads = [len(mine) for mine in self.has.values()]
        return max(loads) - min(loads) <= 1 or not any(
            len(mine) > len(self.has[taker]) + 1
            for mine in self.has.values()
            for topic, _ in mine
            for taker in self.subscribers[topic]
        )

    def _is_fixed(self, member: str) -> bool:
        topics = [t for t in self.subscribers if member in self.subscribers[t]]
        most = sum(size(self.document, t) for t in topics)
        return len(self.has[member]) == most and all(
            len(self.subscribers[topic]) < 2 for topic, _ in self.has[member]
        )

    def _holder(self, tp: TP) -> str | None:
        return next((m for m, mine in self.has.items() if tp in mine), None)

    def _rank(self, member: str) -> tuple[int, list[int]]:
        return len(self.has[member]), java(member)

    def _previous(self) -> dict[TP, str]:
        """Of the claims behind the newest generation, the newest of each partition."""
        members = self.document["members"]
        generation = {m: members[m].get("generation", -1) for m in members}
        older = [m for m in members if generation[m] < max(generation.values())]
        older.sort(key=lambda m: (-generation[m], java(m)))
        found: dict[TP, str] = {}
        for m in older:
            for topic, numbers in members[m].get("owned", {}).items():
                for number in numbers if m in self.subscribers.get(topic, []) else []:
                    if number < size(self.document, topic):
                        found.setdefault((topic, number), m)
        return found

    def _must_revoke(self, current_only: bool) -> bool:
        """Let everybody want everything: would somebody own what it does not want."""
        members = self.document["members"]
        topics = list(self.document["topics"])
        eager = {m: member | {"subscription": topics} for m, member in members.items()}
        owned = believed(self.document | {"members": eager}, current_only=current_only)
        return any(
            self.subscribers[topic] and m not in self.subscribers[topic]
            for m, mine in owned.items()
            for topic in mine
        )


def first_by_hash(partitions: list[TP]) -> TP:
    """Return what a ``HashSet<TopicPartition>`` has first, of a dozen at most."""
    assert len(partitions) <= HASHED

    def bucket(tp: TP) -> int:
        topic = 0
        for unit in java(tp[0]):
            topic = (31 * topic + unit) & 0xFFFFFFFF
        spread = (31 * (31 + tp[1]) + topic) & 0xFFFFFFFF
        return (spread ^ spread >> 16) & 15

    return min(partitions, key=bucket)


def score(has: dict[str, set[TP]]) -> int:
    loads = [len(mine) for mine in has.values()]
    return sum(abs(a - b) for a in loads for b in loads) // 2
