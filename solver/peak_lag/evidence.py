"""Bounds on peak lag with the terms that prove them, in the words of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebalance import Instance
from rebalance.documents import BoundTerm, SearchProof, TermsProof
from solver.peak_lag.beside import best_beside
from solver.peak_lag.company import best_company
from solver.peak_lag.kinds import load_bounds_of
from solver.peak_lag.packing import Packing
from solver.peak_lag.setting import Setting
from solver.peak_lag.subset import densest
from solver.peak_lag.terms import average, best_crowd
from solver.peak_lag.work import Work
from solver.result import Proof

if TYPE_CHECKING:
    from solver.peak_lag.duals import Duals


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A bound and the terms it is the largest of."""

    bound: int
    terms: tuple[BoundTerm, ...]

    def joined(
        self, packing: Packing | None, topics: list[str] | None = None
    ) -> Evidence:
        """Return the same and what does not pack."""
        if packing is None or packing.bound <= self.bound:
            return self
        term = BoundTerm.model_construct(
            kind="packing",
            bound=packing.bound,
            topics=topics,
            steps=[[x, weight] for x, weight in packing.steps],
        )
        return Evidence(bound=packing.bound, terms=(*self.terms, term))

    def proof(self, bound: int, engine: str) -> Proof:
        """Return what proves a bound: these terms, or a search that went beyond."""
        if bound <= self.bound:
            return TermsProof(terms=list(self.terms))
        return SearchProof(engine=engine, terms=list(self.terms))


def evidence_of(
    instance: Instance,
    setting: Setting,
    work: Work,
    topics: list[str] | None = None,
) -> Evidence:
    """Work out what peak lag cannot be below, by counting alone.

    Parameters
    ----------
    work : Work
        Once a limit has struck, no more thresholds are tried.
    topics : list of str or None
        What the terms speak of; None: all topics.
    """
    # model_construct: what is absent is None here, and left out when written.
    term = BoundTerm.model_construct
    terms = [term(kind="average", bound=average(setting), topics=topics)]
    subset = densest(setting)
    if subset is not None and subset.bound > terms[0].bound:
        members = [instance.members[m] for m in setting.members[subset.members]]
        terms.append(
            term(kind="average", bound=subset.bound, members=members, topics=topics)
        )
    terms += [
        term(
            kind=crowd.kind,
            bound=crowd.bound,
            at_least=crowd.at_least,
            topics=topics,
        )
        for crowd in best_crowd(setting, work)
    ]
    bound = max(term.bound for term in terms)
    beside = best_beside(setting.room)
    if beside is not None and beside.bound > bound:
        bound = beside.bound
        name = instance.topics[setting.topics[beside.topic]]
        terms.append(
            term(
                kind="topic-crowd", bound=bound, at_least=beside.at_least, topics=[name]
            )
        )
    return Evidence(bound=bound, terms=tuple(terms))


def sharpened(
    known: Evidence,
    instance: Instance,
    setting: Setting,
    work: Work,
    reached: int,
    topics: list[str] | None = None,
) -> Evidence:
    """Add what takes more than counting, where it proves more.

    Parameters
    ----------
    reached : int
        Some peak that has been reached.
    """
    terms = list(known.terms)
    bound = known.bound
    company = best_company(setting)
    if company is not None and company.bound > bound:
        bound = company.bound
        terms.append(
            BoundTerm.model_construct(
                kind=company.kind, bound=bound, at_least=company.at_least, topics=topics
            )
        )
    found = _duals(setting, work) if bound < reached else None
    if found is not None and found.bound > bound:
        bound = found.bound
        names = [instance.members[m] for m in setting.members.tolist()]
        terms.append(
            BoundTerm.model_construct(
                kind="duals",
                bound=bound,
                topics=topics,
                weight={m: n for m, n in zip(names, found.weight, strict=True) if n},
                price=_prices(instance, setting, found.price, names),
            )
        )
    return Evidence(bound=bound, terms=tuple(terms))


def _duals(setting: Setting, work: Work) -> Duals | None:
    from solver.peak_lag.duals import duals_of  # noqa: PLC0415 - seldom needed

    return duals_of(setting.room, work)


def _prices(
    instance: Instance, setting: Setting, price: tuple[int, ...], names: list[str]
) -> dict[str, int | dict[str, int]]:
    """Write prices by member, and by topic where counts are limited so."""
    room = setting.room
    if not room.by_topic:
        return {m: n for m, n in zip(names, price, strict=True) if n}
    written: dict[str, int | dict[str, int]] = {}
    for c, name in enumerate(names):
        k = int(room.member_class[c])
        topics = setting.topics[room.open[room.first[k] : room.first[k + 1]]]
        asked = price[load_bounds_of(room, c)]
        listed = zip(topics.tolist(), asked, strict=True)
        mine = {instance.topics[t]: n for t, n in listed if n}
        if mine:
            written[name] = mine
    return written
