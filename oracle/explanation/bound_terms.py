"""Statements on the bounds of an optimum: the term that proves each, or the search.

A term is stated only if the judge recomputes its bound when it is the only term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import verify
from oracle.explanation.bound_records import Certified, LowerBound, Uncheckable
from oracle.explanation.explained_case import ExplainedCase, require
from oracle.explanation.statements import Statements
from rebalance import BoundTerm


def add_bounds(about: ExplainedCase, found: Statements) -> None:
    """State for each objective which term proves its bound, or who has searched."""
    all_stated = about.best_document.get("objectives", ())
    pairs = zip(all_stated, about.best_verdict["objectives"], strict=True)
    for place, (stated, judged) in enumerate(pairs):
        if is_zero(stated["bound"]):
            continue  # no value is below 0
        proof = stated.get("proof", {"by": "nothing"})
        names = ("of", "bound", "scale")
        parts = {"text": "", **{name: stated[name] for name in names if name in stated}}
        if proof["by"] == "search":
            with found.checking():
                require(judged["rests_on"] == "search", "the bound rests on a search")
                after = [one["of"] for one in all_stated[:place]]
                record = Uncheckable(**parts, after=after, engine=proof["engine"])
                found.add(record)
        elif proof["by"] == "certificate":
            with found.checking():
                require(judged["proved"], "the certificate proves the value")
                require(judged["bound"] == stated["bound"], "it proves the bound")
                found.add(Certified(**parts))
        elif proof["by"] == "terms":
            term = max(proof["terms"], key=lambda one: int(one["bound"]))
            if term["bound"] != stated["bound"]:
                continue  # of topic-peak-lag: terms of several topics are summed
            with found.checking():
                _check_term(about, stated, term)
                counts = _counts(about, term)
                term_record = BoundTerm.model_validate(term)
                found.add(LowerBound(**parts, **counts, term=term_record))


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
    """Count what the sentence of a term mentions, from the instance alone."""
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
