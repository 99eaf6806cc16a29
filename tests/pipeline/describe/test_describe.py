"""Text of ``kafka-consumer-groups --describe``: forms and versions."""

from __future__ import annotations

import pytest

from pipeline.describe.cells import CellError, UnnamedTopicsError, assignment_of
from pipeline.describe.group_case import case_of, with_group_sizes
from pipeline.describe.refusal import NotJudged
from pipeline.sightings import MOST_PARTITIONS
from pipeline.sources.describe_files import read_snapshots
from tests.pipeline.describe.describe_text import (
    MEMBERS,
    held,
    lines,
    members,
    offsets,
    only,
    read,
    state,
    table,
)
from tests.support.wire import TESTS


def test_the_plain_form_alone() -> None:
    case = only(
        describe=offsets(("t", 0, 5, "a-1"), ("t", 1, 7, "b-1"), ("t", 2, 0, "a-1"))
    )
    assert held(case) == {"a-1": {"t": [0, 2]}, "b-1": {"t": [1]}}
    assert case.lag == {"t": [(0, 5), (1, 7), (2, 0)]}
    assert case.members is not None
    assert case.members["b-1"].owned == {}
    assert case.members["b-1"].subscription == ["t"]
    assert case.members["b-1"].client_host == "/10.0.0.1"
    assert (case.protocol, case.client_assignor, case.generation) == (None, None, None)


def test_a_member_without_partitions_is_a_member() -> None:
    case = only(describe=offsets(("t", 0, 5, "a-1"), ("-", "-", "-", "b-1")))
    assert held(case) == {"a-1": {"t": [0]}, "b-1": {}}


def test_no_commit_is_no_lag() -> None:
    case = only(describe=offsets(("t", 0, "-", "a-1"), ("t", 1, -3, "a-1")))
    assert case.lag == {"t": [(1, 0)]}


def test_the_members_form_has_members_and_the_plain_form_has_lag() -> None:
    case = only(
        members=members(("a-1", 2, "t:0;u:1"), ("b-1", 0, "-")),
        describe=offsets(("t", 0, 5, "a-1"), ("u", 1, 6, "a-1")),
        state=state("Stable", 2, strategy="sticky"),
    )
    assert held(case) == {"a-1": {"t": [0], "u": [1]}, "b-1": {}}
    assert case.lag == {"t": [(0, 5)], "u": [(1, 6)]}
    assert case.client_assignor == "sticky"
    assert case.members is not None
    assert case.members["b-1"].client_id == "client b-1"
    assert case.source == "dir/describe.txt"
    assert (case.at_rest, case.members_listed) == ("state", "all")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("t:0,1;u:2", {"t": [0, 1], "u": [2]}),
        ("t(0,1), u(2)", {"t": [0, 1], "u": [2]}),
        ("t(0,1),u(2)", {"t": [0, 1], "u": [2]}),
        ("t(0,1),2nd(2)", {"t": [0, 1], "2nd": [2]}),
        ("orders.v2_test:10", {"orders.v2_test": [10]}),
        ("-", {}),
        ("", {}),
    ],
)
def test_assignments_of_all_versions(cell: str, expected: dict[str, list[int]]) -> None:
    assert assignment_of(cell) == expected


@pytest.mark.parametrize(
    "cell", ["t", "t:", "t:x", "t:0;", "t(0", "t:0,1;u", "t:-1", "t:9999999999"]
)
def test_an_assignment_that_does_not_read(cell: str) -> None:
    with pytest.raises(CellError):
        assignment_of(cell)


def test_topics_without_names_are_recognized_by_the_plain_form() -> None:
    unnamed = members(("a-1", 1, "(0)"), ("b-1", 2, "(1,2)"))
    with pytest.raises(UnnamedTopicsError):
        assignment_of("(0), (1,2)")
    with pytest.raises(NotJudged, match="the plain form") as error:
        only(members=unnamed)
    assert error.value.sound
    plain = offsets(("t", 0, 1, "a-1"), ("t", 1, 1, "b-1"), ("t", 2, 1, "b-1"))
    case = only(members=unnamed, describe=plain)
    assert held(case) == {"a-1": {"t": [0]}, "b-1": {"t": [1, 2]}}


