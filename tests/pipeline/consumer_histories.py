"""Histories of groups of the new protocol by name (KIP-848), one record a second.

Among them are groups that change between both protocols, and histories with gaps.
"""

from __future__ import annotations

from typing import Final

from pipeline.records import (
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    GroupTombstone,
)
from tests.pipeline.consumer_groups import (
    CLASSIC,
    FIRST,
    JOIN,
    AnyRecord,
    complete,
    ended,
    epoch,
    gone,
    has,
    matches,
    new_member,
    sizes,
    target,
    tombstone,
)
from tests.pipeline.groups import GROUP, commit, group, member
from tests.pipeline.records.consumer_writers import consumer_key, consumer_value


def step(number: int, *parts: AnyRecord, dated: bool = True) -> list[AnyRecord]:
    """Return an epoch and its target."""
    computed = complete(number) if dated else complete(number, computed_at=0)
    return [epoch(number), *parts, computed]


def single(number: int, *numbers: int, dated: bool = True) -> list[AnyRecord]:
    """Return an epoch whose member a has a target."""
    return step(number, target("a", {"t": numbers}), dated=dated)


def named(*assignors: str | None) -> list[AnyRecord]:
    """Return a new group whose members name these assignors."""
    people = [new_member(str(n), assignor=name) for n, name in enumerate(assignors)]
    return [*people, *step(2, *(target(person.member_id, {}) for person in people))]


S_1, S_2 = (new_member(f"s-{number}", instance_id="s") for number in (1, 2))
STATIC_EPOCH: Final[list[AnyRecord]] = [
    S_1,
    new_member("b"),
    *step(2, target("s-1", {"t": [0, 1]}), target("b", {"t": [2, 3]})),
]
A, B = (member(name, ["t"], {"t": [at, at + 1]}) for name, at in (("a", 0), ("b", 2)))
FEWER_OF_A: Final = member("a", ["t"], {"t": [0]})
DELETED: Final = GroupTombstone(group_id=GROUP)
UPGRADED: Final[list[AnyRecord]] = [
    *(group(0), group(1, A, B), DELETED),
    *(new_member("a", classic=CLASSIC), new_member("b", classic=CLASSIC)),
    *step(1, target("a", {"t": [0, 1]}), target("b", {"t": [2, 3]})),
    has("a", {"t": [0, 1]}, number=1),
    has("b", {"t": [2, 3]}, number=1),
    new_member("c"),
    *step(2, target("a", {"t": [0]}), target("c", {"t": [1]})),
]
"""A classic group whose members are copied at its generation."""
AFTER_A_LOSS: Final[list[AnyRecord]] = [
    *(new_member("a"), target("a", {"t": [0]}), epoch(3), complete(3), *step(4))
]
KINDS: Final = (("share", "000b"), ("streams", "0011"))
OTHER_KEYS: Final = {
    kind: bytes.fromhex(number) + len(GROUP).to_bytes(2, "big") + GROUP.encode()
    for kind, number in KINDS
}

