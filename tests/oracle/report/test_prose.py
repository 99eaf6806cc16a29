"""Every fact of the page equals a count of the tables' rows; sentences as snapshots."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from oracle.report import page_charts, page_of
from oracle.report.facts import Facts
from pipeline.audit import AuditSummary
from tests.oracle.report import checked_facts
from tests.oracle.report.checked_facts import check_facts
from tests.oracle.report.histories import audit_of, drawn_sources, write_sources
from tests.oracle.report.html_reading import read_html
from tests.oracle.report.prose import check_all, check_page
from tests.oracle.report.scenes import small_audit, with_snapshots
from tests.pipeline.groups import Log
from tests.support.examples import one_in
from tests.support.wire import RECORDINGS, TESTS


def checked(folder: Path) -> Facts:
    root = read_html(page_of(folder))
    assert (
        root.one("head").one("title").text
        == f"{root.one('h1').text[:-1]} · assignor oracle"
    )
    return check_all(root, folder)


def test_an_audit_of_which_every_number_is_known(tmp_path: Path) -> None:
    folder = with_snapshots(small_audit()).write(tmp_path / "audit")
    check_page("small", folder, command="assignor-oracle audit 'a b' --out <x>")


@pytest.mark.parametrize(
    ("asked_for", "left_out", "stated"),
    [
        ({}, {}, None),
        ({"since": None, "until": None, "groups": []}, {}, None),
        (
            {"since": "2026-02-28T23:30:00Z"},
            {"no-time": 3, "other-time": 4},
            (
                "rebalances and snapshots from 2026-02-28 23:30 UTC; 7 others are not "
                "judged, 3 of them because their times are not known"
            ),
        ),
        (
            {"groups": ["orders-*", "<b>"]},
            {"other-group": 4},
            "rebalances and snapshots of groups orders-*, <b>; 4 others are not judged",
        ),
    ],
)
def test_the_page_states_what_was_asked_for(
    tmp_path: Path, asked_for: Any, left_out: dict[str, int], stated: str | None
) -> None:
    audit = small_audit()
    audit.asked_for, audit.left_out = asked_for, left_out
    root = read_html(page_of(audit.write(tmp_path / "audit")))
    (facts,) = (part for part in root.all("dl") if part.attributes["class"] == "facts")
    terms = [term.text for term in facts.all("dt")]
    texts = dict(zip(terms, facts.all("dd"), strict=True))
    found = texts.get("asked for")
    assert (found and " ".join(found.text.split())) == stated


@pytest.mark.parametrize(
    "name", ["generations", "proved", "judged_groups", "others_count"]
)
def test_a_false_fact_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = small_audit().write(tmp_path / "audit")
    facts = check_facts(folder)
    false = replace(facts, **{name: getattr(facts, name) + 1})
    monkeypatch.setattr(checked_facts, "facts_of", lambda _: false)
    with pytest.raises(AssertionError):
        check_facts(folder)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Moved 4 partitions; 1\nwas", "Moved 5 partitions; 1\nwas"),
        ("2×1, 1×2, 0×1", "2×2, 1×1, 0×1"),
        ("Optimal: 1×4", "Optimal: 2×2"),
        ("1 partition, such as", "2 partitions, such as"),
        ("the optimum keeps 3", "the optimum keeps 2"),
    ],
)
def test_a_false_number_about_a_case_is_found(
    tmp_path: Path, true: str, false: str
) -> None:
    folder = small_audit().write(tmp_path / "audit")
    html = page_of(folder)
    assert true in html
    with pytest.raises(AssertionError):
        check_all(read_html(html.replace(true, false)), folder)


@pytest.mark.heavy
def test_recorded_text_alone(tmp_path: Path) -> None:
    sources = [TESTS / "data/churn-describe"]
    facts = check_page("text", audit_of(sources, tmp_path / "audit"))
    assert (facts.states.total.counted, facts.states.total.unbalanced) == (38, 7)


@pytest.mark.heavy
def test_recorded_text_and_records(tmp_path: Path) -> None:
    folder = tmp_path / "first-look"
    shutil.copytree(TESTS / "data/describe-4.3.1", folder)
    shutil.copy(RECORDINGS / "first-look/consumer_offsets.jsonl", folder)
    facts = check_page("text-and-records", audit_of([folder], tmp_path / "audit"))
    assert facts.states.total.recorded == 11


@pytest.mark.heavy
def test_the_recording_that_ships(churn_audit: AuditSummary) -> None:
    check_page("churn", Path(churn_audit.out))


@pytest.mark.heavy
@settings(one_in(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=drawn_sources())
def test_generated_histories(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    drawn: tuple[Log, str],
) -> None:
    """Charts are left out: their texts are no sentences."""
    for name in ("outcome_bars", "gap_cells"):
        monkeypatch.setattr(page_charts, name, lambda *_, **__: "")
    folder = tmp_path_factory.mktemp("drawn")
    sources = write_sources(folder / "sources", *drawn)
    checked(audit_of(sources, folder / "audit"))
