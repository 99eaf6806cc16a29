"""Texts of ``kafka-consumer-groups --describe`` by name, one file or several each."""

from __future__ import annotations

from typing import Final

from pipeline.sightings import MOST_PARTITIONS
from tests.pipeline.describe.describe_text import (
    MEMBERS,
    OFFSETS,
    members,
    offsets,
    state,
    table,
)
from tests.support.wire import TESTS

Files = dict[str, str | bytes]


def of_groups(*cells: str) -> str:
    """Return members forms, each with one assignment, of a group each."""
    return "".join(members(("a-1", 1, cell), group=f"group {cell!r}") for cell in cells)


def of_topic(group: str, most: int) -> str:
    text = members(("a-1", 1, f"t:{most}"), group=group)
    return text + state("Stable", 1, group=group)


PLAIN: Final = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "a-1"), ("t", 2, 5, "b-1"))
ONE: Final = offsets(("t", 0, 5, "a-1"))
UNNAMED: Final = members(("a-1", 1, "(0)"), ("b-1", 2, "(1,2)"))
UNASSIGNED: Final = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "-"))
FAILED: Final = (
    "Error: Executing consumer group command failed due to "
    "org.apache.kafka.common.errors."
)
MESSAGES: Final = f"""\
Error: Consumer group 'a b' does not exist.
Error: The consumer group 'g' does not exist.
{FAILED}GroupIdNotFoundException: Group g-nope not found.
{FAILED}TimeoutException: Call(…) timed out at 9 after 1 attempt(s)
[2026-03-01 12:00:00,123] ERROR No broker (org.apache.X)
java.util.concurrent.ExecutionException: x
[2026-03-01 12:00:00,123] WARN slow (org.apache.X)
Warning: the option is deprecated
OpenJDK 64-Bit Server VM warning: Sharing is off
Picked up JAVA_TOOL_OPTIONS: -Xmx1g
\tat java.base/java.util.A.get(A.java:396)
Caused by: org.apache.kafka.X.TimeoutException: y
\t... 7 more
"""
BEGIN, END = offsets(("t", 0, 5, "a-1"), ("t", 1, 5, "a-1")).rsplit("g  ", 1)
WARNING: Final = "[2026-03-01 12:00:00,1] WARN slow (org.apache.X)\n"
WITHOUT_GROUP: Final = "Note: This will not show information about old Zookeeper-based"
OLD: Final[Files] = {
    "describe": f"{WITHOUT_GROUP} consumers.\n"
    + table(
        OFFSETS[1:],
        [
            ("t", 0, "-", "-", 5, "a-1", "/h", "a"),
            ("t", 1, 0, 5, 5, "b-1", "/h", "b"),
        ],
    ),
    "members": table(
        MEMBERS[1:], [("a-1", "/h", "a", 1, "t(0)"), ("b-1", "/h", "b", 1, "t(1)")]
    ),
}


def rpk(group: str, count: int, *rows: str) -> str:
    summary = f"""\
GROUP        {group}
COORDINATOR  0
STATE        Stable
BALANCER     roundrobin
MEMBERS      {count}
TOTAL-LAG    12

"""
    heading = "TOPIC  PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  "
    heading += "LAG  MEMBER-ID  CLIENT-ID  HOST\n"
    return summary + heading + "".join(f"{row}\n" for row in rows) + "\n"


HERE: Final = (
    "t      {}          1               0                 6               "
    "5    {:<10} c          10.0.0.1"
)
HELD_BY_TWO: Final = HERE.format(0, "a-1"), HERE.format(1, "b-1")
NOBODY: Final = "t      2          1               0                 6               5"
COMMAS: Final = """\
GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
g, t, 0, 12, 18, 6, c_/192.0.2.1
g, t, 1, unknown, 18, unknown, c_/192.0.2.2
g, t, 2, 12, 18, 6, none
"""
PLACES: Final = table(
    (*OFFSETS[:6], "OWNER"),
    [
        ("g", "t", 0, 12, 18, 6, "c_/192.0.2.1"),
        ("g", "t", 1, "-", 18, "-", "c_/192.0.2.2"),
        ("g", "t", 2, 12, 18, 6, "-"),
    ],
)
DAMAGED_ROWS: Final = ("{} t", "{}  t  x", "x a-1", "t 1 5 5", "gone {} /10.0.0.1")

