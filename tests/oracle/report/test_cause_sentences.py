"""Sentences about the causes of a group's rebalances."""

from __future__ import annotations

from collections import Counter
from datetime import date
from random import Random

import pyarrow as pa
import pytest

from oracle.report.cause_sentences import REASONS, GroupCauses, group_causes
from pipeline.causes import KINDS
from pipeline.tables import SCHEMAS, UNDATED

COLUMNS = ("cluster", "date", "group_id", "causes")
DAY = "2026-11-24"
Rebalance = tuple[str, str, list[str]]


def table_of(rebalances: list[Rebalance], cluster: str = "c") -> pa.Table:
    """Return rows from groups, days, and kinds."""
    schema = pa.schema([SCHEMAS["rebalances"].field(name) for name in COLUMNS])
    entry = {"count": 1, "members": [], "topics": []}
    rows = [
        {
            "cluster": cluster,
            "date": day,
            "group_id": group,
            "causes": [entry | {"kind": kind} for kind in kinds],
        }
        for group, day, kinds in rebalances
    ]
    return pa.Table.from_pylist(rows, schema)


def sentence(*kinds: tuple[int, list[str]], days: tuple[str, ...] = (DAY,)) -> str:
    """Return the sentence on so many rebalances of these kinds."""
    listed = [found for count, found in kinds for _ in range(count)]
    rebalances = [("g", days[n % len(days)], found) for n, found in enumerate(listed)]
    (causes,) = group_causes(table_of(rebalances))
    return causes.sentence


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (
            [(20, ["left-briefly"]), (11, ["returned", "joined"]), (9, ["restless"])],
            (
                "40 rebalances on 24 November 2026: 31 by members that left and"
                " returned within 60 s, 9 without any change."
            ),
        ),
        (
            [(1, ["joined"])],
            "1 rebalance on 24 November 2026, by members that joined or left.",
        ),
        (
            [(1200, ["topics-appeared"])],
            (
                "1,200 rebalances on 24 November 2026, all by topics that the"
                " assignment before had left out."
            ),
        ),
        (
            [
                (2, ["started"]),
                (3, ["returned"]),
                (1, ["joined", "round"]),
                (4, ["round"]),
                (2, ["unknown"]),
                (1, ["leader-changed"]),
            ],
            (
                "13 rebalances on 24 November 2026: 4 as further rounds of cooperative"
                " rebalances, 3 by members that left and returned within 60 s, 3 by"
                " other members that joined or left, 3 for other reasons."
            ),
        ),
    ],
)
def test_sentences(kinds: list[tuple[int, list[str]]], text: str) -> None:
    assert sentence(*kinds) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [
        ((UNDATED,), "2 rebalances, "),
        ((DAY, UNDATED), "2 rebalances on 24 November 2026, "),
        ((DAY, "2026-11-09"), "2 rebalances from 9 to 24 November 2026, "),
        ((DAY, "2026-12-01"), "2 rebalances from 24 November to 1 December 2026, "),
        (
            (DAY, "2027-01-02"),
            "2 rebalances from 24 November 2026 to 2 January 2027, ",
        ),
    ],
)
def test_days(days: tuple[str, ...], text: str) -> None:
    assert sentence((2, ["restless"]), days=days) == f"{text}all without any change."


def test_every_kind_has_one_reason() -> None:
    assert Counter(kind for kinds, _ in REASONS.values() for kind in kinds) == Counter(
        KINDS
    )


def test_counts_of_groups_are_those_of_loops() -> None:
    rng = Random(3)  # noqa: S311
    rebalances = [
        (f"g{rng.randrange(5)}", f"2026-11-{rng.randrange(10, 20)}", kinds)
        for _ in range(400)
        for kinds in [rng.sample(KINDS, rng.choice((1, 1, 2, 3)))]
    ]
    table = pa.concat_tables([table_of(rebalances, "d"), table_of(rebalances[:100])])
    found = group_causes(table)
    for cluster, rows in (("c", rebalances[:100]), ("d", rebalances)):
        for group in sorted({row[0] for row in rows}):
            mine = [row for row in rows if row[0] == group]
            causes = next(
                causes
                for causes in found
                if (causes.cluster, causes.group) == (cluster, group)
            )
            check(causes, mine)
    assert [(causes.cluster, causes.group) for causes in found] == sorted(
        (causes.cluster, causes.group) for causes in found
    )


def check(causes: GroupCauses, rows: list[Rebalance]) -> None:
    """Compare with a count of the rows."""
    assert causes.rebalances == len(rows)
    days = [date.fromisoformat(day) for _, day, _ in rows]
    assert (causes.first_day, causes.last_day) == (min(days), max(days))
    assert causes.kinds == Counter(kind for _, _, kinds in rows for kind in kinds)
    reasons = Counter(
        next(name for name, (of, _) in REASONS.items() if set(of) & set(kinds))
        for _, _, kinds in rows
    )
    assert dict(causes.reasons) == reasons


def test_a_rebalance_without_causes_is_unknown() -> None:
    table = table_of([("g", DAY, [])])
    (causes,) = group_causes(table)
    assert causes.reasons == (("unknown", 1),)


def test_names_can_be_dictionaries() -> None:
    table = table_of([("g", DAY, ["joined"]), ("h", DAY, ["left"])])
    for place, name in enumerate(COLUMNS[:3]):
        table = table.set_column(place, name, table[name].dictionary_encode())
    assert [causes.group for causes in group_causes(table)] == ["g", "h"]


def test_no_rebalances() -> None:
    assert group_causes(table_of([])) == ()
