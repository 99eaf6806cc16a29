"""A rebalance as one column of integers, without its names.

No engine, heuristic, or rule of the judge depends on more of a name than its place in
sorted order (``tests/pipeline`` draws rebalances and order-preserving names to check
this). Equal rebalances of groups under other names therefore have equal codes: replicas
of a service, or one group every night.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np

from pipeline.cases import Held
from rebalance import (
    ABSENT,
    INT64_MAX,
    UNKNOWN_GENERATION,
    Int32,
    Int64,
    kernel,
    subscription_classes,
)

GENERATIONS: Final = 2**31
_LAST_OF_TWO_BYTES: Final = "\uffff"
PAIRS_MAX: Final = 10_000_000
"""Subscription classes times topics; the documents of larger rebalances are judged."""

HEADER: Final = 7
"""Topics, members, classes, topics of classes, claims, assigned partitions, flags."""
LAG, ANSWERED, COOPERATIVE, RACKS, UNNAMED_RACK, LAG_KNOWN, ODD = (
    1 << bit for bit in range(7)
)
"""Flags. `ODD`: the answer has other members, or an empty list of partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceCode:
    """A rebalance without capacities and racks of partitions, and the real answer.

    Attributes
    ----------
    code : int64
        What `sections_of` reads.
    topics, members : tuple of str
        Sorted.
    instance_ids : tuple of str or None, (M,)
    racks : tuple of str
        Sorted.
    """

    code: Int64
    topics: tuple[str, ...]
    members: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    racks: tuple[str, ...]

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return int(self.code[HEADER : HEADER + len(self.topics)].sum())

    @property
    def is_answered(self) -> bool:
        """Whether the real answer is known."""
        return bool(self.code[6] & ANSWERED)


class Sections(NamedTuple):
    """The sections of a code; T topics, M members, K classes, P partitions.

    Attributes
    ----------
    topic_offsets : int64 (T+1,)
    lag : int64 (P,), or empty
    member_class : int32 (M,)
    class_offsets : int64 (K+1,)
    class_topics : int32
    generation : int64 (M,)
    rack, static : int64 (M,)
        Places of rack and instance id in sorted order; `ABSENT`: none.
    claim_offsets : int64 (M+1,)
    claims : int32
        Claimed partitions that exist, per member grouped by topic.
    given_offsets : int64 (M+1,)
    given : int32
        Partitions that the real client assigned; `ABSENT`: one that does not exist.
    flags : int
    """

    topic_offsets: Int64
    lag: Int64
    member_class: Int32
    class_offsets: Int64
    class_topics: Int32
    generation: Int64
    rack: Int64
    static: Int64
    claim_offsets: Int64
    claims: Int32
    given_offsets: Int64
    given: Int32
    flags: int


def code_of(
    plain: Mapping[str, Any],
    held: Mapping[str, Held] | None,
    *,
    cooperative: bool,
    lag_known: bool,
    max_partitions: int,
) -> RebalanceCode | None:
    """Encode a rebalance/1 value; None if a code cannot state it.

    Codes do not state capacities, racks of partitions, and names that Java sorts
    differently. Nor do they state faults: the reader of documents names them.

    Parameters
    ----------
    held
        What each member was assigned; None: not known.
    """
    if any("capacity" in member for member in plain["members"].values()):
        return None
    topics, members = tuple(sorted(plain["topics"])), tuple(sorted(plain["members"]))
    of_topics = [plain["topics"][name] for name in topics]
    people = [plain["members"][name] for name in members]
    instance_ids = tuple(member.get("instance_id") for member in people)
    if not have_one_order([*topics, *members, *filter(None, instance_ids)]):
        return None
    sizes = [topic["partitions"] for topic in of_topics]
    lag = _lag(of_topics, sizes)
    if lag is None or sum(sizes) > max_partitions:
        return None
    first = [*accumulate(sizes, initial=0)]
    index = dict(zip(topics, zip(first[:-1], sizes, strict=True), strict=True))
    number = {name: place for place, name in enumerate(topics)}
    listed = [member["subscription"] for member in people]
    if any(len({*names}) != len(names) for names in listed):
        return None
    member_class, class_offsets, class_topics = subscription_classes(listed, number)
    claims = _claims(people, index)
    if claims is None or (class_offsets.size - 1) * len(topics) > PAIRS_MAX:
        return None
    given = _given(members, {} if held is None else held, index)
    is_odd = held is not None and (
        held.keys() != plain["members"].keys()
        or not all(
            numbers for of_member in held.values() for numbers in of_member.values()
        )
    )
    named = {member["rack"] for member in people if "rack" in member}
    racks = tuple(sorted(named))
    static = sorted({name for name in instance_ids if name is not None})
    flags = LAG * bool(lag) + ANSWERED * (held is not None)
    flags += COOPERATIVE * cooperative + LAG_KNOWN * lag_known + ODD * is_odd
    flags += RACKS * bool(racks) + UNNAMED_RACK * (racks[:1] == ("",))
    code = [
        len(topics),
        len(members),
        class_offsets.size - 1,
        len(class_topics),
        len(claims[1]),
        len(given[1]),
        flags,
        *sizes,
        *lag,
        *member_class.tolist(),
        *class_offsets[1:].tolist(),
        *class_topics.tolist(),
        *(member.get("generation", UNKNOWN_GENERATION) for member in people),
        *_places([member.get("rack") for member in people], racks),
        *_places(instance_ids, static),
        *claims[0],
        *claims[1],
        *given[0],
        *given[1],
    ]
    return RebalanceCode(
        code=np.array(code, dtype=np.int64),
        topics=topics,
        members=members,
        instance_ids=instance_ids,
        racks=racks,
    )


