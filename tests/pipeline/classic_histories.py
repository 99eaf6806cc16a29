"""Histories of classic groups by name, one record a second."""

from __future__ import annotations

from typing import Final

from pipeline.records import GroupMember, GroupTombstone
from rebalance.protocol import MemberAssignment, encode_assignment
from tests.pipeline.consumer_groups import AnyRecord
from tests.pipeline.groups import GROUP, commit, group, member
from tests.pipeline.records.writers import group_key

COOP: Final = "cooperative-sticky"
T: Final = ["t"]
COMMIT: Final = commit("t", 0, 5)
DELETED: Final = GroupTombstone(group_id=GROUP)
SHORT_SUBSCRIPTION: Final = bytes.fromhex("0001 00000001 0001 74 ffffffff")
"""What kafka-go 0.4.42 and 0.4.51 send for topic t with ``range``."""


def coop(
    name: str, assigned: list[int], owns: list[int] | None, generation: int
) -> GroupMember:
    claim = {"t": owns} if owns else {}
    given = {"t": assigned} if assigned else {}
    return member(name, T, given, owns=claim, generation=generation)


def of_one(number: int, *numbers: int) -> AnyRecord:
    """Return a generation whose member a has some partitions."""
    return group(number, member("a", T, {"t": numbers}))


def short(name: str, *numbers: int) -> GroupMember:
    """Return a member whose subscription lacks its owned partitions."""
    return member(name, [], {"t": numbers})._replace(subscription=SHORT_SUBSCRIPTION)


def split(*parts: tuple[str, tuple[int, ...]]) -> GroupMember:
    """Return a member whose assignment has a topic in several entries."""
    message = encode_assignment(MemberAssignment(version=3, partitions=parts))
    return member("a", ["t", "u"], {})._replace(assignment=message)


TWICE = member("a", T, {})
STATIC = member("s-1", T, {"t": [0]}, instance_id="s")
BACK = member("s-2", T, {"t": [0]}, instance_id="s")
TWO_ROUNDS: Final = (
    group(1, coop("a", [0, 1, 2, 3], None, -1), assignor=COOP),
    group(
        2, coop("a", [0, 1], [0, 1, 2, 3], 1), coop("b", [], None, -1), assignor=COOP
    ),
    group(3, coop("a", [0, 1], [0, 1], 2), coop("b", [2, 3], None, 2), assignor=COOP),
)
EAGER_ROUNDS = (
    [coop("a", [0, 1], None, -1), coop("b", [2], None, -1)],
    [coop("a", [2], None, 1), coop("b", [0, 1], None, 1)],
)
LEFT_TOPIC = member("a", ["u"], {"u": [0]})
WITHHELD = (
    group(1, coop("a", [0, 1], None, -1), assignor=COOP),
    group(2, LEFT_TOPIC, coop("b", [], None, -1), assignor=COOP),
    group(3, LEFT_TOPIC, coop("b", [0, 1], None, 2)),
)

