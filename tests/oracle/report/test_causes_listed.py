"""Causes on the page: of recorded planned events, and without any that is known."""

from __future__ import annotations

from pathlib import Path

from oracle.report import page_of
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.scenes import small_audit
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import EVENTS


def sections(page: str) -> list[Element]:
    return read_html(page).all("section", **{"aria-labelledby": "causes"})


def test_the_page_answers_why_groups_rebalanced(tmp_path: Path) -> None:
    """The numbers are those of the driver's log (`recordings/events`)."""
    audit = local_audit([EVENTS], tmp_path / "audit")
    (section,) = sections(page_of(Path(audit.out)))
    terms, words = section.all("dt"), section.all("dd")
    told = {
        term.text: word.text.split(". ")
        for term, word in zip(terms, words, strict=True)
    }
    day = "on 29 November 2026"
    counts = "18 by members that left and returned within 60 s, 1 by other members"
    assert told["crash-loop"] == [
        f"19 rebalances {day}: {counts} that joined or left",
        (
            "Partitions of 14 members that left had no reader for up to 398 "
            "partition-seconds"
        ),
        "Static membership would have avoided 18 rebalances",
        (
            "Cooperative rebalancing would have avoided 144 of 160 revocations of "
            "partitions, with 4 further rebalances; KIP-848 64 of 80 where at most one "
            "member changed."
        ),
    ]
    assert told["rolling-restart"][2:] == [
        "Static membership would have avoided 8 rebalances",
        (
            "Cooperative rebalancing or KIP-848 would have avoided 110 of 126 "
            "revocations of partitions, the former with 4 further rebalances."
        ),
    ]
    counts = "2 by topics with more partitions, 1 by members that joined or left"
    assert told["topic-growth"] == [
        f"4 rebalances {day}: {counts}, 1 without any change."
    ]
    assert told["quiet"] == [f"1 rebalance {day}, by members that joined or left."]


def test_the_page_states_what_its_numbers_assume(tmp_path: Path) -> None:
    audit = local_audit([EVENTS], tmp_path / "audit")
    (section,) = sections(page_of(Path(audit.out)))
    assumed = [item.text.split(":")[0] for item in section.all("li")]
    assert assumed == [
        "Static membership",
        "A longer delay",
        "Cooperative rebalancing",
        "The new protocol",
    ]


def test_without_known_causes_there_is_no_section(tmp_path: Path) -> None:
    assert sections(page_of(small_audit().write(tmp_path / "audit"))) == []