def have_one_order(names: Sequence[str]) -> bool:
    """Whether names sort by UTF-16 unit as they do by code point."""
    joined = "".join(names)
    return joined.isascii() or max(joined) <= _LAST_OF_TWO_BYTES


def _lag(of_topics: Sequence[Mapping[str, Any]], sizes: list[int]) -> list[int] | None:
    """Return the lag of all partitions, 0 where it is not stated; [] if none is.

    None if a code cannot state it: no code says which topics without partitions have
    lag, by which a peak lag is 0 or not known.
    """
    lag: list[int] = []
    for topic, size in zip(of_topics, sizes, strict=True):
        listed = topic.get("lag")
        if "racks" in topic or (listed is not None and len(listed) != size):
            return None
        lag += [0] * size if listed is None else listed
    if all("lag" not in topic for topic in of_topics):
        return []
    is_right = min(lag, default=0) >= 0 and sum(lag) <= INT64_MAX and all(sizes)
    return lag if is_right else None


def _claims(
    people: Sequence[Mapping[str, Any]], index: Mapping[str, tuple[int, int]]
) -> tuple[list[int], list[int]] | None:
    """Return claims that exist, per member; None if a claim is no claim."""
    ends, claims = list[int](), list[int]()
    for member in people:
        if not -1 <= member.get("generation", UNKNOWN_GENERATION) < GENERATIONS:
            return None
        for topic, numbers in member.get("owned", {}).items():
            if len({*numbers}) != len(numbers) or min(numbers, default=0) < 0:
                return None
            first, size = index.get(topic, (0, 0))
            claims += [first + n for n in numbers if n < size]
        ends.append(len(claims))
    return ends, claims


def _given(
    members: Sequence[str],
    held: Mapping[str, Held],
    index: Mapping[str, tuple[int, int]],
) -> tuple[list[int], list[int]]:
    ends, given = list[int](), list[int]()
    for name in members:
        for topic, numbers in held.get(name, {}).items():
            first, size = index.get(topic, (0, 0))
            given += [first + n if 0 <= n < size else ABSENT for n in numbers]
        ends.append(len(given))
    return ends, given


def _places(names: Sequence[str | None], listed: Sequence[str]) -> list[int]:
    place = {name: at for at, name in enumerate(listed)}
    return [ABSENT if name is None else place[name] for name in names]


@kernel
def sections_of(code: Int64) -> Sections:
    """Read the sections of a code."""
    n_topics, n_members, n_classes = int(code[0]), int(code[1]), int(code[2])
    topic_offsets, at = _offsets(code, HEADER, n_topics, False)
    n_lags = int(topic_offsets[n_topics]) if code[6] & LAG else 0
    lag, at = code[at : at + n_lags], at + n_lags
    member_class, at = code[at : at + n_members].astype(np.int32), at + n_members
    class_offsets, at = _offsets(code, at, n_classes, True)
    class_topics, at = code[at : at + int(code[3])].astype(np.int32), at + int(code[3])
    generation, at = code[at : at + n_members], at + n_members
    rack, at = code[at : at + n_members], at + n_members
    static, at = code[at : at + n_members], at + n_members
    claim_offsets, at = _offsets(code, at, n_members, True)
    claims, at = code[at : at + int(code[4])].astype(np.int32), at + int(code[4])
    given_offsets, at = _offsets(code, at, n_members, True)
    given = code[at : at + int(code[5])].astype(np.int32)
    return Sections(
        topic_offsets,
        lag,
        member_class,
        class_offsets,
        class_topics,
        generation,
        rack,
        static,
        claim_offsets,
        claims,
        given_offsets,
        given,
        int(code[6]),
    )


@kernel
def _offsets(code: Int64, at: int, count: int, are_ends: bool) -> tuple[Int64, int]:
    """Read sizes, or ends, as offsets."""
    offsets = np.zeros(count + 1, np.int64)
    for i in range(count):
        offsets[i + 1] = code[at + i] + (0 if are_ends else offsets[i])
    return offsets, at + count