CLASSIC: Final[dict[str, list[AnyRecord]]] = {
    "owned is the assignment of the generation before": [
        group(0),
        group(1, member("a", T, {"t": [0, 1]}), member("b", T, {"t": [2]})),
        group(2, member("b", T, {"t": [0, 1, 2, 3]}), member("c", T, {})),
    ],
    "a changed subscription is counted": [
        group(1, member("a", T, {"t": [0]}), member("b", T, {"t": [1]})),
        group(2, member("a", ["u"], {"u": [0]}), member("b", T, {"t": [0, 1]})),
    ],
    # librdkafka's cooperative leader writes partitions in the order it chose them.
    "a topic in several entries is one topic": [
        group(1, split(("t", (6,)), ("u", (0,)), ("t", (0, 1)))),
        group(2, member("a", ["t", "u"], {})),
    ],
    "without the generation before claims count": [
        group(7, member("a", T, {"t": [5]}, owns={"t": [5]}, generation=6))
    ],
    "a gap in the numbers leaves the claims": [
        of_one(1, 0),
        group(3, member("a", T, {"t": [0]}, owns={"t": [1]}, generation=1)),
    ],
    "a static member returns without a rebalance": [
        group(1, STATIC, member("b", T, {})),
        group(1, BACK, member("b", T, {})),
        group(2, BACK, member("c", T, {})),
    ],
    "a static member owns under a new id": [
        group(1, STATIC),
        group(2, BACK, member("b", T, {})),
    ],
    "nobody owns after the group was empty": [
        of_one(1, 0),
        group(2),
        group(3, member("a", T, {"t": [0]}, owns={"t": [0]}, generation=1)),
    ],
    "a deleted group begins anew": [of_one(9, 0), DELETED, of_one(1, 0)],
    "an unreadable generation leaves the claims to the next": [
        of_one(1, 0),
        group(2, member("a", T, {"t": [0]})._replace(subscription=b"\x00\x03")),
        of_one(3, 0),
    ],
    "a member listed twice is refused": [group(1, TWICE, TWICE)],
    "an instance id listed twice is refused": [
        group(1, STATIC, STATIC._replace(member_id="b"))
    ],
    "a negative partition is refused": [of_one(1, -1)],
    "bug a group of kafka-go could not be read": [
        group(1, short("a", 0, 1)),
        group(2, short("a", 0, 1), short("b", 1)),
    ],
    # Members that say otherwise. Java's consumer drops an assignment that does not
    # match its subscription.
    "a sticky member that never heard of its assignment": [
        group(
            1,
            member("a", T, {"t": [0]}, sticky=True, owns={}),
            member("b", T, {"t": [1]}, sticky=True, owns={}),
            assignor="sticky",
        ),
        group(
            2,
            member("a", T, {"t": [0]}, sticky=True, owns={"t": [0]}, generation=1),
            member("b", T, {"t": [1]}, sticky=True, owns={"t": [2]}, generation=0),
            assignor="sticky",
        ),
    ],
    "a claim on a topic given up agrees": [
        group(1, member("a", ["t", "u"], {"t": [0], "u": [0]}), assignor="sticky"),
        group(
            2,
            member("a", ["u"], {"u": [0]}, sticky=True, owns={"u": [0]}, generation=1),
            assignor="sticky",
        ),
    ],
    "claims of an eager assignor without user data are not compared": [
        of_one(1, 0),
        of_one(2, 0),
    ],
    "a cooperative member owns its claim": [
        group(1, coop("a", [0, 1], None, -1), coop("b", [2], None, -1), assignor=COOP),
        group(2, coop("a", [0], [0], 1), coop("b", [2], [2], 1), assignor=COOP),
    ],
    # While ``range`` is still among its assignors a consumer revokes all (KIP-429).
    "a cooperative group that reports nothing runs eager": [
        group(1, *EAGER_ROUNDS[0], assignor=COOP),
        group(2, *EAGER_ROUNDS[1], assignor=COOP),
    ],
    # A group that left the new protocol early: nobody had what it took along.
    "bug members that missed the generation before are not eager": [
        group(3, *EAGER_ROUNDS[0], assignor=COOP),
        group(4, *EAGER_ROUNDS[1], assignor=COOP),
    ],
    "a static member back in a cooperative group holds nothing": [
        group(1, STATIC, coop("b", [1], None, -1), assignor=COOP),
        group(
            2,
            member("s-2", T, {}, instance_id="s"),
            coop("b", [0, 1], [1], 1),
            assignor=COOP,
        ),
    ],
    "a new cooperative group is one": [
        group(0),
        group(1, coop("a", [0], None, -1), assignor=COOP),
    ],
    # Episodes.
    "two rounds are one episode": [*TWO_ROUNDS],
    # As the judge of a round counts it.
    "what waits for a member that left the topic is withheld": [*WITHHELD],
    "of a topic without a subscriber nothing is withheld": [
        WITHHELD[0],
        group(2, LEFT_TOPIC, assignor=COOP),
    ],
    "an episode follows members that come and go": [
        *TWO_ROUNDS[:2],
        group(
            3,
            coop("a", [0, 1], [0, 1], 2),
            coop("c", [2, 3], None, -1),
            assignor=COOP,
        ),
    ],
    "an episode without an end is open": [*TWO_ROUNDS[:2]],
    "an episode of an emptied group is open": [*TWO_ROUNDS[:2], group(3)],
    "what was owned at rest follows a static member": [
        group(
            1,
            member("s-1", T, {"t": [0, 1]}, instance_id="s"),
            coop("b", [2, 3], None, -1),
            assignor=COOP,
        ),
        group(
            2,
            member("s-1", T, {"t": [0]}, instance_id="s", owns={"t": [0, 1]}),
            coop("b", [2, 3], [2, 3], 1),
            assignor=COOP,
        ),
        group(3, BACK, coop("b", [1, 2, 3], [2, 3], 2), assignor=COOP),
    ],
    # The rest of a case.
    "offsets are those committed before": [
        commit("t", 1, 10),
        commit("t", 0, 5),
        commit("other", 0, 5),
        of_one(1, 0),
        commit("t", 1, 20),
        of_one(2, 0),
    ],
    # How long a state lasts.
    "a state lasts until the next generation": [
        of_one(1, 0),
        COMMIT,
        of_one(2),
        COMMIT,
    ],
    "a state lasts until its group is empty": [
        of_one(1, 0),
        COMMIT,
        group(2),
        DELETED,
    ],
    "a state lasts until its generation is empty": [of_one(1, 0), group(1), of_one(2)],
    "a state lasts until its group is of another kind": [
        of_one(1, 0),
        group(2, TWICE, protocol_type="connect"),
        of_one(3, 0),
    ],
    # Generations that are not there.
    "each gap is one row": [of_one(4, 0), of_one(5, 0), of_one(9, 0)],
    "no gap is reported where the number before is unknown": [
        *(of_one(0, 0), of_one(1, 0), (group_key(GROUP), b"\0\3"), of_one(3, 0))
    ],
    "a deleted group begins at one again": [
        *(of_one(1, 0), of_one(2, 0), DELETED, of_one(2, 0))
    ],
    "a generation that goes back begins at one again": [of_one(3, 0), of_one(1, 0)],
    "other kinds of groups": [
        group(1, protocol_type=""),
        group(2, protocol_type="connect"),
        group(2, TWICE, protocol_type="connect"),
        group(3, TWICE, protocol_type=""),
        group(4, TWICE, assignor="stream"),
        group(5, TWICE),
    ],
}
