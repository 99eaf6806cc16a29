"""Damaged describe text: cut, contradictory, or mixed with messages of the tool."""

from __future__ import annotations

import pytest

from pipeline.describe.group_case import case_of
from pipeline.describe.refusal import NotJudged
from pipeline.describe.tool_messages import ERROR, IGNORED, Note, note_of
from pipeline.sources.describe_files import read_snapshots
from pipeline.sources.lines import Line
from tests.pipeline.describe.describe_text import (
    KIP_1099,
    MEMBERS,
    held,
    members,
    offsets,
    only,
    read,
    state,
    table,
)

FAILED = (
    "Error: Executing consumer group command failed due to "
    "org.apache.kafka.common.errors."
)


def test_a_member_listed_twice_is_refused() -> None:
    with pytest.raises(NotJudged, match="'a-1' listed twice") as error:
        only(members=members(("a-1", 1, "t:0"), ("a-1", 1, "t:1")))
    assert not error.value.sound
    with pytest.raises(NotJudged, match="listed twice for 'a-1'"):
        only(describe=offsets(("t", 0, 5, "a-1"), ("t", 0, 5, "a-1")))


def test_a_partition_held_by_two_is_for_the_judge() -> None:
    case = only(describe=offsets(("t", 0, 5, "a-1"), ("t", 0, 5, "b-1")))
    assert held(case) == {"a-1": {"t": [0]}, "b-1": {"t": [0]}}


def test_cut_anywhere_a_group_is_whole_or_refused() -> None:
    """However much is missing: nothing is judged that lost partitions.

    A text that ends after a line is not known to be cut, but nor does it show alone
    that the group was at rest.
    """
    rows = [(t, n, 5, m) for m, n in (("a-1", 1), ("b-1", 0)) for t in ("t", "u")]
    text = offsets(*rows)
    whole = held(only(describe=text))
    for end in range(len(text) - 1):
        snapshots, strays = read(describe=text[:end])
        for snapshot in snapshots:
            if "\n" in text[end - 1 : end + 1]:
                case = case_of(snapshot)
                assert (case.at_rest, case.members_listed) == (None, "with-partitions")
            else:
                with pytest.raises(NotJudged):
                    case_of(snapshot)
        assert len(snapshots) + len(strays) <= 1
    assert held(only(describe=text[:-1])) == held(only(describe=text)) == whole


@pytest.mark.parametrize(
    "rows",
    [
        (("a-1", 3, "t:0,1,2"), ("b-1", 3, "t:3,4,5")),
        (("a-1", 3, "t:0,1,2"), ("b-1", 2, "t:3,4")),
        (("a-1", 9, "t:0,2,3,4,5,6,7,8,9"), ("b-1", 3, "t:1,10,11")),
    ],
)
def test_cut_inside_a_line_an_assignment_is_refused(
    rows: tuple[tuple[str, int, str], ...],
) -> None:
    text = members(*rows)
    start = text.rindex("b-1")
    for end in range(start, len(text) - 1):
        (snapshot,), _ = read(members=text[:end])
        with pytest.raises(NotJudged) as error:
            case_of(snapshot)
        assert not error.value.sound
    assert held(only(members=text[:-1])) == held(only(members=text))


def test_the_other_forms_are_read_without_a_last_line_feed() -> None:
    forms = {
        "describe": offsets(("t", 0, 5, "a-1"), ("t", 1, 7, "b-1")),
        "members": table(
            (*MEMBERS[:5], *KIP_1099),
            [
                ("g", "a-1", "/h", "a", 1, 4, "t:0", 4, "t:0"),
                ("g", "b-1", "/h", "b", 1, 4, "t:1", 4, "t:1"),
            ],
        ),
        "state": state("Stable", 2),
    }
    cut = {name: text.rstrip("\n") for name, text in forms.items()}
    assert only(**cut) == only(**forms)


def test_an_error_names_the_file_of_its_line() -> None:
    (damaged, other), _ = read(
        describe=offsets(("t", "x", 5, "a-1")), members=members(("a-1", 1, "t:0"))
    )
    with pytest.raises(NotJudged, match="line 3: partition is 'x'") as error:
        case_of(damaged)
    assert error.value.place == ("dir/describe.txt", 3)
    assert held(case_of(other)) == {"a-1": {"t": [0]}}


@pytest.mark.parametrize(
    ("text", "group", "says"),
    [
        ("Error: Consumer group 'a b' does not exist.", "a b", ERROR),
        ("Error: The consumer group 'g' does not exist.", "g", ERROR),
        (
            f"{FAILED}GroupIdNotFoundException: Group g-nope not found.",
            "g-nope",
            ERROR,
        ),
        (
            f"{FAILED}TimeoutException: Call(…) timed out at 9 after 1 attempt(s)",
            None,
            ERROR,
        ),
        ("[2026-03-01 12:00:00,123] ERROR No broker (org.apache.X)", None, ERROR),
        ("java.util.concurrent.ExecutionException: x", None, ERROR),
        ("[2026-03-01 12:00:00,123] WARN slow (org.apache.X)", None, IGNORED),
        ("Warning: the option is deprecated", None, IGNORED),
        ("OpenJDK 64-Bit Server VM warning: Sharing is off", None, IGNORED),
        ("Picked up JAVA_TOOL_OPTIONS: -Xmx1g", None, IGNORED),
        ("\tat java.base/java.util.A.get(A.java:396)", None, IGNORED),
        ("Caused by: org.apache.kafka.X.TimeoutException: y", None, IGNORED),
        ("\t... 7 more", None, IGNORED),
    ],
)
def test_messages_of_the_tool(text: str, group: str | None, says: str) -> None:
    message = text.strip()
    assert note_of(text, 5) == Note(line=5, group_id=group, says=says, text=message)


def test_messages_do_not_end_a_table_and_are_no_damage() -> None:
    warning = "[2026-03-01 12:00:00,1] WARN slow (org.apache.X)\n"
    one, two = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "a-1")).rsplit("g  ", 1)
    text = "Error: something\n\tat java.lang.X.y(X.java:1)\n" + one + warning
    snapshots, strays = read(describe=text + "g  " + two + "\nwhat is this?\n")
    assert [line.line for _, line in strays] == [1, 9]
    assert [held(case_of(snapshot)) for snapshot in snapshots] == [
        {"a-1": {"t": [0, 1]}}
    ]


def test_an_error_about_a_group_quarantines_it() -> None:
    error = "\nError: Consumer group 'g' does not exist.\n"
    good = offsets(("t", 0, 5, "a-1"), group="other")
    other, gone = read(describe=error + good)[0]
    assert held(case_of(other)) == {"a-1": {"t": [0]}}
    with pytest.raises(NotJudged, match="the tool reports: Error: Consumer") as found:
        case_of(gone)
    assert (gone.group_id, found.value.sound) == ("g", True)
    assert found.value.place == ("dir/describe.txt", 2)


def test_bytes_that_are_no_text_cost_their_line() -> None:
    text = offsets(("t", 0, 5, "a-1")).encode()
    damaged = [
        Line(number=9, text=b"\xff\xfe\x00 \x80"),
        *[Line(number=i, text=t) for i, t in enumerate(text.splitlines())],
    ]
    snapshots, strays = read_snapshots([("d/describe.txt", damaged)])
    assert len(strays) == 1
    assert held(case_of(snapshots[0])) == {"a-1": {"t": [0]}}
