"""Answers that rest on ``packing``, and what is left of changed terms.

Reaches into `solver.peak_lag` to compare changed terms with brute force.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

import verify
from rebalance import to_json
from solver import Limits, parse_policy
from solver.peak_lag import solve
from solver.peak_lag.column_generation import pack
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.minimize_peak import has_few_lags
from solver.peak_lag.work import Work
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document, member, rebalance

POLICIES = (
    "none; peak-lag",
    "dec-min; peak-lag",
    "per-topic; peak-lag",
    "none; topic-peak-lag",
    "per-topic; topic-peak-lag",
)


def heavy(rng: Random) -> Document:
    """Return equal members and a tail of large lags, which do not pack."""
    members, alike = rng.randint(2, 3), rng.choice((None, 1, 2, 3))
    topics, (names, most) = {}, rng.choice((("t", 7), ("tu", 4)))
    for name in names:
        lags = [
            int(5 * rng.paretovariate(1)) for _ in range(rng.randint(members + 1, most))
        ]
        topics[name] = {"partitions": len(lags), "lag": lags}
    people = {f"c{n}": member([*topics]) for n in range(members)}
    for participant in people.values() if alike else ():
        participant["capacity"] = alike
    return rebalance(topics, people)


def answered(seed: int) -> Iterator[tuple[Document, str, Document]]:
    """Yield answers of which some term is of packing, with documents."""
    document = heavy(Random(seed))  # noqa: S311
    last_drawn.note(document, seed)
    for policy in POLICIES:
        laid_out = instance(document)
        limits = Limits(effort=20)
        outcome = solve(laid_out, parse_policy(policy), limits=limits)
        written = json.loads(to_json(outcome.to_document(laid_out)))
        (level,) = written["objectives"]
        terms = [*level["proof"].get("terms", ())]
        if policy.endswith("; peak-lag"):
            terms += packed_terms(document, policy)
        if any(term["kind"] == "packing" for term in terms):
            level["proof"]["terms"] = terms
            yield document, policy, written


def packed_terms(document: Document, policy: str) -> Iterator[Document]:
    """Yield the packing terms of the engine; so few partitions seldom need them."""
    balance = parse_policy(policy).balance
    lag_instance = build_lag_instance(instance(document), balance)
    if lag_instance is None or not has_few_lags(lag_instance):
        return
    peak = int(lag_instance.region.lag.sum() * lag_instance.region.unit[0])
    _, term = pack(lag_instance, 0, peak, Work(limits=Limits()))
    if term is not None:
        yield {"kind": "packing", "bound": term.bound, "steps": term.steps}


def bent(rng: Random, document: Document, term: Document) -> Document:
    """Return a term with one of its fields changed."""
    mutant = deepcopy(term)
    lags = [lag for topic in document["topics"].values() for lag in topic["lag"]]
    changes: dict[str, Any] = {
        "bound": term["bound"] + rng.choice((-1, 1, 1, 2, rng.randint(1, 50))),
        "at_least": rng.choice((*lags, 0, 1)) + rng.choice((0, 0, 1)),
        "topics": rng.sample(sorted(document["topics"]), 1),
        "members": rng.sample(sorted(document["members"]), 1),
        "kind": rng.choice(("average", "crowd", "topic-crowd", "packing")),
        "steps": bent_steps(rng, [*lags, 0], term.get("steps", ())),
    }
    for name in rng.sample(sorted(changes), rng.randint(1, 3)):
        mutant[name] = changes[name]
    if rng.randrange(4) == 0:
        mutant.pop(rng.choice(("at_least", "topics")), None)
    return mutant


def bent_steps(rng: Random, lags: list[int], steps: Any) -> list[list[int]]:
    """Return steps with one of them changed, left out or added."""
    found = [[*step] for step in steps]
    for step in rng.sample(found, min(1, len(found))):
        place = rng.randrange(2)
        step[place] = max(0, step[place] + rng.choice((-1, 1, 2)))
    if rng.randrange(2):
        found.append([rng.choice(lags), rng.randint(0, 5)])
    elif found:
        found.pop(rng.randrange(len(found)))
    return found


def check(seed: int, mutants: int) -> set[str]:
    """Assert that real terms hold, and bent ones prove nothing false.

    Returns
    -------
    set of str
        The kinds that some optimum was proved by.
    """
    rng = Random(seed)  # noqa: S311
    kinds: set[str] = set()
    for document, policy, answer in answered(seed):
        brute = Brute(document)
        least = brute.best(policy)
        assert least is not None
        (level,) = answer["objectives"]
        verdict = verify.judge(document, answer)
        (found,) = verdict["objectives"]
        assert "evidence" not in found, (policy, found)
        assert level["bound"] <= least[0]
        if level["proof"]["by"] == "terms" and level["bound"] == level["value"]:
            assert (found["rests_on"], found["proved"]) == ("terms", True)
            held = [t for t in level["proof"]["terms"] if t["bound"] == level["bound"]]
            kinds |= {term["kind"] for term in held}
        for _ in range(mutants):
            terms = deepcopy(level["proof"]["terms"])
            place = rng.randrange(len(terms))
            real = rng.choice([term for term in terms if term["kind"] == "packing"])
            terms[place] = bent(rng, document, real)
            stated = level | {"bound": 0, "proof": {"by": "terms", "terms": terms}}
            (one,) = verify.judge(document, answer | {"objectives": [stated]})[
                "objectives"
            ]
            assert one.get("bound", 0) <= least[0], (seed, policy, terms, one)
    return kinds


@pytest.mark.parametrize("seed", seeds(max(1, INSTANCES // 200)))
def test_real_terms_hold_and_bent_ones_prove_nothing_false(seed: int) -> None:
    check(seed, mutants=20)


@pytest.mark.heavy
def test_answers_do_rest_on_packing() -> None:
    """A check that never meets a term checks nothing."""
    met = Counter(kind for seed in range(60) for kind in check(seed, mutants=0))
    assert met["packing"], met


def test_one_too_high_is_refused() -> None:
    topics = {"t": {"partitions": 6, "lag": [10, 10, 10, 3, 3, 3]}}
    document = rebalance(topics, {name: member(["t"]) for name in "ab"})
    given = {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4, 5]}}
    term: Document = {"kind": "packing", "steps": [[3, 1], [10, 4]], "bound": 20}
    level: Document = {"of": "peak-lag", "value": 20, "bound": 20}
    answer: Document = {
        "format": "assignment/1",
        "members": given,
        "policy": "none; peak-lag",
        "status": "optimal",
        "objectives": [level | {"proof": {"by": "terms", "terms": [term]}}],
    }
    verdict = verify.judge(document, answer)
    assert verdict["objectives"] == [
        level | {"rests_on": "terms", "proved": True},
    ]
    assert verdict["proved"]["peak_lag"]
    assert verdict["status"] == {"claimed": "optimal", "found": "proved"}
    term["bound"] = 21
    verdict = verify.judge(document, answer)
    (found,) = verdict["objectives"]
    assert not found["proved"]
    refused = {"term": 0, "kind": "packing", "fails": "bound", "found": 20}
    assert found["evidence"] == refused
    assert verdict["evidence"]["status"]["unproved"] == ["peak-lag"]
    assert verdict["status"] == {"claimed": "optimal", "found": "unproved"}
