"""Cases: one rebalance as its source describes it, before it is judged.

A case lacks facts that a single source cannot provide: partition counts and log ends
come from other files, or from all sources together. Cases are passed between Spark
stages as JSON that Arrow reads into columns (`pipeline.judging.case_columns`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, TypeAlias

import orjson

Int32: TypeAlias = Annotated[int, 32]
"""A number whose column has 32 bits (`pipeline.case_table`)."""
Held: TypeAlias = dict[str, list[int]]
"""Topic to partition numbers, both ascending; no topic without partitions."""
Offsets: TypeAlias = dict[str, list[tuple[int, int]]]
"""Topic to pairs of partition number and offset, or lag, ascending."""

PREVIOUS: Final = "previous-assignment"
CLAIMS: Final = "claims"
SNAPSHOT: Final = "snapshot"
GIVEN: Final = "given"

REPORTED: Final = "reported"
NOT_REPORTED: Final = "not-reported"

ALL_LISTED: Final = "all"
HOLDERS_LISTED: Final = "with-partitions"
OWNERS_LISTED: Final = "owners"
"""An owner is a client id and a host, which several members can share."""

REST: Final = "rest"
OPEN: Final = "open"
NEXT: Final = "next"
EMPTY: Final = "empty"
"""How an episode, or the state after a rebalance, ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMember:
    """A member of a case.

    ``owned`` and ``generation`` are reconstructed; ``claimed`` and
    ``claimed_generation`` were reported by the member; ``assigned`` is its part of the
    assignment. ``last_commit_at`` is when it last committed one of these partitions
    while the state lasted, in milliseconds; None in an open state, and in the new
    protocol, where the former owner can still do so.
    """

    subscription: list[str]
    owned: Held
    assigned: Held | None
    generation: int | None = None
    claimed: Held | None = None
    claimed_generation: Int32 | None = None
    rack: str | None = None
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    joined: bool | None = None
    last_commit_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A rebalance between two stable states, stored in the case of its last round.

    ``before`` contains the partitions that the last members owned at the stable state
    before, by member id; None for an episode of one round, whose case contains it.
    Times are in milliseconds.
    """

    episode_id: str
    first_generation: Int32 | None
    started_at: int | None
    rounds: Int32
    ended: str
    owned_from: str
    withheld: int
    unowned_partition_ms: int | None
    source: str
    unowned_unknown: str | None = None
    before: dict[str, Held] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One rebalance. ``at`` is in milliseconds since 1970; None means unknown.

    ``committed`` are the group's committed offsets at that moment; ``lag`` is in
    records behind the log end, as stated by the source; at most one of them is given.
    ``least_sizes`` are partition counts at least, where the source states them only for
    this group; ``undated_sizes`` are those that the group's records showed before, at
    times that are unknown or have gone back. ``document`` is a complete rebalance/1
    text; the members, if there are any, then state only the assignment.

    A snapshot (``owned_from`` is `SNAPSHOT`) is a state without a rebalance: its
    members own nothing before, and ``state_of`` is the rebalance in the records that
    led to the same state, at ``state_at``. If ``subscriptions`` are `NOT_REPORTED`,
    those of the members are the topics of which they have partitions: a lower bound.
    ``members_listed`` is `ALL_LISTED` or the form of the text's list, ``at_rest`` the
    evidence that the group was at rest, and ``doubt`` the reason why the text cannot be
    judged.

    Of the new protocol, ``generation`` is the epoch of the target assignment, topics
    can occur by id (`pipeline.topic_ids`), and ``recorded_sizes`` are the partition
    counts that the group recorded. ``behind`` members had not reached the target when
    the next one was computed or the source ended; ``reached_ms`` is the time until all
    had.

    ``until`` is when the group's next state began, and ``ended`` how: `NEXT`, `EMPTY`,
    or `OPEN`, whose ``until`` is the end of the history and not stated here; both are
    None without a history. ``lasted_unknown`` is why the time between is not known.
    """

    rebalance_id: str
    group_id: str
    source_kind: str
    source: str
    source_partition: Int32 | None = None
    source_offset: int | None = None
    generation: Int32 | None = None
    at: int | None = None
    until: int | None = None
    ended: str | None = None
    lasted_unknown: str | None = None
    protocol: str | None = None
    client_assignor: str | None = None
    cooperative: bool = False
    leader: str | None = None
    owned_from: str = GIVEN
    subscriptions: str = REPORTED
    members_listed: str = ALL_LISTED
    at_rest: str | None = None
    doubt: str | None = None
    state_of: str | None = None
    state_at: int | None = None
    members: dict[str, CaseMember] | None = None
    left: int | None = None
    resubscribed: int | None = None
    claims_disagree: int | None = None
    committed: Offsets | None = None
    lag: Offsets | None = None
    least_sizes: dict[str, int] | None = None
    undated_sizes: dict[str, int] | None = None
    document: str | None = None
    recorded_sizes: dict[str, int] | None = None
    behind: int | None = None
    reached_ms: int | None = None
    reached_unknown: str | None = None
    episode_id: str | None = None
    round: Int32 | None = None
    episode: Episode | None = None


