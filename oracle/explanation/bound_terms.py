"""Statements on the bounds of an optimum: the term that proves each, or the search.

A term is stated only if the judge recomputes its bound when it is the only term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import verify
from oracle.explanation.bound_records import Certified, LowerBound, Uncheckable
from oracle.explanation.explained_case import ExplainedCase, require
from oracle.explanation.statements import Statements
from rebalance import BoundTerm
from solver import BalanceKind

Levels = Sequence[Mapping[str, Any]]


def add_bounds(about: ExplainedCase, found: Statements) -> None:
    """State for each objective which term proves its bound, or who has searched."""
    all_stated = about.best_document.get("objectives", ())
    if not all_stated:
        return
    scopes = _Scopes(about)
    pairs = zip(all_stated, about.best_verdict["objectives"], strict=True)
    for place, (stated, judged) in enumerate(pairs):
        if is_zero(stated["bound"]):
            continue  # no value is below 0
        proof = stated.get("proof", {"by": "nothing"})
        names = ("of", "bound", "scale")
        after = [objective["of"] for objective in all_stated[:place]]
        parts: dict[str, Any] = {"text": "", "after": after}
        parts |= {name: stated[name] for name in names if name in stated}
        if proof["by"] == "search":
            with found.checking():
                require(judged["rests_on"] == "search", "the bound rests on a search")
                record = Uncheckable(**parts, engine=proof["engine"])
                scopes.check(record)
                found.add(record)
        elif proof["by"] == "certificate":
            with found.checking():
                require(judged["rests_on"] == "certificate", "it has a certificate")
                require(judged["bound"] == stated["bound"], "it proves the bound")
                same = about.policy.balance.kind is BalanceKind.DEC_MIN
                certified = Certified(**parts, same_balance=same)
                scopes.check(certified)
                found.add(certified)
        elif proof["by"] == "terms":
            term = max(proof["terms"], key=lambda candidate: int(candidate["bound"]))
            if term["bound"] != stated["bound"]:
                continue  # of topic-peak-lag: terms of several topics are summed
            with found.checking():
                _check_term(about, stated, term)
                counts = _counts(about, term)
                term_record = BoundTerm.model_validate(term)
                lower = LowerBound(**parts, **counts, term=term_record)
                scopes.check(lower)
                found.add(lower)


class _Scopes:
    """Checks of scopes; verdicts are kept by the text of their policy."""

    def __init__(self, about: ExplainedCase) -> None:
        self.about = about
        self.stated = {
            objective["of"]: objective
            for objective in about.best_document["objectives"]
        }
        self.judged: dict[str, Levels] = {
            str(about.policy): about.best_verdict["objectives"]
        }
        self.known: dict[str, list[Levels]] = {}

    def check(self, record: LowerBound | Certified | Uncheckable) -> None:
        """Have the judge prove the bound where only ``after`` comes before it.

        The policy has the objectives that the record states, the other objectives last;
        a bound that needs an objective before it which the record does not name is not
        proved. All assignments that are known and in the scope are compared with the
        bound.
        """
        require(record.of not in record.after, "the scope is of other objectives")
        first = [*record.after, record.of]
        names = [*first, *(of for of in self.stated if of not in first)]
        policy, place = self.about.policy_of(names), len(record.after)
        judged = self._judged(policy, names)
        one = judged[place]
        require(one["of"] == record.of, "the objective comes after these")
        rests = {"bound": "terms", "certificate": "certificate", "search": "search"}
        require(one["rests_on"] == rests[record.kind], "the proof is of this kind")
        require(one.get("bound") == record.bound, "the bound holds in this scope")
        best = [level["value"] for level in judged]
        for levels in self._known(policy):
            values = [level["value"] for level in levels]
            if values[:place] == best[:place]:
                require(values[place] >= record.bound, "no known assignment is below")

    def _judged(self, policy: str, names: Sequence[str]) -> Levels:
        """Return the levels of the optimum, its objectives in this order."""
        if policy not in self.judged:
            document = {
                **self.about.best_document,
                "policy": policy,
                "objectives": [self.stated[of] for of in names],
            }
            document.pop("status", None)
            verdict = verify.judge_case(self.about.case, document)
            self.judged[policy] = verdict["objectives"]
        return self.judged[policy]

    def _known(self, policy: str) -> list[Levels]:
        """Return the levels of other assignments that the policy allows."""
        if policy not in self.known:
            verdicts = [self.about.judge(m, policy=policy) for m in self.about.known]
            self.known[policy] = [
                verdict["objectives"]
                for verdict in verdicts
                if verdict["verdict"] == "valid"
                and verdict["policy"]["balance_met"]
                and verdict["policy"]["budget_met"]
            ]
        return self.known[policy]


def _check_term(
    about: ExplainedCase, stated: Mapping[str, Any], term: Mapping[str, Any]
) -> None:
    """Have the judge recompute the bound from this term alone."""
    one = {**stated, "proof": {"by": "terms", "terms": [term]}}
    others = about.best_document["objectives"]
    document = {
        **about.best_document,
        "objectives": [one if other is stated else other for other in others],
    }
    verdict = verify.judge_case(about.case, document)
    (judged,) = [o for o in verdict["objectives"] if o["of"] == stated["of"]]
    require(judged["rests_on"] == "terms", "the bound rests on the term")
    require(judged.get("bound") == stated["bound"], "the term proves the bound")


def _counts(about: ExplainedCase, term: Mapping[str, Any]) -> dict[str, Any]:
    """Count the quantities in the sentence of a term, from the instance alone."""
    case = about.case
    if term["kind"] == "crowd" and "topics" not in term:
        least = term.get("at_least", 0)
        reached = [
            lag
            for topic, listed in case.lag.items()
            if case.subscribers[topic]
            for lag in listed
            if lag >= least
        ]
        return {"partitions": len(reached)} if least else {}
    if (
        term["kind"] != "average"
        or "topics" in term
        or (about.instance.capacity is not None)
    ):
        return {}
    members = set(term.get("members", case.in_play))
    topics = sorted(
        topic
        for topic, names in case.subscribers.items()
        if names and case.partitions[topic] and members.issuperset(names)
    )
    lag = sum(sum(case.lag.get(topic, ())) for topic in topics)
    if -(-lag // len(members)) != term["bound"]:
        return {}  # it needs the eligible members of the balance
    return {"topics": topics, "members": len(members), "lag": lag}


def is_zero(value: int | list[int]) -> bool:
    """Return whether a value is the least possible."""
    return not (any(value) if isinstance(value, list) else value)