CONSUMER: Final[dict[str, list[AnyRecord]]] = {
    "a new group owns nothing": [*FIRST],
    # Kafka 4.0 counts from 1, versions that record the time of a target from 2.
    "the first epoch of an older broker": [
        new_member("a"),
        *single(1, 0, dated=False),
    ],
    # The target of the only member at epoch 1 was compacted away.
    "an epoch 2 of an older broker is not the first": [
        new_member("a"),
        *single(2, 0, dated=False),
        *single(3, 0, 1, dated=False),
    ],
    "owned is the target before and the claim is the current assignment": [
        *FIRST,
        *JOIN,
    ],
    # Released a second before the one, and two before the other is received.
    "a target is reached when all have it": [
        *FIRST,
        *JOIN,
        has("a", {"t": [0, 1]}, revoking={"t": [2, 3]}),
        has("a", {"t": [0, 1]}, number=3),
        has("b", {"t": [2]}, number=3),
        has("b", {"t": [2, 3]}, number=3),
    ],
    "a target that is replaced before it is reached": [
        *FIRST,
        *JOIN,
        new_member("c"),
        *step(4, target("a", {"t": [0]}), target("c", {"t": [1]})),
        has("a", {"t": [0]}, number=4),
        has("b", {"t": [2, 3]}, number=4),
        has("c", {"t": [1]}, number=4),
    ],
    # The target gives it back, but the member has to revoke it first.
    "a partition that is being revoked is not kept": [
        *FIRST,
        *JOIN,
        has("a", {"t": [0, 1]}, revoking={"t": [2, 3]}),
        *gone("b"),
        *single(4, 0, 1, 2, 3),
        has("a", {"t": [0, 1, 2, 3]}, number=4),
    ],
    "epochs can share a target": [
        *FIRST,
        new_member("b"),
        epoch(3),
        *gone("a"),
        *step(4, target("b", {"t": [0, 1, 2, 3]})),
    ],
    # A target can be computed in the background (KIP-1263).
    "a target of an earlier epoch has its members": [
        *FIRST,
        new_member("b"),
        epoch(3),
        new_member("c"),
        new_member("a")._replace(topics=("t", "u")),
        epoch(4),
        target("a", {"t": [0, 1]}),
        target("b", {"t": [2, 3]}),
        complete(3),
        target("c", {"t": [3]}),
        target("b", {"t": [2]}),
        complete(4),
    ],
    "an emptied group leaves its episode open": [
        *(*FIRST, *JOIN, *gone("a"), epoch(4), *gone("b"), epoch(5)),
        *(new_member("c"), *step(6, target("c", {"t": [0]}))),
    ],
    "a deleted group of the new protocol begins anew": [
        *(*FIRST, *gone("a"), epoch(3), *ended(), *FIRST)
    ],
    # Members and subscriptions. Target and assignment of a static member are copied to
    # the new id, without an epoch (KIP-345).
    "a static member of the new protocol owns under a new id": [
        *(*STATIC_EPOCH, *gone("s-1"), S_2, target("s-2", {"t": [0, 1]})),
        *(has("s-2", {"t": [0, 1]}), new_member("b", ["t", "u"])),
        *step(3, target("s-2", {"t": [0]}), target("b", {"t": [1, 2, 3]})),
    ],
    "a static member that returns within an epoch": [
        *(*STATIC_EPOCH, new_member("c"), epoch(3), *gone("s-1"), S_2),
        *(target("s-2", {"t": [0, 1]}), target("s-2", {"t": [0]})),
        *(target("c", {"t": [1]}), complete(3)),
    ],
    # Progress was noted by member id, so the target was never reached.
    "bug a static member returns before its target is reached": [
        *(S_1, *step(2, target("s-1", {"t": [0]})), *gone("s-1"), S_2),
        *(target("s-2", {"t": [0]}), has("s-2", {}), has("s-2", {"t": [0]})),
    ],
    "a regular expression has the topics that the group resolved": [
        new_member("a", ["v"], regex="[tu]"),
        *step(2, target("a", {"v": [0]})),
        matches("[tu]", "t", "u"),
        *step(3, target("a", {"t": [0], "u": [0], "v": [0]})),
        tombstone(ConsumerGroupRegularExpression, "[tu]"),
        new_member("a", ["v"], regex="[tu]")._replace(client_host="/other"),
        *step(4),
    ],
    "the assignor is the only one that is named": named("range", None, None),
    "the assignor is the one that most members name": named(
        "uniform", "range", "range"
    ),
    "the assignor is one of their own": named("their.own"),
    "two assignors are named as often": named("uniform", "range"),
    "partition counts that Kafka 4.0 records": [
        new_member("a"),
        sizes(t=4, v=1),
        epoch(1, metadata_hash=0),
        target("a", {"t": [0]}),
        complete(1),
        sizes(t=5),
        *step(2),
        tombstone(ConsumerGroupPartitionMetadata),
        *step(3),
    ],
    "offsets are those committed before a target": [
        *(commit("t", 1, 10), *FIRST, commit("t", 1, 20), commit("u", 0, 1), *JOIN)
    ],
    "share and streams groups are counted by name": [
        (OTHER_KEYS["share"], b"\x00\x00"),
        (OTHER_KEYS["share"], None),
        (OTHER_KEYS["streams"], b"\x00\x00"),
    ],
    # How long a state lasts.
    "a state lasts until a target without members": [
        *(*FIRST, *gone("a"), epoch(3), complete(3))
    ],
    "a state lasts until its group of the new protocol is deleted": [
        *FIRST,
        *ended("a"),
    ],
    # A member of the group before had no tombstone.
    "another group under the same name": [
        *(*FIRST, *ended(), new_member("b"), *step(2, target("b", {"t": [0]}))),
        *(*gone("b"), epoch(3)),
    ],
    "a state outlasts epochs without a target": [*FIRST, epoch(3), epoch(4)],
    "a state lasts until a target that cannot be read": [
        *FIRST,
        (consumer_key(complete(3)), b"\xff\xff"),
        epoch(4),
    ],
    "a state outlasts a member that cannot be read": [
        *FIRST,
        (consumer_key(new_member("b")), b"\xff\xff"),
    ],
    "a state outlasts an epoch that cannot be read": [
        *FIRST,
        (consumer_key(epoch(3)), b"\xff\xff"),
    ],
    "a state lasts until all members have left": [
        *FIRST,
        *gone("a"),
        (consumer_key(epoch(3)), b"\xff\xff"),
        commit("t", 0, 5),
    ],
    "a conversion goes on with the state until the group is deleted": [
        *UPGRADED,
        *ended("a", "b", "c"),
        commit("t", 0, 5),
    ],
    # Gaps: missing epochs are reported, not invented.
    "a gap in the epochs is reported": [*FIRST, *single(5, 0), *single(6, 0, 1)],
    "a source that begins in the middle": [
        *(*JOIN, new_member("c"), *step(4, target("c", {})))
    ],
    "an epoch that goes back is a gap": [
        *FIRST,
        *JOIN,
        new_member("a"),
        *single(2, 0, 1),
    ],
    "the record of a member is missing": [*single(2, 0), *AFTER_A_LOSS],
    "the record of a target is missing": [new_member("a"), *step(2), *AFTER_A_LOSS],
    "the record of an epoch is missing": [
        *(new_member("a"), target("a", {"t": [0]}), complete(2), *AFTER_A_LOSS)
    ],
    "an unreadable record leaves a gap": [
        *FIRST,
        *JOIN[:2],
        (consumer_key(JOIN[2]), consumer_value(JOIN[2], version=1)),
        *JOIN[3:],
        *single(4, 0, 1),
        *single(5, 0),
    ],
    "a negative partition of a member is refused": [
        *FIRST,
        has("a", {"t": [-1]}),
        *step(3),
    ],
    "a partition twice of a member is refused": [
        *FIRST,
        has("a", {"t": [1, 1]}),
        *step(3),
    ],
    # Groups that change between both protocols.
    "a classic group that becomes new": UPGRADED,
    "a compacted group that became new": UPGRADED[2:],
    "a group that becomes classic again": [
        *(*UPGRADED, *ended("a", "b", "c"), group(2, FEWER_OF_A, B), group(3, A, B))
    ],
    # The tombstone of an empty classic group precedes it as well.
    "a new group after a classic one has not migrated": [group(0), DELETED, *FIRST],
    "a classic group after a deleted one has not migrated": [
        *(*FIRST, *gone("a"), epoch(3), *ended(), group(0)),
        *(group(number, FEWER_OF_A) for number in (1, 2, 3)),
    ],
}
