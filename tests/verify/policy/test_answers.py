"""The verdict on an answer's policy: per level, by what support, and never too much.

Reaches into `verify.policy` to count values for the claims that it draws.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given

import verify
from solver import solve
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support.shapes import Document
from tests.support.strategies import TINY, draw_assignment, generators
from tests.verify.policy.drawn_terms import drawn, drawn_sum_term, drawn_term
from verify import columns_of
from verify.policy.notation import OBJECTIVES, Policy, read_policy
from verify.policy.objectives import Tally, tally_of, value_of

BALANCES = ("dec-min", "kip54", "per-topic", "spread=0", "spread=1", "none")
PALETTES = (
    OBJECTIVES,
    ("peak-lag", "stickiness", "load"),
    ("stickiness", "rack", "load"),
    ("stickiness", "rack"),
)


def drawn_policy(rng: Random) -> str:
    levels = []
    names = rng.choice(PALETTES)
    for name in rng.sample(names, rng.randint(0, min(3, len(names)))):
        other = rng.choice(OBJECTIVES)
        if "load" in (name, other) or name == other or rng.randrange(3):
            levels.append(name)
        else:
            levels.append(f"2*{name} + {other}")
    parts = [rng.choice(BALANCES), ", ".join(levels), f"max-moves={rng.randrange(4)}"]
    if not levels:
        del parts[1]
    return "; ".join(parts[: len(parts) - rng.randrange(2)])


def drawn_answer(rng: Random, document: Document, policy_text: str) -> Document:
    """Return a valid assignment that claims anything of itself."""

    def counted(answer: Document) -> list[Any]:
        tally = tally_of(case, columns_of(case, answer["members"]))
        return [value_of(case, tally, level) for level in policy.levels.values()]

    columns = instance(document)
    best = solve(columns).to_document(columns).model_dump(exclude_none=True)
    policy, case = read_policy(policy_text), verify.case_of(document)
    draws = [draw_assignment(rng, document) for _ in range(rng.choice((1, 10)))]
    answer = min([best, *draws] if rng.randrange(2) else draws, key=counted)
    answer |= {"policy": policy_text, "certificate": best["certificate"]}
    answer["objectives"] = [
        drawn_level(rng, document, of, value)
        for of, value in zip(policy.levels, counted(answer), strict=True)
    ]
    for part in ("level", "price"):
        for name in answer["certificate"][part]:
            if rng.randrange(12) == 0:
                answer["certificate"][part][name] = rng.randrange(3)
    return answer


def drawn_level(rng: Random, document: Document, of: str, value: Any) -> Document:
    bound = value
    if isinstance(value, int):
        bound = max(0, value + rng.choice((0, 0, 0, -1, 1)))
    wanted = bound if isinstance(bound, int) else 0
    draw = drawn_term if "lag" in of else drawn_sum_term
    drawn_terms = [draw(rng, document) for _ in range(rng.randrange(4))]
    terms = [term | {"bound": wanted} for term in drawn_terms]
    terms.append({"kind": "zero", "bound": 0})
    proofs: list[Document] = [
        {"by": "certificate"},
        {"by": "terms", "terms": terms},
        {"by": "search", "engine": "e"},
    ]
    return {"of": of, "value": value, "bound": bound, "proof": rng.choice(proofs)}


def counts(brute: Brute, policy: Policy, tally: Tally) -> list[Any]:
    return [value_of(brute.case, tally, level) for level in policy.levels.values()]


@given(generators())
def test_what_is_proved_is_true(rng: Random) -> None:
    """No allowed assignment, equal before a proved level, is better at that level."""
    document, text = drawn(rng, TINY), drawn_policy(rng)
    answer, brute = drawn_answer(rng, document, text), Brute(document)
    verdict, policy = verify.judge(document, answer), read_policy(text)
    tally = tally_of(brute.case, columns_of(brute.case, answer["members"]))
    within = policy.max_moves is None or tally.moves <= policy.max_moves
    met = brute.meets(policy, tally)
    assert verdict["policy"] == {"of": text, "balance_met": met, "budget_met": within}
    mine = counts(brute, policy, tally)
    assert [objective["value"] for objective in verdict["objectives"]] == mine
    rivals = [
        counts(brute, policy, other)
        for other in brute.balanced(policy)
        if policy.max_moves is None or other.moves <= policy.max_moves
    ]
    for place, objective in enumerate(verdict["objectives"]):
        assert not objective["proved"] or (met and within)
        as_good = [rival for rival in rivals if rival[:place] <= mine[:place]]
        if objective["proved"]:
            assert mine[place] == min(rival[place] for rival in as_good)
        if (
            objective["rests_on"] in {"certificate", "terms"}
            and "bound" in objective
            and met
        ):
            assert all(objective["bound"] <= rival[place] for rival in as_good)
    if verdict["proved"]["peak_lag"]:
        assert verdict["figures"]["peak_lag"] == verify.best(document)["any_peak_lag"]


@pytest.mark.heavy
def test_proofs_of_every_sort_are_often_accepted() -> None:
    """A judge that never proves anything would pass the test above."""
    proved = dict.fromkeys(("certificate", "terms"), 0)
    for seed in range(800):
        rng = Random(seed)  # noqa: S311
        document, text = drawn(rng, TINY, seed=seed), drawn_policy(rng)
        verdict = verify.judge(document, drawn_answer(rng, document, text))
        for objective in verdict["objectives"]:
            if objective["proved"] and objective["value"]:
                proved[objective["rests_on"]] += 1
    assert proved["certificate"] > 25, proved
    assert proved["terms"] > 2, proved