@pytest.mark.parametrize(
    "row",
    [
        ("t", 10**12, 5, "a-1"),
        ("t", MOST_PARTITIONS, 5, "a-1"),
        ("t", "x", 5, "a-1"),
        ("t", 0, 10**19, "a-1"),
    ],
)
def test_numbers_that_are_none(row: tuple[str, object, object, str]) -> None:
    (snapshot,), _ = read(describe=offsets(row))
    with pytest.raises(NotJudged, match=r"line 3: .*no number") as error:
        case_of(snapshot)
    assert not error.value.sound
    assert error.value.place == ("dir/describe.txt", 3)


@pytest.mark.parametrize(
    "cell",
    [
        f"t({MOST_PARTITIONS})",
        f"t:{MOST_PARTITIONS}",
        "t(1000000000)",
        "t(1000000,30000000)",
    ],
)
def test_a_partition_above_the_limit_of_records_is_damage(cell: str) -> None:
    with pytest.raises(CellError, match="no number up to 131071"):
        assignment_of(cell)
    assert assignment_of(f"t({MOST_PARTITIONS - 1})") == {"t": [MOST_PARTITIONS - 1]}


def test_forms_that_contradict_each_other_are_not_judged() -> None:
    case = only(members=members(("a", 0, "-"), ("b", 0, "-")), state=state("Stable", 3))
    assert case.doubt == "--state counts 3 members, 2 are listed"
    assert case.at_rest is None
    case = only(members=members(("a", 1, "t:0,1")))
    assert case.doubt == "line 3: #PARTITIONS 1, 2 listed"
    unnamed = members(("a-1", 1, "(0)"), ("b-1", 2, "(1,2)"))
    snapshots, _ = read(members=unnamed, describe=offsets(("t", 0, 1, "a-1")))
    assert len(snapshots) == 2  # they are of two moments


@pytest.mark.parametrize("name", ["PreparingRebalance", "CompletingRebalance"])
def test_a_rebalancing_group_is_quarantined(name: str) -> None:
    plain = offsets(("t", 0, 5, "a-1"))
    with pytest.raises(NotJudged, match=name) as error:
        only(describe=plain, state=state(name, 1))
    assert error.value.sound
    warned = "\nWarning: Consumer group 'g' is rebalancing.\n" + plain
    with pytest.raises(NotJudged, match="in the middle"):
        only(describe=warned)


def test_a_group_without_members_is_quarantined() -> None:
    with pytest.raises(NotJudged, match="without active members"):
        only(describe="\nConsumer group 'g' has no active members.\n")
    with pytest.raises(NotJudged, match="without active members"):
        only(state=state("Empty", 0))
    with pytest.raises(NotJudged, match="without active members"):
        only(describe=offsets(("t", 0, 5, "-")))


def test_an_unassigned_partition_needs_a_state() -> None:
    plain = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "-"))
    alone = only(describe=plain)
    both = only(describe=plain, state=state("Stable", 1))
    assert held(alone) == held(both) == {"a-1": {"t": [0]}}
    assert (alone.at_rest, both.at_rest) == (None, "state")


def test_a_topic_without_subscribers_has_no_owner() -> None:
    case = only(describe=offsets(("t", 0, 5, "a-1"), ("old", 0, 5, "-")))
    assert case.members is not None
    assert case.members["a-1"].subscription == ["t"]


def test_names_may_hold_spaces_and_anything() -> None:
    name, group = "my client-1 <script>", "a group 😀"
    rows = [(name, 1, "t:0"), ("é😀-2", 0, "-")]
    (snapshot,), strays = read(members=members(*rows, group=group))
    assert strays == []
    case = case_of(snapshot)
    assert case.group_id == group
    assert held(case) == {name: {"t": [0]}, "é😀-2": {}}


def test_an_empty_cell_between_others() -> None:
    names = (*MEMBERS[:2], "GROUP-INSTANCE-ID", *MEMBERS[2:])
    rows = [
        ("g", "a-1", "static 1", "/h", "a", 1, "t:0"),
        ("g", "b-1", "", "/h", "b", 0, "-"),
    ]
    case = only(members=table(names, rows))
    assert case.members is not None
    assert case.members["a-1"].instance_id == "static 1"
    assert case.members["b-1"].instance_id is None


