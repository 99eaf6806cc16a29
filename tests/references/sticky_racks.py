"""Slow reference of the sticky assignor with racks (KIP-881), with lists.

Shares no code with ``heuristics``.
"""

from __future__ import annotations

from tests.references.heuristics import (
    Held,
    believed,
    flat,
    give,
    java,
    nobody,
    size,
    topics_in_order,
    wants,
)
from tests.references.range_racks import matches, racks_of
from tests.support.shapes import Document

TP = tuple[str, int]


def racks_tell(document: Document) -> bool:
    """Return whether members and replicas share a rack and replicas' racks differ."""
    members = document["members"]
    served = [
        (topic, n)
        for topic in document["topics"]
        for n in range(size(document, topic))
        if any(wants(document, m, topic) for m in members)
    ]
    each = [racks_of(document, *tp) for tp in served]
    everywhere = set().union(*each)
    near = {member["rack"] for member in members.values() if member.get("rack")}
    return bool(near & everywhere) and any(racks != everywhere for racks in each)


def near_only(document: Document, owned: Held) -> Held:
    """Remove owners without a nearby replica."""
    return {
        m: {t: [n for n in mine[t] if matches(document, m, t, n)] for t in mine}
        for m, mine in owned.items()
    }


def is_on_rack(document: Document, member: str, tp: TP) -> bool:
    rack = document["members"][member].get("rack")
    return bool(rack) and rack in racks_of(document, *tp)


class Quotas:
    """Equal subscriptions: keep in the rack, assign in the rack, then the rest."""

    def __init__(self, document: Document, *, current_only: bool = False) -> None:
        self.document = document
        self.owned = believed(document, current_only=current_only)
        self.members = sorted(document["members"], key=java)
        self.held = nobody(document)
        self.open = [
            (topic, n)
            for topic in topics_in_order(document)
            if wants(document, self.members[0], topic)
            for n in range(size(document, topic))
        ]
        self.quota, self.n_over = divmod(len(self.open), len(self.members))
        self.under: list[str] = []
        self.exactly: list[str] = []

    def build(self) -> Held:
        self._keep()
        self.open.sort(key=self._n_near)  # stable: else by topic and number
        self._deal_near()
        self._deal_rest()
        return self.held

    def _give(self, member: str, tp: TP) -> int:
        give(self.held, member, *tp)
        self.open.remove(tp)
        return len(flat(self.held[member]))

    def _n_near(self, tp: TP) -> int:
        return sum(is_on_rack(self.document, m, tp) for m in self.members)

    def _keep(self) -> None:
        near = near_only(self.document, self.owned)
        for m in self.members:
            mine = sorted(flat(near[m]), key=lambda tp: (tp[1], java(tp[0])))
            if len(mine) < self.quota:
                self.under.append(m)
            elif len(mine) > self.quota and self.n_over > 0:
                self.n_over -= 1
                mine = mine[: self.quota + 1]
            else:
                mine = mine[: self.quota]
                self.exactly.append(m)
            for tp in mine:
                self._give(m, tp)

    def _deal_near(self) -> None:
        turn = 0
        for tp in list(self.open):
            around = [*self.under[turn:], *self.under[:turn]]
            for m in around:
                if is_on_rack(self.document, m, tp):
                    turn = self.under.index(m)
                    if self._give(m, tp) == self.quota:
                        self.under.remove(m)
                        self.exactly.append(m)
                    else:
                        turn += 1
                    turn %= max(1, len(self.under))
                    break
            else:
                for m in self.exactly if self.n_over else []:
                    if is_on_rack(self.document, m, tp):
                        self._give(m, tp)
                        self.exactly.remove(m)
                        self.n_over -= 1
                        break

    def _deal_rest(self) -> None:
        while self.under:
            for m in list(self.under):
                if self._give(m, self.open[0]) == self.quota:
                    self.under.remove(m)
                    self.exactly.append(m)
        for tp in list(self.open):
            self._give(self.exactly.pop(0), tp)
