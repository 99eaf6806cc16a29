"""Terms of bounds: whatever integers they hold, what is accepted is true.

Reaches into `verify.policy` to compare single terms with `naive_bounds`.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from solver import solve
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support.examples import shared_by
from tests.support.shapes import LAG, LAG_GREEDY_FAILS, Document, member, rebalance
from tests.support.strategies import SMALL, generators, seeded_rebalance
from tests.verify.policy.drawn_terms import drawn, drawn_term
from verify.policy.feasible_region import Region, region_of
from verify.policy.notation import LOAD, PEAK_LAG, TOPIC_PEAK_LAG, read_policy
from verify.policy.objectives import scaled_by_topic
from verify.policy.terms import term_fails, together
from verify.policy.work import Work

BALANCES = ("dec-min", "per-topic", "none")
HUGE = 2**63 - 1


def region(document: Document, balance: str) -> Region:
    case = verify.case_of(document)
    columns = instance(document)
    proof = solve(columns).require_certificate().to_document(columns)
    return region_of(case, balance, proof.model_dump(exclude_none=True))


def fails(document: Document, found: Region, term: Document) -> Document | None:
    return term_fails(verify.case_of(document), found, PEAK_LAG, term, Work())


def optimum(document: Document, balance: str) -> int:
    best = Brute(document).best(f"{balance}; peak-lag")
    assert best is not None
    assert isinstance(best[0], int)
    return best[0]


@pytest.mark.parametrize("balance", BALANCES)
@given(generators())
def test_nothing_above_the_optimum_is_accepted(balance: str, rng: Random) -> None:
    document = drawn(rng)
    best, found = optimum(document, balance), region(document, balance)
    for _ in range(5):
        term = drawn_term(rng, document)
        for bound in (best + 1, best + rng.randint(1, 100), HUGE):
            assert fails(document, found, term | {"bound": bound}) is not None


@pytest.mark.parametrize("balance", BALANCES)
@given(generators())
def test_nothing_above_the_optimum_of_a_topic(balance: str, rng: Random) -> None:
    document = drawn(rng)
    brute, found = Brute(document), region(document, balance)
    allowed = brute.balanced(read_policy(balance))
    for topic in document["topics"]:
        peaks = [
            max(dict(scaled_by_topic(brute.case, tally.lags))[topic].values())
            for tally in allowed
            if topic in found.eligible
        ]
        term = drawn_term(rng, document) | {"topics": [topic]}
        bound = min(peaks, default=0) + 1
        failure = term_fails(
            brute.case, found, TOPIC_PEAK_LAG, term | {"bound": bound}, Work()
        )
        assert failure is not None


@pytest.mark.parametrize("balance", BALANCES)
@shared_by(len(BALANCES))
@given(generators(), st.data())
def test_sound_for_any_integers(balance: str, rng: Random, data: st.DataObject) -> None:
    """Weights and thresholds of all of 64 bits."""
    document = drawn(rng)
    names = sorted(document["members"])
    kinds = ("zero", "average", "crowd", "packing", "x")
    wild = st.integers(-HUGE, HUGE) | st.integers(-3, 3)
    counts = st.integers(0, HUGE) | st.integers(0, 3)
    term: Document = {
        "kind": data.draw(st.sampled_from(kinds)),
        "bound": data.draw(wild),
        "at_least": data.draw(counts),
        "steps": data.draw(st.lists(st.tuples(counts, counts))),
        "members": data.draw(st.lists(st.sampled_from(names))) if names else [],
    }
    if fails(document, region(document, balance), term) is None:
        assert term["bound"] <= optimum(document, balance)


def test_the_terms_often_reach_the_optimum() -> None:
    """A check that never accepts is no check: here half close, by plain terms."""
    reached = dict.fromkeys(BALANCES, 0)
    for seed in range(100):
        document = seeded_rebalance(seed, SMALL)
        lags = {lag for t in document["topics"].values() for lag in t.get("lag", ())}
        terms = [{"kind": "crowd", "at_least": lag} for lag in lags]
        for balance in BALANCES:
            best, found = optimum(document, balance), region(document, balance)
            reached[balance] += any(
                fails(document, found, term | {"bound": best}) is None
                for term in [{"kind": "zero"}, {"kind": "average"}, *terms]
            )
    assert min(reached.values()) > 80, reached


# 3 1 1 1 1 over two: who holds 3 holds another if it must fill its count.
CROWDED = LAG_GREEDY_FAILS | {
    "topics": {"t": {"partitions": 5, "lag": [3, 1, 1, 1, 1]}}
}
# Of 4 4 4 1 1 1 somebody has 8: two of the 4, since 4 1 1 1 are less.
WEIGHED = rebalance(
    {"t": {"partitions": 6, "lag": [10, 10, 10, 3, 3, 3]}},
    {name: member(["t"]) for name in "ab"},
)
# Members a and b are the only eligible ones of the largest lag.
NINE = rebalance(
    {"t": {"partitions": 1, "lag": [9]}, "u": {"partitions": 1, "lag": [1]}},
    {"a": member(["t"]), "b": member(["t", "u"]), "c": member(["u"])},
)
STEPS: Document = {"steps": [[3, 1], [10, 4]]}


@pytest.mark.parametrize(
    ("document", "balance", "term", "bound", "reason"),
    [
        # KIP-169: 100,000 | 60,000 + 50,000.
        (LAG, "none", {"kind": "average"}, 105_000, {"found": 105_000}),
        (
            LAG,
            "none",
            {"kind": "crowd", "at_least": 50_000},
            110_000,
            {"crowd": 3, "fitting": 4},
        ),
        (LAG, "none", {"kind": "zero"}, 0, {"found": 0}),
        (CROWDED, "per-topic", {"kind": "crowd", "at_least": 3}, 4, {}),
        (CROWDED, "none", {"kind": "crowd", "at_least": 3}, 3, {}),
        (WEIGHED, "none", {"kind": "packing"} | STEPS, 20, {"found": 20}),
        (WEIGHED, "none", {"kind": "packing"}, 0, {}),
        (NINE, "none", {"kind": "average", "members": ["a", "b"]}, 5, {}),
        (NINE, "none", {"kind": "average"}, 4, {}),
    ],
)
def test_a_term_proves_its_bound_and_no_more(
    document: Document, balance: str, term: Document, bound: int, reason: Document
) -> None:
    found = region(document, balance)
    assert fails(document, found, term | {"bound": bound}) is None
    failure = fails(document, found, term | {"bound": bound + 1}) or {}
    assert failure.items() >= {"fails": "bound", **reason}.items()


def test_bug_total_work_of_terms_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four terms, each just below a limit of its own, took 41 s: now they share one."""
    packing: Document = {"kind": "packing", "steps": [[0, 50_000_000]], "bound": 1}
    failure = fails(LAG, region(LAG, "none"), packing)
    assert failure is not None
    assert failure.keys() == {"fails", "steps", "left"}
    assert (failure["fails"], failure["steps"]) == ("work", 3 * 75_000_000)
    monkeypatch.setattr("verify.policy.answers.Work", lambda: Work(1000))
    term: Document = {"kind": "packing", "steps": [[0, 100]], "bound": 1}
    level: Document = {"of": "peak-lag", "value": 0, "bound": 0}
    level["proof"] = {"by": "terms", "terms": [term, term, term]}
    answer: Document = {
        "members": {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}},
        "policy": "none; peak-lag",
        "objectives": [level],
    }
    (found,) = verify.judge(LAG, answer)["objectives"]
    assert found["bound"] == 1  # of the first two
    assert (found["evidence"]["term"], found["evidence"]["fails"]) == (2, "work")


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ({"kind": "hunch"}, {"fails": "kind"}),
        ({"kind": "average", "members": ["x"]}, {"fails": "members", "member": "x"}),
        ({"kind": "company"}, {"fails": "kind"}),  # kinds that were dropped
        ({"kind": "duals"}, {"fails": "kind"}),
        ({"kind": "crowd", "topics": ["x"]}, {"fails": "topics", "topic": "x"}),
    ],
)
def test_what_means_nothing_proves_nothing(term: Document, reason: Document) -> None:
    assert fails(LAG, region(LAG, "none"), term | {"bound": 0}) == reason


