"""The page of many groups: ranks, caps, link targets, data for scripts, trends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.report import page_of
from oracle.report.client_row import ClientRow, Lag
from oracle.report.endless import BUSY, HOURS, ROUNDS, EndlessRow, endless_of
from oracle.report.facts import GROUPS_SHOWN, folds_of
from oracle.report.folding import folded, pattern_of
from oracle.report.group_index import group_data, group_id, group_ids
from oracle.report.outcomes import OutcomeCounts
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.prose import check_all, check_page, sentences
from tests.oracle.report.scenes import BEST, LOPSIDED, RESTLESS, even

START = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=130)


def client(group: str, assignor: str | None = "sticky", **counts: int) -> ClientRow:
    return ClientRow(
        cluster="c",
        group=group,
        assignor=assignor,
        cooperative=False,
        counts=OutcomeCounts(**counts),
        lag=Lag(known=0, at_bound=0, median_above=None),
    )


@given(NAMES, NAMES, st.booleans())
def test_different_groups_have_different_ids(
    group: str, other: str, many_clusters: bool
) -> None:
    """Ids are ASCII without spaces, so that they can stand in any attribute or link."""
    ids = [group_id("a", name, many_clusters=many_clusters) for name in (group, other)]
    assert (ids[0] == ids[1]) == (group == other)
    assert all(id_.isascii() and id_.isprintable() and " " not in id_ for id_ in ids)
    assert all(len(id_) < 130 for id_ in ids)


def test_clusters_and_groups_cannot_be_mixed_up() -> None:
    pairs = [("a.b", "c"), ("a", "b.c"), ("a_2Eb", "c"), ("", "a.b.c")]
    assert len({group_id(*pair, many_clusters=True) for pair in pairs}) == len(pairs)


def test_the_first_row_of_a_group_is_its_target() -> None:
    rows = [client("a"), client("b"), client("a", "range")]
    assert group_ids(rows, many_clusters=False) == ["group-a", "group-b", ""]


@given(st.lists(NAMES, unique=True, max_size=8))
def test_the_data_can_be_read_and_ends_no_element(names: list[str]) -> None:
    rows = [client(name, needless=1, needless_moves=3) for name in names]
    ids = group_ids(rows, many_clusters=False)
    text, count = group_data([], rows, ids, {("c", name) for name in names[:1]})
    assert text.isascii()
    assert not set(text) & set("<>&")
    data = json.loads(text)
    assert count == len(data["rows"]) == len(names)
    assert [row[2:11] for row in data["rows"]] == [
        [0, 1, 0, 1, 3, 0, 0, -1, int(place == 0)] for place in range(len(names))
    ]


def test_data_beyond_the_limit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle.report.group_index.DATA_BYTES", 100)
    rows = [client(f"g-{number}") for number in range(50)]
    text, count = group_data([], rows, group_ids(rows, many_clusters=False), set())
    assert 0 < count < 10
    assert len(json.loads(text)["rows"]) == count


def patterned(names: Sequence[str], **counts: int) -> list[tuple[str, int]]:
    """Return the rows of the table: pattern or name, and groups."""
    folds = folded([client(name, "sticky", **counts) for name in names])
    return [(fold.pattern or fold.first.group, len(fold.rows)) for fold in folds]


def test_groups_of_a_pattern_are_one_row() -> None:
    names = [f"billing-{number}" for number in range(480)]
    assert patterned(["a-1", *names, "a-2"], needless=1, needless_moves=3) == [
        ("a-1", 1),
        ("billing-*", 480),
        ("a-2", 1),
    ]


def test_groups_with_other_results_are_rows_of_their_own() -> None:
    rows = [client(f"g-{number}", needless=number % 2) for number in range(6)]
    folds = folded([client("g-9", invalid=1), *rows])
    assert [[row.group for row in fold.rows] for fold in folds] == [
        ["g-9"],
        ["g-0", "g-2", "g-4"],
        ["g-1", "g-3", "g-5"],
    ]
    assert [fold.counts for fold in folds[1:]] == [
        OutcomeCounts(),
        OutcomeCounts(needless=1),
    ]


def test_groups_that_are_right_are_one_row_with_their_sum() -> None:
    (fold,) = folded([client(f"g-{number}", optimum=number) for number in range(1, 4)])
    assert fold.is_sum
    assert fold.counts == OutcomeCounts(optimum=6)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("orders", "orders"),
        ("orders-eu", "orders-*"),
        ("orders-eu-17", "orders-eu-*"),
        ("team7.orders", "team*.orders"),
        ("console-consumer-83719", "console-consumer-*"),
        ("app-7f9c2b41-x", "app-*-x"),
        ("a-1-2", "a-*"),
        ("decade-facade", "decade-*"),
    ],
)
def test_patterns_of_names(name: str, pattern: str) -> None:
    assert pattern_of(name) == pattern


def test_few_groups_have_a_row_each() -> None:
    rows = [client(f"g-{number}") for number in range(GROUPS_SHOWN + 1)]
    assert len(folds_of(rows)) == 1
    assert len(folds_of(rows[1:])) == GROUPS_SHOWN


def times(*hours: tuple[int, int]) -> pa.Table:
    """Return generations of a group, by hour and number."""
    at = [
        START + timedelta(hours=hour, seconds=second)
        for hour, count in hours
        for second in range(count)
    ]
    return pa.table(
        {
            "cluster": ["c"] * len(at),
            "group_id": ["g"] * len(at),
            "at": pa.array(at, pa.timestamp("us", "UTC")),
        }
    )


def rounds(*numbers: int, cooperative: bool = True) -> pa.Table:
    return pa.table(
        {
            "cluster": pa.array(["c"] * len(numbers), pa.string()),
            "group_id": pa.array(["g"] * len(numbers), pa.string()),
            "rounds": pa.array(numbers, pa.int32()),
            "cooperative": pa.array([cooperative] * len(numbers), pa.bool_()),
        }
    )


@pytest.mark.parametrize(
    ("hours", "longest", "found"),
    [
        ([(hour, BUSY) for hour in range(HOURS)], 0, True),
        ([(hour, BUSY) for hour in range(HOURS - 1)], 0, False),
        ([(2 * hour, BUSY) for hour in range(HOURS)], 0, False),
        ([(hour, BUSY - 1) for hour in range(HOURS)], 0, False),
        ([(0, 1000)], 0, False),
        ([], ROUNDS, True),
        ([], ROUNDS - 1, False),
    ],
)
def test_endless_groups(
    hours: list[tuple[int, int]], longest: int, found: bool
) -> None:
    rows = endless_of(times(*hours), rounds(*([longest] if longest else [])))
    if not found:
        assert rows == ()
    else:
        busiest = max((count for _, count in hours), default=0)
        row = EndlessRow(
            cluster="c", group="g", hours=len(hours), most=busiest, rounds=longest
        )
        assert rows == (row,)


def test_eager_rounds_are_not_endless() -> None:
    assert endless_of(times(), rounds(ROUNDS, cooperative=False)) == ()


def many(groups: int, days: int = 3) -> Audit:
    """Return an audit whose groups have outcomes in turn, one generation per day."""
    audit = Audit()
    answers = (BEST, LOPSIDED, RESTLESS)
    instance: dict[str, Any] = even("g", lag=[1, 2, 3, 4])
    for answer in answers:
        audit.rebalance(instance, {"actual": answer, "range": LOPSIDED})
    rows = {name: audit.rows[name] for name in ("rebalances", "answers")}
    for name, found in rows.items():
        size = len(found) // len(answers)
        audit.rows[name] = [
            row
            | _named(number, day)
            | ({"at": _at(number, day)} if "at" in row else {})
            for number in range(groups)
            for day in range(days)
            for row in found[size * (number % 3) : size * (number % 3 + 1)]
        ]
    return audit


def _named(number: int, day: int) -> dict[str, Any]:
    return {
        "group_id": _name(number),
        "rebalance_id": f"{_name(number)}#{day}",
        "generation": day,
        "date": f"{_at(number, day):%Y-%m-%d}",
    }


def _name(number: int) -> str:
    """Return names that have no pattern in common."""
    return "g" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def _at(number: int, day: int) -> datetime:
    return START + timedelta(days=day, seconds=number)


@pytest.mark.heavy
@pytest.mark.parametrize("groups", [1, 11, 3_000])
def test_the_page_is_small(tmp_path: Path, groups: int) -> None:
    """Whatever the number of groups; most have a row of their own in the data."""
    html = page_of(many(groups, days=1).write(tmp_path / "audit"))
    assert len(html.encode()) <= 1_500_000
    data = json.loads("".join(read_html(html).one("script", id="group-data").words))
    assert len(data["rows"]) == groups


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Element:
    folder = many(60).write(tmp_path_factory.mktemp("large") / "audit")
    root = read_html(page_of(folder))
    check_all(root, folder)
    return root


@pytest.mark.heavy
def test_groups_are_ranked_by_harm_and_capped(large: Element) -> None:
    table = large.one("table", id="group-table")
    _, *rows, others, total = table.rows()
    assert len(rows) == GROUPS_SHOWN
    # Three needless moves on each of three days, then unbalanced on each.
    assert {row[4] for row in rows} == {"9 · in 3"}
    assert others[0] == "40 more groups"
    assert (others[4], total[4]) == ("0", "180 · in 60")
    assert (others[7], total[7]) == ("60", "60")
    data = json.loads("".join(large.one("script", id="group-data").words))
    found = [(row[6], row[7]) for row in data["rows"]]
    assert found == [(9, 0)] * 20 + [(0, 3)] * 20 + [(0, 0)] * 20


@pytest.mark.heavy
def test_many_groups_are_drawn_as_a_distribution(large: Element) -> None:
    (picture, _) = large.one("section", **{"aria-labelledby": "clients"}).all(
        role="img"
    )
    words = picture.attributes["aria-label"]
    assert words.startswith("Groups by share: 0 %: 20,")
    assert words.endswith("100 %: 40")


def test_the_trend_has_a_row_per_day(large: Element) -> None:
    section = large.one("section", **{"aria-labelledby": "trend"})
    _, *rows = section.one("table").rows()
    lag_moved = str(20 * (1 + 2 + 3))  # three needless moves; the lags are 1, 2, 3, 4
    assert rows == [
        [f"2026-03-0{day}", "60", "40", "60", "20", lag_moved, rows[0][6]]
        for day in (1, 2, 3)
    ]
    assert int(rows[0][6]) > 0
    assert len(section.all(role="img")) == 4


@pytest.mark.heavy
def test_only_the_last_days_are_drawn(tmp_path: Path) -> None:
    folder = many(1, days=95).write(tmp_path / "audit")
    root = read_html(page_of(folder))
    check_all(root, folder)
    stated = "last 92 days are shown, 3 days before them are"
    assert any(stated in sentence for sentence in sentences(root))


@pytest.mark.heavy
def test_groups_that_the_data_leaves_out_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.report.group_index.DATA_BYTES", 100)
    folder = many(30, days=1).write(tmp_path / "audit")
    root = read_html(page_of(folder))
    data = json.loads("".join(root.one("script", id="group-data").words))
    left_out = 30 - len(data["rows"])
    check_all(root, folder)
    stated = f"covers all rows but the last {left_out};"
    assert any(stated in sentence for sentence in sentences(root))


@pytest.mark.heavy
def test_lag_per_day_is_of_known_generations(tmp_path: Path) -> None:
    folder = many(3).write(tmp_path / "audit")
    assert check_page("three-days", folder).trend.lag_known == 9
