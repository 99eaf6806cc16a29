"""Peak lag with a limit on moves: CP-SAT with the bounds on peak lag as input."""

from __future__ import annotations

import json
from random import Random

import verify
from rebalance import to_json
from solver import Limits, Status, parse_policy, peak_lag, solve
from tests.solver.routes import instance
from tests.solver.test_engines_agree import with_lags
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import Limits as Size
from tests.support.strategies import seeded_rebalance

SIZE = Size(members=3, topics=2, partitions=4)


def check_terms(document: Document, policy: str) -> Document | None:
    """Assert that the judge accepts every bound by terms; return the verdict."""
    columns = instance(document)
    result = solve(columns, parse_policy(policy), limits=Limits(effort=5))
    if result.status is Status.INFEASIBLE:
        return None
    written = json.loads(to_json(result.to_document(columns)))
    verdict = verify.judge(document, written)
    assert verdict["verdict"] == "valid", verdict
    for objective in verdict["objectives"]:
        assert "evidence" not in objective, verdict
        if (
            objective["rests_on"] == "terms"
            and objective["value"] == objective["bound"]
        ):
            assert objective["proved"], verdict
    return {"written": written, "verdict": verdict}


def test_bug_terms_without_their_certificate() -> None:
    """Issue 12: terms that rest on dec-min load bounds came without the certificate."""
    topics = {
        "t": {"partitions": 2, "lag": [0, 7]},
        "u": {"partitions": 2, "lag": [20, 20]},
    }
    document = rebalance(topics, {"a": member(["t", "u"]), "b": member(["u"])})
    found = check_terms(document, "dec-min; peak-lag; max-moves=0")
    assert found is not None
    (objective,) = found["written"]["objectives"]
    assert (objective["value"], objective["bound"]) == (40, 40)
    assert "certificate" in found["written"]


def test_terms_rest_on_the_certificate() -> None:
    """The largest lag shares its member only because every load is at least 2."""
    topics = {
        "t": {"partitions": 3, "lag": [90, 8, 7]},
        "u": {"partitions": 3, "lag": [6, 5, 4]},
    }
    members = {"a": member(["t", "u"]), "b": member(["t", "u"]), "c": member(["u"])}
    found = check_terms(rebalance(topics, members), "dec-min; peak-lag; max-moves=0")
    assert found is not None
    (objective,) = found["verdict"]["objectives"]
    assert (objective["rests_on"], objective["proved"]) == ("terms", True)
    del found["written"]["certificate"]
    verdict = verify.judge(rebalance(topics, members), found["written"])
    assert not verdict["objectives"][0]["proved"]


def test_only_peak_lag_with_a_limit_on_moves_has_a_known_bound() -> None:
    columns = instance(with_lags(seeded_rebalance(1, SIZE), Random(1)))  # noqa: S311
    for text in (
        "none; peak-lag",
        "kip54; peak-lag; max-moves=3",
        "none; stickiness, peak-lag; max-moves=3",
        "none; peak-lag, load; max-moves=3",
        "none; 2*peak-lag + stickiness; max-moves=3",
        "dec-min; max-moves=3",
    ):
        policy = parse_policy(text)
        assert peak_lag.known_bounds(columns, policy, limits=Limits()) == {}