@pytest.mark.parametrize("policy", ["none; load", "none; rack", "none; 2*peak-lag"])
def test_terms_of_peak_lag_prove_nothing_else(policy: str) -> None:
    case = verify.case_of(LAG)
    (level,) = read_policy(policy).levels.values()
    term = {"kind": "average", "bound": 0}
    found = term_fails(case, region_of(case, "none"), level, term, Work())
    assert found == {"fails": "kind"}
    zero = {"kind": "zero", "bound": 0}
    assert term_fails(case, region_of(case, "none"), level, zero, Work()) is None


def test_topics_add_up_and_of_each_the_largest_counts() -> None:
    terms: list[Document] = [
        {"kind": "average", "topics": ["t"], "bound": 3},
        {"kind": "crowd", "topics": ["t"], "bound": 5},
        {"kind": "average", "topics": ["u"], "bound": 7},
        {"kind": "zero", "bound": 0},
        {"kind": "zero", "topics": [], "bound": 0},
    ]
    case = verify.case_of(LAG)
    assert together(case, TOPIC_PEAK_LAG, terms) == 12
    assert together(case, PEAK_LAG, terms) == 7
    assert together(case, TOPIC_PEAK_LAG, []) is None
    assert together(case, LOAD, terms[3:]) == [0, 0]


@pytest.mark.parametrize("topics", [None, [], ["t0", "t0"]])
def test_of_topics_one_at_a_time(topics: list[str] | None) -> None:
    term: Document = {"kind": "average", "bound": 0}
    if topics is not None:
        term["topics"] = topics
    case = verify.case_of(LAG)
    failure = term_fails(case, region_of(case, "none"), TOPIC_PEAK_LAG, term, Work())
    assert failure == {"fails": "topics"}


def test_one_too_high_is_refused() -> None:
    given = {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4, 5]}}
    term: Document = {"kind": "packing", "bound": 20} | STEPS
    level: Document = {"of": "peak-lag", "value": 20, "bound": 20}
    answer: Document = {
        "format": "assignment/1",
        "members": given,
        "policy": "none; peak-lag",
        "status": "optimal",
        "objectives": [level | {"proof": {"by": "terms", "terms": [term]}}],
    }
    verdict = verify.judge(WEIGHED, answer)
    assert verdict["objectives"] == [
        level | {"rests_on": "terms", "proved": True},
    ]
    assert verdict["proved"]["peak_lag"]
    assert verdict["status"] == {"claimed": "optimal", "found": "proved"}
    term["bound"] = 21
    verdict = verify.judge(WEIGHED, answer)
    (found,) = verdict["objectives"]
    assert not found["proved"]
    refused = {"term": 0, "kind": "packing", "fails": "bound", "found": 20}
    assert found["evidence"] == refused
    assert verdict["evidence"]["status"]["unproved"] == ["peak-lag"]
    assert verdict["status"] == {"claimed": "optimal", "found": "unproved"}
