"""Defects that were found in the judge, each with the input that showed it."""

from __future__ import annotations

import json

import pytest

import verify
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.verify.commands import EVEN, Capture, Files, judged

MILLION = rebalance({"t": 1_000_000}, {"a": member(["t"])})


def of_large_capacities(count: int) -> Document:
    """Return a group whose capacities have a huge least common multiple."""
    members = {f"m{n:03}": member(["t"], capacity=2**62 - 1 - n) for n in range(count)}
    return rebalance({"t": {"partitions": count, "lag": [1] * count}}, members)


def one_each(document: Document, policy: str) -> Document:
    given = {name: {"t": [n]} for n, name in enumerate(document["members"])}
    return {"format": "assignment/1", "members": given, "policy": policy}


@pytest.mark.parametrize(
    "policy", ["none; peak-lag", "none; load", "none; stickiness, load", "spread=1"]
)
def test_bug_large_capacities_cost_their_own_document(
    files: Files, capfdbinary: Capture, policy: str
) -> None:
    """Their common multiple has over 4,300 digits, which Python does not write."""
    large = of_large_capacities(260)
    path = files("i", large, CHAIN)
    answers = files("a", one_each(large, policy), EVEN)
    code, verdicts, err = judged(capfdbinary, path, answers)
    reason = "capacities have no common multiple below 2^10000"
    assert code == 2
    assert [verdict["verdict"] for verdict in verdicts] == ["unreadable", "valid"]
    assert verdicts[0]["evidence"]["unreadable"]["path"] == "$.members"
    assert err.startswith(f"verify: {path}:1: $.members: {reason}")


@pytest.mark.parametrize("policy", ["dec-min; stickiness", "none; rack", "per-topic"])
def test_bug_large_capacities_are_legal_where_nothing_divides(policy: str) -> None:
    large = of_large_capacities(260)
    verdict = verify.judge(large, one_each(large, policy))
    assert verdict["verdict"] == "valid"
    assert json.dumps(verdict)


def test_bug_the_common_multiple_may_be_above_64_bits() -> None:
    members = {"a": member(["t"]) | {"capacity": 2**62}, "b": member(["t"])}
    document = rebalance({"t": 2}, members)
    for capacity in (2**61, 3, 2**62 - 1):
        members["b"]["capacity"] = capacity
        verdict = verify.judge(document, one_each(document, "none; load"))
        assert verdict["verdict"] == "valid"


def test_bug_a_bad_first_line_costs_no_other_line(
    files: Files, capfdbinary: Capture
) -> None:
    """A first line without a brace made one broken document of the whole file."""
    torn = json.dumps(CHAIN).encode()[:-5]
    for first in (b"oops", b"# a comment", b'"cut off', b"}", torn):
        path = files("i", first, CHAIN, CHAIN)
        answers = files("a", EVEN, EVEN, EVEN)
        code, verdicts, err = judged(capfdbinary, path, answers)
        assert code == 2
        found = [verdict["verdict"] for verdict in verdicts]
        assert found == ["unreadable", "valid", "valid"]
        assert err.startswith(f"verify: {path}:1: $: not JSON")
        assert len(err.splitlines()) == 1


def test_bug_a_million_violations_are_summarized() -> None:
    """227 bytes of input made a verdict of 53 MB."""
    nobody = {"format": "assignment/1", "members": {"a": {}}}
    verdict = verify.judge(MILLION, nobody)
    assert verdict["more_violations"] == {"unassigned": 999_000}
    assert [violation["partition"] for violation in verdict["violations"]] == [
        *range(1000)
    ]
    assert list(verdict)[1:4] == ["verdict", "violations", "more_violations"]
    assert len(json.dumps(verdict)) < 100_000


def test_bug_up_to_a_thousand_violations_of_each_rule_are_listed() -> None:
    document = rebalance({"t": 1000, "u": 3}, {"a": member(["t"])})
    given = {"a": {"t": [], "u": [0, 1, 2]}}
    verdict = verify.judge(document, {"members": given})
    assert "more_violations" not in verdict
    rules = [violation["rule"] for violation in verdict["violations"]]
    assert rules == ["unassigned"] * 1000 + ["unsubscribed"] * 3
    given["a"]["t"] = [n % 2 for n in range(4000)]
    verdict = verify.judge(document, {"members": given})
    assert "more_violations" not in verdict  # each partition is named once
    assert len(verdict["violations"]) == 2 + 998 + 3


SEARCH = {"by": "search", "engine": "e"}
CLAIM: Document = EVEN | {"policy": "dec-min; stickiness", "status": "optimal"}


def by_search(bound: int) -> Document:
    level = {"of": "stickiness", "value": 3, "bound": bound, "proof": SEARCH}
    return CLAIM | {"objectives": [level]}


@pytest.mark.parametrize(
    ("answer", "found", "plain"),
    [
        (by_search(3), "search", 0),
        (by_search(2), "unproved", 0),
        (CLAIM, "unproved", 0),
        (CLAIM | {"policy": "dec-min"}, "proved", 0),
        (CLAIM | {"policy": "none; stickiness; max-moves=2"}, "refuted", 0),
        (EVEN | {"status": "optimal"}, "unproved", 0),
        (EVEN, None, 0),
        (EVEN | {"status": "feasible"}, None, 0),
    ],
)
def test_bug_a_search_is_distinguished_from_a_proof(
    files: Files, capfdbinary: Capture, answer: Document, found: str | None, plain: int
) -> None:
    """An unchecked ``optimal`` got exit code 0 and no word in the verdict."""
    pair = files("i", CHAIN), files("a", answer)
    code, (verdict,), _ = judged(capfdbinary, *pair)
    assert code == plain
    assert verdict.get("status", {}).get("found") == found
    assert verify.is_proved(verdict) == (found == "proved")
    code, _, _ = judged(capfdbinary, *pair, "--require", "proved")
    assert code == (0 if found == "proved" else 1)


def test_bug_the_limit_of_partitions_costs_one_document(
    files: Files, capfdbinary: Capture
) -> None:
    huge = rebalance({"t": 20_000_000}, {"a": member(["t"])})
    path, answers = files("i", huge, CHAIN), files("a", {**EVEN}, EVEN)
    code, verdicts, err = judged(capfdbinary, path, answers)
    assert code == 2
    assert [verdict["verdict"] for verdict in verdicts] == ["unreadable", "valid"]
    reason = "20000000 partitions up to here, above the limit 10000000"
    assert err == f"verify: {path}:1: $.topics.t.partitions: {reason}\n"
    code, verdicts, err = judged(capfdbinary, path, answers, "--max-partitions", "3")
    assert [verdict["verdict"] for verdict in verdicts] == ["unreadable", "unreadable"]


def test_bug_a_partition_on_none_of_its_best_members_has_a_verdict() -> None:
    """A certificate left no member for it, and the judge ended with a traceback."""
    owned = {name: member(["t"]) for name in ("a", "b")}
    for number, name in enumerate(owned):
        owned[name] |= {
            "owned": {"t": [number]},
            "generation": 0,
            "capacity": 2 - number,
        }
    answer = {
        "format": "assignment/1",
        "members": {"a": {"t": [0, 1]}, "b": {}},
        "policy": "none; stickiness, load",
        "certificate": {
            "level": {"a": 2, "b": 0},
            "price": {"a": 0, "b": 0},
            "threshold": {"a": [1, 1], "b": [1, 1]},
        },
    }
    verdict = verify.judge(rebalance({"t": 2}, owned), answer)
    assert verdict["evidence"]["certificate"] == {"fails": "seats"}