def pack(case: Case) -> bytes:
    """Write a case as JSON of fixed keys, members and names as lists: columns of it."""
    fields = dict(zip(_CASE, _of_case(case), strict=True))
    if case.members is not None:
        found = sorted(case.members.items())
        fields["members"] = [_packed_member(name, member) for name, member in found]
    for name in _OFFSETS:
        if fields[name] is not None:
            fields[name] = [_packed_offsets(held) for held in fields[name].items()]
    for name in _SIZES:
        if fields[name] is not None:
            fields[name] = [{"topic": t, "count": n} for t, n in fields[name].items()]
    if case.episode is not None and case.episode.before is not None:
        episode = dict(zip(_EPISODE, _of_episode(case.episode), strict=True))
        episode["before"] = [
            {"member_id": name, "owned": _packed_held(held)}
            for name, held in case.episode.before.items()
        ]
        fields["episode"] = episode
    return orjson.dumps(fields)


def unpack(data: bytes) -> Case:
    """Read the bytes of `pack`."""
    return case_of(orjson.loads(data))


def case_of(fields: dict[str, Any]) -> Case:
    """Return the case of such fields, as lists and names."""
    members, episode = fields["members"], fields["episode"]
    if members is not None:
        fields["members"] = {
            member.pop("member_id"): _member(member) for member in members
        }
    for name in _OFFSETS:
        if fields[name] is not None:
            fields[name] = {
                held["topic"]: [*zip(held["partitions"], held["offsets"], strict=True)]
                for held in fields[name]
            }
    for name in _SIZES:
        if fields[name] is not None:
            fields[name] = {size["topic"]: size["count"] for size in fields[name]}
    if episode is not None:
        before = episode["before"]
        if before is not None:
            before = {member["member_id"]: _held(member["owned"]) for member in before}
        fields["episode"] = Episode(**episode | {"before": before})
    return Case(**fields)


_CASE: Final = tuple(field.name for field in dataclasses.fields(Case))
_MEMBER: Final = tuple(field.name for field in dataclasses.fields(CaseMember))
_EPISODE: Final = tuple(field.name for field in dataclasses.fields(Episode))
_of_case, _of_member, _of_episode = (
    attrgetter(*names) for names in (_CASE, _MEMBER, _EPISODE)
)
_HELD: Final = ("owned", "assigned", "claimed")
_OFFSETS: Final = ("committed", "lag")
_SIZES: Final = ("least_sizes", "undated_sizes", "recorded_sizes")


def _packed_member(name: str, member: CaseMember) -> dict[str, Any]:
    fields = dict(zip(_MEMBER, _of_member(member), strict=True))
    fields["member_id"] = name
    fields["subscription"] = sorted(member.subscription)
    for kind in _HELD:
        fields[kind] = _packed_held(fields[kind])
    return fields


def _packed_held(held: Held | None) -> list[dict[str, Any]] | None:
    if held is None:
        return None
    return [{"topic": topic, "partitions": listed} for topic, listed in held.items()]


def _packed_offsets(found: tuple[str, list[tuple[int, int]]]) -> dict[str, Any]:
    topic, pairs = found
    return {
        "topic": topic,
        "partitions": [number for number, _ in pairs],
        "offsets": [offset for _, offset in pairs],
    }


def _member(fields: dict[str, Any]) -> CaseMember:
    for kind in _HELD:
        if fields[kind] is not None:
            fields[kind] = _held(fields[kind])
    return CaseMember(**fields)


def _held(listed: list[dict[str, Any]]) -> Held:
    return {held["topic"]: held["partitions"] for held in listed}