DESCRIBED: Final[dict[str, Files]] = {
    "the plain form alone": {
        "describe": offsets(("t", 0, 5, "a-1"), ("t", 1, 7, "b-1"), ("t", 2, 0, "a-1"))
    },
    "a member without partitions is a member": {
        "describe": offsets(("t", 0, 5, "a-1"), ("-", "-", "-", "b-1"))
    },
    "no commit is no lag": {
        "describe": offsets(("t", 0, "-", "a-1"), ("t", 1, -3, "a-1"))
    },
    "the members form has members and the plain form has lag": {
        "members": members(("a-1", 2, "t:0;u:1"), ("b-1", 0, "-")),
        "describe": offsets(("t", 0, 5, "a-1"), ("u", 1, 6, "a-1")),
        "state": state("Stable", 2, strategy="sticky"),
    },
    "assignments of all versions": {
        "members": members(
            ("a-1", 3, "t:0,1;u:2"),
            ("b-1", 3, "t(0,1), u(2)"),
            ("c-1", 3, "t(0,1),u(2)"),
            ("d-1", 3, "t(0,1),2nd(2)"),
            ("e-1", 1, "orders.v2_test:10"),
            ("f-1", 0, "-"),
            ("g-1", 1, f"t({MOST_PARTITIONS - 1})"),
        )
    },
    "assignments that do not read": {
        "members": of_groups(
            *("t", "t:", "t:x", "t:0;", "t(0", "t:0,1;u", "t:-1", "t:9999999999")
        )
    },
    "partitions above the limit of records are damage": {
        "members": of_groups(
            *(f"t({MOST_PARTITIONS})", f"t:{MOST_PARTITIONS}", "t(1000000000)"),
            "t(1000000,30000000)",
        )
    },
    "numbers that are none": {
        "describe": "".join(
            offsets(row, group=f"group-{number}")
            for number, row in enumerate(
                (
                    ("t", 10**12, 5, "a-1"),
                    ("t", MOST_PARTITIONS, 5, "a-1"),
                    ("t", "x", 5, "a-1"),
                    ("t", 0, 10**19, "a-1"),
                )
            )
        )
    },
    "topics without names": {"members": UNNAMED},
    "topics without names are recognized by the plain form": {
        "members": UNNAMED,
        "describe": offsets(("t", 0, 1, "a-1"), ("t", 1, 1, "b-1"), ("t", 2, 1, "b-1")),
    },
    "topics without names of another moment": {
        "members": UNNAMED,
        "describe": offsets(("t", 0, 1, "a-1")),
    },
    "a state that counts more members": {
        "members": members(("a", 0, "-"), ("b", 0, "-")),
        "state": state("Stable", 3),
    },
    "a member that counts fewer partitions": {"members": members(("a", 1, "t:0,1"))},
    "a rebalancing group is quarantined": {
        "describe": ONE
        + offsets(("t", 0, 5, "a-1"), group="other")
        + "\nWarning: Consumer group 'warned' is rebalancing.\n"
        + offsets(("t", 0, 5, "a-1"), group="warned"),
        "state": state("PreparingRebalance", 1)
        + state("CompletingRebalance", 1, group="other"),
    },
    "groups without members are quarantined": {
        "describe": "\nConsumer group 'said' has no active members.\n"
        + offsets(("t", 0, 5, "-"), group="listed"),
        "state": state("Empty", 0, group="empty"),
    },
    "an unassigned partition": {"describe": UNASSIGNED},
    "an unassigned partition of a group at rest": {
        "describe": UNASSIGNED,
        "state": state("Stable", 1),
    },
    "a topic without subscribers has no owner": {
        "describe": offsets(("t", 0, 5, "a-1"), ("old", 0, 5, "-"))
    },
    "names may hold spaces and anything": {
        "members": members(
            ("my client-1 <script>", 1, "t:0"), ("é😀-2", 0, "-"), group="a group 😀"
        )
    },
    "an empty cell between others": {
        "members": table(
            (*MEMBERS[:2], "GROUP-INSTANCE-ID", *MEMBERS[2:]),
            [
                ("g", "a-1", "static 1", "/h", "a", 1, "t:0"),
                ("g", "b-1", "", "/h", "b", 0, "-"),
            ],
        )
    },
    "a value wider than its column is counted instead": {
        "describe": offsets(("t", 0, 10**17, "a-1"), ("t", 1, 2, "a-1")),
        "state": state("Stable", 1, strategy="com.example.assignors.Custom"),
    },
    "several groups in one file": {
        "describe": offsets(("t", 0, 5, "a-1"), group="g1")
        + offsets(("t", 0, 6, "b-1"), group="g2")
    },
    "a group shown twice is two snapshots": {
        "describe": ONE + offsets(("t", 0, 6, "a-1")),
        "state": state("Stable", 1),
    },
    "topic sizes are those of the group's own rows": {
        "one": of_topic("bad", 100_000) + of_topic("good", 3)
    },
    "topic sizes of all forms": {
        "describe": offsets(("t", 3, 5, "a-1"), ("u", 5, 5, "a-1"), ("old", 7, 5, "-")),
        "members": members(("a-1", 2, "t:3;u:5")),
        "state": state("Stable", 1),
    },
    "every form of the real tool": {
        path.name: path.read_text()
        for path in sorted((TESTS / "data/describe-4.3.1").iterdir())
        if not path.name.startswith("list")
    },
    # Damage, and messages.
    "a member listed twice is refused": {
        "members": members(("a-1", 1, "t:0"), ("a-1", 1, "t:1"))
    },
    "a partition listed twice is refused": {
        "describe": offsets(("t", 0, 5, "a-1"), ("t", 0, 5, "a-1"))
    },
    "a partition held by two is for the judge": {
        "describe": offsets(("t", 0, 5, "a-1"), ("t", 0, 5, "b-1"))
    },
    "an error names the file of its line": {
        "describe": offsets(("t", "x", 5, "a-1")),
        "members": members(("a-1", 1, "t:0")),
    },
    "damaged rows cost their groups": {
        f"row {number}": PLAIN.replace("\ng  ", f"\ng{number} ")
        + row.format(f"g{number}")
        + "\n"
        for number, row in enumerate(DAMAGED_ROWS)
    },
    "messages of the tool": {
        "describe": offsets(("t", 0, 5, "a-1"), group="other") + "\n" + MESSAGES
    },
    "messages do not end a table and are no damage": {
        "describe": "Error: something\n\tat java.lang.X.y(X.java:1)\n"
        f"{BEGIN}{WARNING}g  {END}\nwhat is this?\n"
    },
    "an error about a group quarantines it": {
        "describe": "\nError: Consumer group 'g' does not exist.\n"
        + offsets(("t", 0, 5, "a-1"), group="other")
    },
    "bytes that are no text cost their line": {
        "describe": b"\xff\xfe\x00 \x80\n" + ONE.encode()
    },
    # Other versions and tools.
    "a table without group": OLD,
    "rpk names the group above its table": {
        "one": rpk("one", 2, *HELD_BY_TWO) + rpk("other", 3, *HELD_BY_TWO, NOBODY)
    },
    "owners between commas are no members": {"describe": COMMAS},
    "owners are no members": {"describe": PLACES},
    "an assignment with spaces in single-spaced columns": {
        "members": """\
GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT
g a-1 /127.0.0.1 a 2 t(0), u(0)
g b-1 /127.0.0.1 b 0 -
"""
    },
}