def test_a_value_wider_than_its_column_is_counted_instead() -> None:
    wide = "com.example.assignors.Custom"
    case = only(
        describe=offsets(("t", 0, 10**17, "a-1"), ("t", 1, 2, "a-1")),
        state=state("Stable", 1, strategy=wide),
    )
    assert case.client_assignor == wide
    assert case.lag == {"t": [(0, 10**17), (1, 2)]}


def test_several_groups_in_one_file() -> None:
    text = offsets(("t", 0, 5, "a-1"), group="g1") + offsets(
        ("t", 0, 6, "b-1"), group="g2"
    )
    snapshots, _ = read(describe=text)
    assert [(s.group_id, case_of(s).lag) for s in snapshots] == [
        ("g1", {"t": [(0, 5)]}),
        ("g2", {"t": [(0, 6)]}),
    ]


def test_a_group_shown_twice_is_two_snapshots() -> None:
    text = offsets(("t", 0, 5, "a-1")) + offsets(("t", 0, 6, "a-1"))
    snapshots, _ = read(describe=text, state=state("Stable", 1))
    assert [(s.name, case_of(s).lag, s.at_rest) for s in snapshots] == [
        ("dir/describe.txt", {"t": [(0, 5)]}, "texts"),
        ("dir/describe.txt#2", {"t": [(0, 6)]}, "texts"),
    ]


def test_topic_sizes_are_those_of_the_groups_own_rows() -> None:
    def text(group: str, most: int) -> str:
        return members(("a-1", 1, f"t:{most}"), group=group) + state(
            "Stable", 1, group=group
        )

    snapshots, _ = read(one=text("bad", 100_000) + text("good", 3))
    cases = with_group_sizes(map(case_of, snapshots))
    assert [(c.group_id, c.least_sizes) for c in cases] == [
        ("bad", {"t": 100_001}),
        ("good", {"t": 4}),
    ]
    case = only(
        describe=offsets(("t", 3, 5, "a-1"), ("u", 5, 5, "a-1"), ("old", 7, 5, "-")),
        members=members(("a-1", 2, "t:3;u:5")),
        state=state("Stable", 1),
    )
    assert case.least_sizes == {"t": 4, "old": 8, "u": 6}


# What a real tool printed.

EMPTY = "a group without active members"


def test_every_form_of_the_real_tool() -> None:
    folder = TESTS / "data/describe-4.3.1"
    files = [
        (f"d/{path.name}", lines(path.read_text()))
        for path in sorted(folder.iterdir())
        if not path.name.startswith("list")
    ]
    snapshots, strays = read_snapshots(files)
    assert strays == []
    judged, refused = {}, {}
    for snapshot in snapshots:
        try:
            judged[snapshot.name, snapshot.group_id] = case_of(snapshot)
        except NotJudged as error:
            refused[snapshot.name, snapshot.group_id] = error.sound, str(error)
    assert refused.pop(("d/nope.describe.stderr", "g-nope"))[0]
    assert refused == {
        (f"d/{name}", group): (True, reason)
        for name, group, reason in (
            ("all-groups.describe.txt", "g-empty", EMPTY),
            ("g-simple.describe.txt", "g-simple", EMPTY),
            (
                "g-java-coop.rebalancing.describe.txt",
                "g-java-coop",
                "a group in state PreparingRebalance",
            ),
            (
                "g-java-coop.rebalancing.describe.stderr",
                "g-java-coop",
                "a group in the middle of a rebalance",
            ),
        )
    }
    last = judged.pop(
        ("d/g-java-sticky.after-leave.members-verbose.txt", "g-java-sticky")
    )
    assert (last.at_rest, len(last.members or {})) == (None, 2)
    # All other tables of a group are of one moment, and a --state table says so.
    assert [name for name, _ in judged] == ["d/all-groups.describe.txt"] * 10
    assert {case.at_rest for case in judged.values()} == {"state"}
    assert {case.members_listed for case in judged.values()} == {"all"}
    assert {case.doubt for case in judged.values()} == {None}
    of = {group: case for (_, group), case in judged.items()}
    static = of["g-static"]
    assert static.protocol == "classic"
    assert {m.instance_id for m in (static.members or {}).values()} == {
        "inst-0",
        "inst-1",
    }
    assert of["g-848-regex"].protocol == "consumer"
    assert list(held(of["g-848-regex"]).values()) == [
        {"orders": [0, 1, 2, 3, 4, 5], "orders.v2_test": [0, 1]}
    ]
