"""Both judges find the same: drawn answers, the corpus, and odd documents."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.proofs.drawn_pairs import (
    ANSWERS,
    Pair,
    drawn_pairs,
    kept_pairs,
    note_pair,
)
from tests.support.amount import FIRST_SEED, share
from tests.support.shapes import CHAIN
from tools import proofs, verdicts

PAIRS = share(1, 5)
FIRST, SECOND, THIRD = range(FIRST_SEED + 1, FIRST_SEED + 4)
"""Seeds of pairs."""

pytestmark = pytest.mark.heavy

ANSWER = {
    "format": "assignment/1",
    "members": {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}},
}


JUDGED = {
    "none; 2*rack + stickiness, stickiness, load",
    "none; 2*topic-peak-lag, rack",
    "none; rack, load, stickiness",
    "none; stickiness, load",
    "none; stickiness, load, rack",
    "per-topic; topic-peak-lag",
    "per-topic; topic-peak-lag, stickiness",
    "none; lag-spread, peak-lag",
    "kip54; 2*lag-spread, peak-lag",
    "spread=0; lag-spread",
    "spread=2; peak-lag, lag-spread",
}
MISSING = ("value", "scale", "bound", "proved")


def assert_equal_verdicts(
    pairs: list[Pair], seed: int | None = None
) -> list[verdicts.Document]:
    """Compare the verdicts of both judges; ``seed`` is that of drawn pairs."""
    found: list[verdicts.Document] = []
    for place, (verdict, odd) in enumerate(verdicts.compared(pairs)):
        note_pair(pairs[place], None if seed is None else seed + place // ANSWERS)
        assert odd == []
        found.append(verdict)
    return found


def checked(seed: int, count: int) -> Iterator[tuple[Pair, verdicts.Document]]:
    """Yield so many drawn pairs, each with the checker's verdict, and note them."""
    pairs = list(islice(drawn_pairs(seed), count))
    found = verdicts.checker_verdicts(pairs)
    for place, (pair, verdict) in enumerate(zip(pairs, found, strict=True)):
        note_pair(pair, seed + place // ANSWERS)
        yield pair, verdict


@pytest.mark.usefixtures("compiled")
def test_drawn_answers() -> None:
    found = assert_equal_verdicts(list(islice(drawn_pairs(FIRST), PAIRS)), FIRST)
    for word in ("valid", "invalid"):
        assert sum(verdict["verdict"] == word for verdict in found) > PAIRS // 50
    for name in ("dec_min", "stickiness"):
        for is_so in (True, False):
            agreeing = [verdict["proved"].get(name) is is_so for verdict in found]
            assert sum(agreeing) > PAIRS // 10, (name, is_so)
    levels = [level for verdict in found for level in verdict.get("objectives", ())]
    for by in ("certificate", "terms"):
        for is_so in (True, False):
            agreeing = [
                level["rests_on"] == by and level.get("proved") is is_so
                for level in levels
            ]
            assert sum(agreeing) > PAIRS // 50, (by, is_so)


@pytest.mark.usefixtures("compiled")
def test_the_corpus_and_the_recording() -> None:
    assert len(assert_equal_verdicts(list(kept_pairs()))) > 1000


@pytest.mark.usefixtures("compiled")
def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that counts wrongly is noticed."""
    right = verdicts.verify_verdict

    def wrong(
        instance: verdicts.Document, answer: verdicts.Document
    ) -> verdicts.Document:
        verdict = right(instance, answer)
        verdict["figures"]["moves"] += 1
        return verdict

    monkeypatch.setattr(verdicts, "verify_verdict", wrong)
    ((_, odd),) = verdicts.compared([(CHAIN, ANSWER)])
    assert [
        (difference.field, difference.verify - difference.checker) for difference in odd
    ] == [("figures.moves", 1)]


@pytest.mark.usefixtures("compiled")
def test_every_level_is_judged() -> None:
    met: set[str] = set()
    for (_, answer), found in checked(SECOND, 2 * PAIRS):
        if answer.get("policy") in JUDGED:
            met.add(answer["policy"])
            names = filter(verdicts.PLACE.search, found["not_covered"])
            assert list(names) == [], answer["policy"]
    assert met == JUDGED


@pytest.mark.usefixtures("compiled")
def test_figures_and_spreads_are_judged() -> None:
    met: set[bool] = set()
    least: set[bool] = set()
    for (_, answer), found in checked(THIRD, PAIRS):
        if found["verdict"] != "valid":
            continue
        names = set(found["not_covered"])
        assert names.isdisjoint({"figures.kip54_score", "figures.lag_spread"})
        policy = answer.get("policy", "")
        if policy.startswith("spread"):
            met.add(found["policy"]["balance_met"])
        if not policy.startswith("dec-min"):
            least.add(found["proved"]["peak_lag"])
    assert met == least == {True, False}


@pytest.mark.usefixtures("compiled")
def test_where_no_lag_is_stated_none_is_proved() -> None:
    assert all("lag" not in topic for topic in CHAIN["topics"].values())
    (found,) = assert_equal_verdicts([(CHAIN, ANSWER)])
    assert found["figures"]["peak_lag"] == 0
    assert found["proved"]["peak_lag"] is False


@pytest.mark.parametrize("capacity", [1, 2])
@pytest.mark.usefixtures("compiled")
def test_a_level_in_units_of_capacity_proves_no_peak_lag(capacity: int) -> None:
    """Of six records the larger of two members has four, which is its share."""
    members = {
        name: {"subscription": ["t"], "capacity": number}
        for name, number in (("a", capacity), ("b", 1))
    }
    topics = {"t": {"partitions": 3, "lag": [2, 2, 2 * capacity - 2]}}
    group = {"format": "rebalance/1", "group": "g", "topics": topics}
    terms = [{"kind": "average", "bound": 2 * capacity}]
    proof = {"by": "terms", "terms": terms}
    level = {"of": "peak-lag", "value": 2 * capacity, "bound": 2 * capacity}
    answer = {
        "format": "assignment/1",
        "members": {"a": {"t": [0, 2]}, "b": {"t": [1]}},
        "policy": "none; peak-lag",
        "objectives": [level | {"scale": capacity, "proof": proof}],
    }
    (found,) = assert_equal_verdicts([(group | {"members": members}, answer)])
    assert found["objectives"][0]["proved"] is True
    assert found["proved"]["peak_lag"] is (capacity == 1)


@pytest.mark.usefixtures("compiled")
def test_what_is_not_judged_is_named() -> None:
    """The value of ``lag-deviation`` has no theorem, and so no verdict."""
    terms = [{"kind": "zero", "bound": 0}]
    proof = {"by": "terms", "terms": terms}
    levels = [
        {"of": of, "value": 0, "bound": 0, "proof": proof}
        for of in ("rack", "lag-deviation")
    ]
    stated = {"policy": "none; rack, lag-deviation", "objectives": levels}
    (found,) = verdicts.checker_verdicts([(CHAIN, ANSWER | stated)])
    judged, other = found["objectives"]
    assert judged["proved"] is True
    assert other == {"of": "lag-deviation", "rests_on": "terms"}
    missing = [
        name for name in found["not_covered"] if name.startswith("objectives.1.")
    ]
    assert missing == [f"objectives.1.{name}" for name in MISSING]


def test_exit_codes(compiled: Path, tmp_path: Path) -> None:
    def ran(answer: object) -> tuple[int, str]:
        for name, document in (("i", CHAIN), ("a", answer)):
            (tmp_path / name).write_text(json.dumps(document), "utf-8")
        files = [str(tmp_path / name) for name in ("i", "a")]
        done = subprocess.run(
            [str(compiled / "checker"), *files],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    assert ran(ANSWER) == (0, "")
    assert ran(ANSWER | {"members": {}}) == (1, "")
    assert ran([]) == (2, "")
    usage = subprocess.run([str(proofs.CHECKER)], capture_output=True, check=False)
    assert usage.returncode == 2
