"""Harm: the rank of groups and rebalances, and the sentence about the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.report.facts import facts_of, units_of
from oracle.report.finding import harm_words, headline
from oracle.report.harm import Harm, harm_sum, seconds_text
from oracle.report.load import load
from oracle.report.outliers import solved, worst_units
from oracle.summary import INVALID, UNBALANCED
from tests.oracle.report.audits import Audit
from tests.oracle.report.checked_facts import check_facts
from tests.oracle.report.scenes import (
    BEST,
    FORGOTTEN,
    LOPSIDED,
    RESTLESS,
    TWICE,
    even,
    given,
)
from tests.support.shapes import Document


def audit_of(
    *groups: tuple[str, Document, dict[str, int] | None], ended: str = "next"
) -> Audit:
    """Return an audit of groups with one rebalance each: answer, and harm."""
    audit = Audit()
    for name, answer, harm in groups:
        audit.rebalance(even(name), {"actual": answer}, harm=harm, ended=ended)
    return audit


def lost(unread: int, shared: int = 0) -> dict[str, int]:
    return {"unread_partition_ms": unread, "shared_partition_ms": shared}


def test_groups_rank_by_harm(tmp_path: Path) -> None:
    """Invalid ones by time, those of unknown time, waiting, moves, imbalance, names."""
    audit = audit_of(
        ("a-best", BEST, lost(0)),
        ("b-best", BEST, lost(0)),
        ("c-lopsided", LOPSIDED, {"imbalance_partition_ms": 10**9}),
        ("d-moved", RESTLESS, lost(0)),
        ("e-waits", BEST, {"waiting_partition_ms": 1}),
        ("f-unknown", FORGOTTEN, None),
        ("g-short", TWICE, lost(0, 1)),
        ("h-long", FORGOTTEN, lost(2)),
    )
    facts = check_facts(audit.write(tmp_path / "audit"))
    names = [row.group for row in facts.groups]
    assert names == [*sorted(names[:6], reverse=True), "a-best", "b-best"]
    assert headline(facts).text == (
        "h-long left partitions without a reader for <0.1 partition-seconds"
        " in 1 rebalance"
    )


@pytest.mark.parametrize(
    ("answer", "harm", "ended", "words"),
    [
        (
            FORGOTTEN,
            lost(212_000),
            "next",
            "left partitions without a reader for 212 partition-seconds in 1 rebalance",
        ),
        (
            FORGOTTEN,
            lost(1_300),
            "open",
            (
                "left partitions without a reader for 1.3 partition-seconds in"
                " 1 rebalance, until the end of the history"
            ),
        ),
        (
            TWICE,
            lost(0, 1_000),
            "next",
            (
                "let several members read the same partitions for 1.0 partition-seconds"
                " in 1 rebalance"
            ),
        ),
        (
            TWICE,
            lost(10_000, 1_000),
            "empty",
            (
                "left partitions without a reader, or with several, for"
                " 11 partition-seconds in 1 rebalance"
            ),
        ),
        (
            FORGOTTEN,
            None,
            "next",
            "had an invalid assignment in 1 rebalance; how long it lasted is not known",
        ),
        (
            BEST,
            {"waiting_partition_ms": 60_000},
            "next",
            (
                "left partitions without an owner for 60 partition-seconds more than"
                " necessary"
            ),
        ),
        (RESTLESS, None, "next", "moved 3 partitions needlessly in 1 rebalance"),
        (
            LOPSIDED,
            {"imbalance_partition_ms": 7_200_000},
            "open",
            "left partitions with the wrong member for 7,200 partition-seconds",
        ),
        (LOPSIDED, None, "next", "was left unbalanced in 1 rebalance"),
        (BEST, None, "next", ""),
    ],
)
def test_the_sentence_states_the_largest_harm(
    tmp_path: Path,
    answer: Document,
    harm: dict[str, int] | None,
    ended: str,
    words: str,
) -> None:
    folder = audit_of(("g", answer, harm), ended=ended).write(tmp_path / "audit")
    facts = facts_of(load(folder))
    assert harm_words(facts.groups[0]) == words
    if words:
        assert headline(facts).text == f"g {words}"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0"),
        (1, "<0.1"),
        (49, "<0.1"),
        (50, "0.1"),
        (9_949, "9.9"),
        (9_950, "10"),
        (10_499, "10"),
        (10_500, "11"),
        (1_234_567_000, "1,234,567"),
    ],
)
def test_seconds_are_rounded_half_up(milliseconds: int, text: str) -> None:
    assert seconds_text(milliseconds) == text


def test_sums_are_of_known_harm() -> None:
    assert harm_sum([Harm(), Harm(unread=3, wrong=1), Harm(unread=4, unknown=2)]) == (
        Harm(unread=7, wrong=1, unknown=2)
    )
    assert harm_sum([]) == Harm()


def test_the_worst_rebalances_are_those_with_most_harm(tmp_path: Path) -> None:
    """A short one with more partitions is after a long one with fewer."""
    audit = audit_of(
        ("short", given(a=[0], b=[2], c=[]), lost(1_000)),
        ("unknown", given(a=[], b=[2], c=[]), None),
        ("long", FORGOTTEN, lost(2_000)),
        ("lopsided", LOPSIDED, {"imbalance_partition_ms": 1}),
        ("more", given(a=[0, 1, 2, 3], b=[], c=[]), None),
    )
    tables = audit.tables(tmp_path / "audit")
    worst = worst_units(units_of(tables))
    cases = [*solved(tables, worst, "newest-claim")]
    assert [case.group for case in cases if case.kind == INVALID] == [
        "long",
        "short",
        "unknown",
    ]
    assert [case.group for case in cases if case.kind == UNBALANCED] == [
        "lopsided",
        "more",
    ]
