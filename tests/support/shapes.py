"""Named rebalances that chance misses: everyone's ``@example``.

Each is a plain ``rebalance/1`` document. Take a copy before changing one:
``shape("CHAIN")`` gives a fresh one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]


def member(
    subscription: Sequence[str],
    owned: Mapping[str, Sequence[int]] | None = None,
    generation: int | None = None,
    **more: object,
) -> Document:
    """Return a member's part of a document; what is None is left out."""
    out: Document = {"subscription": list(subscription)}
    if owned is not None:
        out["owned"] = {t: list(numbers) for t, numbers in owned.items()}
    if generation is not None:
        out["generation"] = generation
    return out | more


def rebalance(
    topics: Mapping[str, int | Document],
    members: Mapping[str, Document],
    **more: object,
) -> Document:
    """Return a ``rebalance/1`` document; a bare number is a partition count."""
    return {
        "format": "rebalance/1",
        "group": "g",
        **more,
        "topics": {
            name: {"partitions": topic} if isinstance(topic, int) else topic
            for name, topic in topics.items()
        },
        "members": dict(members),
    }


def claims_of(document: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return the member, topic, and number of each claim."""
    return [
        (name, topic, number)
        for name, entry in document["members"].items()
        for topic, numbers in entry.get("owned", {}).items()
        for number in numbers
    ]


# The smallest case that separates the two balances: no two members that share a
# topic differ by two, yet a -> b -> c -> d evens the group out.
CHAIN = rebalance(
    {"t": 2, "u": 1, "v": 1},
    {
        "a": member(["t"], {"t": [0, 1]}, 1),
        "b": member(["t", "u"], {"u": [0]}, 1),
        "c": member(["u", "v"], {"v": [0]}, 1),
        "d": member(["v"], None, 1),
    },
)

# The same over eight members, whose names do not follow the chain.
LONG_CHAIN = rebalance(
    {"t0": 2} | {f"t{i}": 1 for i in range(1, 7)},
    {
        "h": member(["t0"], {"t0": [0, 1]}),
        "b": member(["t0", "t1"], {"t1": [0]}),
        "g": member(["t1", "t2"], {"t2": [0]}),
        "c": member(["t2", "t3"], {"t3": [0]}),
        "f": member(["t3", "t4"], {"t4": [0]}),
        "d": member(["t4", "t5"], {"t5": [0]}),
        "e": member(["t5", "t6"], {"t6": [0]}),
        "a": member(["t6"]),
    },
)

# Loads 3, 2, 1, 0, and neighbours alone share a topic. Two moves even out two members
# that differ by two; three moves, all that differ by three. So on the front of moves
# against the sum of squares, that of two moves lies above the line of its neighbours.
STAIRCASE = rebalance(
    {"t": 3, "u": 2, "v": 1},
    {
        "a": member(["t"], {"t": [0, 1, 2]}, 1),
        "b": member(["t", "u"], {"u": [0, 1]}, 1),
        "c": member(["u", "v"], {"v": [0]}, 1),
        "d": member(["v"], None, 1),
    },
)

# By KIP-54's score the second move buys more than the first: 9, 7, 3.
HOARDER = rebalance(
    {"t": 3},
    {
        "a": member(["t"], {"t": [0, 1, 2]}, 1),
        "b": member(["t"]),
        "c": member(["t"]),
        "d": member(["t"]),
    },
)

# Two blocks with the same floor, 1, one with an extra partition and one without,
# and a member that could take from either: they are one level.
EQUAL_LEVEL_BLOCKS = rebalance(
    {"t": 3, "u": 2, "v": 1},
    {
        "a": member(["t"], {"t": [0, 1]}),
        "b": member(["t"], {"t": [2]}),
        "c": member(["u"], {"u": [0, 1]}),
        "d": member(["u", "t"]),
        "e": member(["v", "u"], {"v": [0]}),
    },
)

# A block of floor 3 above one of floor 0: two levels far apart.
TWO_LEVELS = rebalance(
    {"t": 6, "u": 1},
    {
        "a": member(["t"], {"t": [0, 1, 2, 3]}),
        "b": member(["t"], {"t": [4, 5]}),
        "c": member(["u"]),
        "d": member(["u"], {"u": [0]}),
        "e": member(["u", "t"]),
    },
)

# v starves beside w, which owns all they share and has no more than its due; only as
# part of an underloaded block can v be set apart from x and y.
STARVING = rebalance(
    {"t": 1, "u": 4, "z": 0},
    {
        "v": member(["t"]),
        "w": member(["t", "z"], {"t": [0]}),
        "x": member(["u"], {"u": [0, 1]}),
        "y": member(["u"], {"u": [2, 3]}),
    },
)

# Two members claim the same partition at the same generation: nobody owns it.
DOUBLE_CLAIM = rebalance(
    {"t": 3},
    {
        "c1": member(["t"], {"t": [0, 1]}, 4),
        "c2": member(["t"], {"t": [0, 2]}, 4),
        "c3": member(["t"], {}, 4),
    },
)

# KAFKA-7026, KIP-341: A returns with claims of the generation before.
STALE_CLAIM = rebalance(
    {"t": 6},
    {
        "A": member(["t"], {"t": [0, 3]}, 1),
        "B": member(["t"], {"t": [0, 1, 4]}, 2),
        "C": member(["t"], {"t": [2, 3, 5]}, 2),
    },
)

# KAFKA-14639: disjoint claims of four generations. ``newest-claim`` believes all
# of them, ``current-generation`` only d's.
MIXED_GENERATIONS = rebalance(
    {"t": 8},
    {
        "a": member(["t"], {"t": [0, 1]}, -1),
        "b": member(["t"], {"t": [2, 3]}, 7),
        "c": member(["t"], {"t": [4, 5]}, 8),
        "d": member(["t"], {"t": [6, 7]}, 9),
    },
)

# The newest claim is by a member that no longer subscribes: the older one stands.
NEWEST_CLAIM_UNSUBSCRIBED = rebalance(
    {"t": 1, "u": 1},
    {
        "a": member(["t"], {"t": [0]}, 1),
        "b": member(["u"], {"t": [0]}, 2),
    },
)

# Claims on a topic and on a partition that are gone.
VANISHED = rebalance(
    {"t": 2},
    {
        "a": member(["t", "gone"], {"t": [0, 1000], "gone": [0, 1]}, 1),
        "b": member(["t"], {"t": [1]}, 1),
    },
)

# KAFKA-7962: the only topic that anyone subscribes to is deleted.
ONLY_TOPIC_DELETED = rebalance({}, {"a": member(["t"], {"t": [0]}), "b": member(["t"])})

EMPTY_TOPIC = rebalance(
    {"t": 0, "u": 2}, {"a": member(["t", "u"]), "b": member(["t"], {"t": []})}
)

# A topic that nobody subscribes to: its partitions go to nobody.
TOPIC_WITHOUT_SUBSCRIBER = rebalance(
    {"t": 2, "u": 3}, {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"])}
)

# KAFKA-16930: B subscribes to nothing and is always at zero.
NO_TOPIC_MEMBER = rebalance({"t1": 3}, {"A": member(["t1"]), "B": member([])})

# Members that want only what does not exist count as members for the peak lag.
ONLY_MISSING_TOPICS_MEMBER = rebalance(
    {"t": {"partitions": 2, "lag": [5, 7]}},
    {"a": member(["t"]), "b": member(["gone", "gone2"], {"gone": [0]}, 3)},
)

NO_MEMBERS = rebalance({"t": 2}, {})
NO_TOPICS = rebalance({}, {"a": member([]), "b": member([])})
NO_PARTITIONS = rebalance({"t": 0}, {"a": member(["t"]), "b": member(["t"])})
NOTHING = rebalance({}, {})
ONE_MEMBER = rebalance({"t": 2, "u": 1}, {"a": member(["u", "t"], {"t": [1]})})
MORE_MEMBERS_THAN_PARTITIONS = rebalance(
    {"t": 2},
    {
        "a": member(["t"]),
        "b": member(["t"], {"t": [1]}),
        "c": member(["t"]),
        "d": member(["t"], {"t": [0]}),
    },
)

# KAFKA-17710: KIP-54 is content at 9, 10, 11; the optimum moves two partitions.
NINE_TEN_ELEVEN = rebalance(
    {"t1": 15, "t2": 15},
    {
        "m1": member(["t1"], {"t1": list(range(9))}, 1),
        "m2": member(["t1", "t2"], {"t1": list(range(9, 15)), "t2": [0, 1, 2, 3]}, 1),
        "m3": member(["t2"], {"t2": list(range(4, 15))}, 1),
    },
)

# Balance costs more than one move, and which ones are made matters (corpus).
STICKINESS = rebalance(
    {"t0": 1, "t1": 2, "t2": 2},
    {
        "c00": member(["t0", "t1"], {"t0": [0], "t1": [0, 1]}, 7),
        "c01": member(["t0", "t2"], {"t2": [0, 1]}, 7),
        "new": member(["t0", "t2"], None, 7),
    },
)
NEWCOMER = rebalance(
    {"t0": 1, "t1": 1, "t2": 1, "t3": 1},
    {
        "c00": member(["t0", "t2"], {"t0": [0], "t2": [0]}, 1),
        "c01": member(["t0", "t3"], {"t3": [0]}, 1),
        "c02": member(["t1", "t2"], {"t1": [0]}, 1),
        "new": member(["t1", "t3"], None, 1),
    },
)

# KIP-169, and the lags on which its greedy is not the best.
LAG = rebalance(
    {"t0": {"partitions": 3, "lag": [100000, 60000, 50000]}},
    {"c0": member(["t0"]), "c1": member(["t0"])},
)
LAG_GREEDY_FAILS = rebalance(
    {"t": {"partitions": 5, "lag": [3, 1, 1, 1, 0]}},
    {"c0": member(["t"]), "c1": member(["t"])},
)

# KAFKA-15170: racks crossed, exactly two transfers put them right.
RACKS = rebalance(
    {"t1": {"partitions": 4, "racks": [["r0"], ["r1"], ["r0"], ["r1"]]}},
    {
        "c0": member(["t1"], {"t1": [0, 1]}, 1, rack="r0"),
        "c1": member(["t1"], {"t1": [2, 3]}, 1, rack="r1"),
    },
)

# Everything a document may carry, names as hostile as JSON allows.
EVERY_FIELD = rebalance(
    {
        "<script>t</script>": {
            "partitions": 2,
            "lag": [9223372036854775804, 0],  # with the 3 below: all of 64 bits
            "racks": [["a", "b"], []],
        },
        "\U0001f600": {"partitions": 1, "lag": [3]},
        "\ufffd": 2,
    },
    {
        '"quoted"\n': member(
            ["\U0001f600", "<script>t</script>"],
            {"\U0001f600": [0], "<script>t</script>": [1]},
            -1,
            rack="a",
            instance_id="static-1",
            capacity=2,
        ),
        "\u00e9": member(["\ufffd"], {}, 0, rack="b", capacity=1),
        "__proto__": member(["\ufffd", "<script>t</script>"], {"\ufffd": [1, 0]}),
    },
    id="r/1",
)

SHAPES: dict[str, Document] = {
    name: value
    for name, value in list(globals().items())
    if name.isupper() and isinstance(value, dict) and value.get("format")
}


def shape(name: str) -> Document:
    """Return a fresh copy of the shape called ``name``."""
    return copy.deepcopy(SHAPES[name])
