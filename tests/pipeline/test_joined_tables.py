"""Tables of one group are joined by what they contain, and judged if it was at rest."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cases import Case
from pipeline.describe.group_case import case_of
from pipeline.describe.refusal import NotJudged
from tests.pipeline.describe.describe_text import (
    KIP_1099,
    MEMBERS,
    held,
    members,
    offsets,
    read,
    state,
    table,
)
from tests.pipeline.test_snapshots import judged

Row = dict[str, Any]
PLAIN = offsets(*[("t", n, 5, "a-1" if n < 2 else "b-1") for n in range(4)])
PEOPLE = members(("a-1", 2, "t:0,1"), ("b-1", 2, "t:2,3"), ("c-1", 0, "-"))


def cases(**files: str) -> list[Case]:
    snapshots, strays = read(**files)
    assert strays == []
    return [case_of(snapshot) for snapshot in snapshots]


def row_of(**files: str) -> Row:
    (case,) = cases(**files)
    return judged(case)[0]


def balance(row: Row) -> tuple[Any, ...]:
    return tuple(
        row[name]
        for name in ("verdict", "dec_min_balanced", "balanced_if_equal", "undetermined")
    )


def test_bug_a_group_with_an_idle_member_was_called_balanced() -> None:
    """The plain form lists no member without partitions; there is a third one."""
    row = row_of(lag=PLAIN)
    assert (row["members_listed"], row["at_rest"]) == ("with-partitions", None)
    assert balance(row)[:3] == ("unknown", None, None)
    row = row_of(lag=PLAIN, state=state("Stable", 3))
    assert (row["members_listed"], row["at_rest"]) == ("with-partitions", "state")
    unlisted = "members without partitions are not listed"
    assert balance(row) == ("unknown", None, None, unlisted)
    row = row_of(lag=PLAIN, state=state("Stable", 2))
    assert balance(row)[:3] == ("unknown", None, True)


def test_members_text_states_what_would_hold() -> None:
    row = row_of(members=PEOPLE)
    assert balance(row)[:3] == ("unknown", None, False)
    assert row["undetermined"].startswith("nothing shows that the group was at rest")
    even = members(("a-1", 2, "t:0,1"), ("b-1", 2, "t:2,3"))
    assert balance(row_of(members=even))[:3] == ("unknown", None, True)


def test_bug_one_moment_had_two_verdicts() -> None:
    """Files named as anybody names them: the tables agree, so they are of one state."""
    row = row_of(lag=PLAIN, members=PEOPLE)
    assert (row["members_listed"], row["at_rest"]) == ("all", "texts")
    subscriptions = "the text contains no subscriptions"
    assert balance(row) == ("unknown", None, False, subscriptions)
    assert row["lag_known"]


def test_listed_members_can_refute_balance() -> None:
    """Whoever else is in the group: a-1 can give t 2 to b-1, which reads t."""
    plain = offsets(*[("t", n, 5, "a-1" if n < 3 else "b-1") for n in range(4)])
    row = row_of(lag=plain, state=state("Stable", 5))
    assert balance(row) == ("unknown", False, None, None)
    assert row["evidence"] is not None
    row = row_of(lag=plain)  # not known to be at rest
    assert balance(row)[:3] == ("unknown", None, False)


GAP = members(("a-1", 2, "t:0,1"), ("b-1", 1, "t:3"))


def test_a_gap_is_judged_only_of_a_group_at_rest() -> None:
    """Between a member's removal and the next assignment, nobody reads t 2."""
    row = row_of(members=GAP)
    assert balance(row)[0] == "unknown"
    assert row["violations"] == []
    row = row_of(members=GAP, state=state("Stable", 2))
    assert row["verdict"] == "invalid"
    with pytest.raises(NotJudged, match="in state PreparingRebalance"):
        row_of(members=GAP, state=state("PreparingRebalance", 2))


def test_a_state_table_that_can_be_of_two_moments_is_of_none() -> None:
    later = members(("a-1", 2, "t:0,1"), ("b-1", 2, "t:2,3"))
    both = cases(one=GAP, two=later, three=state("Stable", 2))
    assert [case.at_rest for case in both] == [None, None]
    states = state("Stable", 2) + state("PreparingRebalance", 2)
    snapshots, _ = read(one=GAP, states=states)
    assert case_of(snapshots[0]).at_rest is None


def test_a_copy_of_a_file_is_no_second_text() -> None:
    assert row_of(lag=PLAIN, copy=PLAIN)["at_rest"] is None
    assert row_of(members=PEOPLE, copy=PEOPLE)["at_rest"] is None


def test_names_of_files_do_not_matter() -> None:
    texts = [PLAIN, PEOPLE, state("Stable", 3)]
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        row = row_of(**{f"x{i}": texts[at] for i, at in enumerate(order)})
        assert (row["at_rest"], row["members"], row["lag_known"]) == ("state", 3, True)


def test_tables_that_differ_are_of_two_moments() -> None:
    moved = members(("a-1", 2, "t:0,2"), ("b-1", 2, "t:1,3"))
    first, second = cases(lag=PLAIN, members=moved)
    assert held(first) != held(second)
    assert [case.at_rest for case in (first, second)] == [None, None]


def test_different_members_agree_with_the_plain_form() -> None:
    """The third member is c-1 or d-1: which of them at that moment is unknown."""
    other = PEOPLE.replace("c-1", "d-1")
    found = cases(lag=PLAIN, one=PEOPLE, two=other)
    assert [case.members_listed for case in found] == ["with-partitions", "all", "all"]


def kip_1099(*rows: tuple[object, ...]) -> str:
    laid = [("g", m, "/h", m, n, now, *rest) for m, n, now, *rest in rows]
    return table((*MEMBERS[:5], *KIP_1099), laid)


def test_epochs_and_targets_show_a_rebalance() -> None:
    target = kip_1099(("a", 2, 4, "t:0,1", 4, "t:0"), ("b", 0, 4, "-", 4, "t:1"))
    row = row_of(members=target, state=state("Stable", 2))
    assert row["undetermined"] == "member 'a' does not have its target assignment"
    behind = kip_1099(("a", 1, 4, "t:0", 5, "t:0"), ("b", 1, 5, "t:1", 5, "t:1"))
    row = row_of(members=behind, state=state("Stable", 2))
    assert row["undetermined"] == "the members are at epochs 4, 5"
    reached = kip_1099(("a", 1, 5, "t:0", 5, "t:0"), ("b", 1, 5, "t:1", 5, "t:1"))
    row = row_of(members=reached, state=state("Stable", 2))
    assert row["undetermined"] == "the text contains no subscriptions"
