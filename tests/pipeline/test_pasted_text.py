"""Describe text as people have it: other versions and tools, pasted and mixed."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cases import Case
from pipeline.describe.group_case import case_of
from pipeline.describe.sections import Stray
from pipeline.sources.describe_files import read_snapshots
from tests.pipeline.describe.describe_text import (
    MEMBERS,
    OFFSETS,
    held,
    lines,
    members,
    offsets,
    table,
)

Held = dict[str, dict[str, list[int]]]
BOTH: Held = {"a-1": {"t": [0, 1]}, "b-1": {"t": [2]}}
PLAIN = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "a-1"), ("t", 2, 5, "b-1"))


def read(text: str, name: str | None = None) -> tuple[list[Case], list[Stray]]:
    snapshots, strays = read_snapshots([("x.txt", lines(text))], group_name=name)
    return [case_of(snapshot) for snapshot in snapshots], strays


def only(text: str, name: str | None = None) -> Case:
    (case,), strays = read(text, name)
    assert strays == []
    return case


def test_a_table_without_group_has_the_group_that_is_given() -> None:
    rows = [
        ("t", 0, "-", "-", 5, "a-1", "/h", "a"),
        ("t", 1, 0, 5, 5, "b-1", "/h", "b"),
    ]
    text = "Note: This will not show information about old Zookeeper-based consumers.\n"
    text += table(OFFSETS[1:], rows)
    case = only(text, "orders")
    assert case.group_id == "orders"
    assert held(case) == {"a-1": {"t": [0]}, "b-1": {"t": [1]}}
    text = table(
        MEMBERS[1:], [("a-1", "/h", "a", 2, "t(0,1)"), ("b-1", "/h", "b", 0, "-")]
    )
    assert held(only(text, "orders")) == {"a-1": {"t": [0, 1]}, "b-1": {}}
    cases, strays = read(text)
    assert cases == []
    reasons = {getattr(line, "reason", None) for _, line in strays}
    assert reasons == {
        "a table without the column GROUP: name its group with --group-name"
    }
    assert len(strays) == 2


def test_a_group_name_does_not_rename_groups() -> None:
    assert only(PLAIN, "other").group_id == "g"


def rpk(group: str, state: str, count: int, *rows: str) -> str:
    summary = f"""\
GROUP        {group}
COORDINATOR  0
STATE        {state}
BALANCER     roundrobin
MEMBERS      {count}
TOTAL-LAG    12

"""
    heading = "TOPIC  PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  "
    heading += "LAG  MEMBER-ID  CLIENT-ID  HOST\n"
    return summary + heading + "".join(f"{row}\n" for row in rows) + "\n"


HERE = "t      {}          1               0                 6               "
HERE += "5    {:<10} c          10.0.0.1"
NOBODY = "t      2          1               0                 6               5"


def test_rpk_names_the_group_above_its_table() -> None:
    one = rpk("one", "Stable", 2, HERE.format(0, "a-1"), HERE.format(1, "b-1"))
    other = rpk(
        "other", "Stable", 3, HERE.format(0, "a-1"), HERE.format(1, "b-1"), NOBODY
    )
    cases, strays = read(one + other)
    assert strays == []
    assert [(c.group_id, c.members_listed, c.at_rest) for c in cases] == [
        ("one", "all", "state"),
        ("other", "with-partitions", "state"),
    ]
    assert cases[0].client_assignor == "roundrobin"
    assert cases[0].lag == {"t": [(0, 5), (1, 5)]}
    assert held(cases[1]) == {"a-1": {"t": [0]}, "b-1": {"t": [1]}}
    assert cases[1].least_sizes == {"t": 3}


OWNER = (*OFFSETS[:6], "OWNER")


COMMAS = """\
GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
g, t, 0, 12, 18, 6, c_/192.0.2.1
g, t, 1, unknown, 18, unknown, c_/192.0.2.2
g, t, 2, 12, 18, 6, none
"""
PLACES = table(
    OWNER,
    [
        ("g", "t", 0, 12, 18, 6, "c_/192.0.2.1"),
        ("g", "t", 1, "-", 18, "-", "c_/192.0.2.2"),
        ("g", "t", 2, 12, 18, 6, "-"),
    ],
)


@pytest.mark.parametrize("text", [COMMAS, PLACES])
def test_owners_are_read_and_are_no_members(text: str) -> None:
    case = only(text)
    assert held(case) == {"c_/192.0.2.1": {"t": [0]}, "c_/192.0.2.2": {"t": [1]}}
    assert case.members_listed == "owners"
    assert case.lag == {"t": [(0, 6), (2, 6)]}


def squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def tabbed(text: str) -> str:
    return squeezed(text).replace(" ", "\t")


@pytest.mark.parametrize("lay", [squeezed, tabbed])
def test_columns_that_lost_their_alignment(lay: Any) -> None:
    assert held(only(lay(PLAIN))) == BOTH


def test_an_assignment_with_spaces_in_single_spaced_columns() -> None:
    text = """\
GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT
g a-1 /127.0.0.1 a 2 t(0), u(0)
g b-1 /127.0.0.1 b 0 -
"""
    assert held(only(text)) == {"a-1": {"t": [0], "u": [0]}, "b-1": {}}


def colored(text: str) -> str:
    return text.replace("GROUP", "\x1b[1;32mGROUP\x1b[0m").replace("a-1", "\x1b[31ma-1")


def spread(text: str) -> str:
    return text.replace("\n", "\n  \n\n")


def windows(text: str) -> str:
    return text.replace("\n", "\r\n")


@pytest.mark.parametrize("made", [colored, spread, windows])
def test_what_terminals_and_editors_add(made: Any) -> None:
    assert held(only(made(PLAIN))) == BOTH
    assert held(only(made(members(("a-1", 2, "t:0,1"), ("b-1", 1, "t:2"))))) == BOTH


FOREIGN = [
    "bash-5.1# ",
    "bash-5.1# kafka-consumer-groups.sh --group g --describe --members",
    'pod "kafka-consumer-groups" deleted',
    "# taken before the restart",
    "If you don't see a command prompt, try pressing enter.",
    "one two three four five six seven eight nine",
    "$",
]


@pytest.mark.parametrize("line", FOREIGN)
@pytest.mark.parametrize("at", ["above", "below", "between", "at the end"])
def test_a_foreign_line_costs_only_itself(line: str, at: str) -> None:
    head, *rows = PLAIN.strip().split("\n")
    text = {
        "above": [line, head, *rows, ""],
        "below": [head, *rows, line, ""],
        "between": [head, rows[0], line, *rows[1:], ""],
        "at the end": [head, *rows, line],
    }[at]
    (case,), strays = read("\n".join(text))
    assert held(case) == BOTH
    assert [line.text for _, line in strays] == [line.encode()]


@pytest.mark.parametrize(
    "line", ["g t", "g  t  x", "x a-1", "t 1 5 5", "gone g /10.0.0.1"]
)
def test_a_damaged_row_costs_its_group(line: str) -> None:
    snapshots, strays = read_snapshots([("x.txt", lines(PLAIN + line + "\n"))])
    assert strays == []
    assert [len(section.faults) for section in snapshots[0].sections] == [1]


@pytest.mark.parametrize(
    "prefix", ["2026-09-29T16:06:23.890123456Z stdout F ", "broker-1  | "]
)
def test_constant_prefixes_of_logs(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in PLAIN.strip().split("\n"))
    assert held(only(text)) == BOTH
    (case,), strays = read(text + f"{prefix}a line of something else\n")
    assert held(case) == BOTH
    assert len(strays) == 1
