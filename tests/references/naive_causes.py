"""Causes of rebalances by loops over plain rows: slow, and without columns.

A second version of `pipeline.causes`, from the definitions in docs/audit.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Entry = tuple[int, list[str], list[str]]
Leave = tuple[Row, int, bool, Any]
"""A member, the number of the rebalance that lacks it, and when it left."""
RETURN = timedelta(seconds=60)
ORDER = (
    *("started", "returned", "left-briefly", "joined", "left", "resubscribed"),
    *("partitions-added", "topics-appeared", "assignor-changed", "replaced"),
    *("leader-changed", "round", "restless", "unknown"),
)


def naive_causes(rebalances: list[Row], members: list[Row]) -> dict[str, list[Row]]:
    """Return the causes by the id of the rebalance."""
    people: dict[str, list[Row]] = defaultdict(list)
    for member in members:
        people[member["rebalance_id"]].append(member)
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rebalances, key=place):
        if row["source_kind"] == "consumer-offsets":
            groups[row["group_id"]].append(row)
    found: dict[str, dict[str, Entry]] = {
        row["rebalance_id"]: {"unknown": (1, [], [])} for row in rebalances
    }
    for rows in groups.values():
        history = [Moment(row, people[row["rebalance_id"]]) for row in rows]
        for moment, entries in zip(history, causes_of_group(history), strict=True):
            found[moment.row["rebalance_id"]] = entries
    return {key: listed(entries) for key, entries in found.items()}


def place(row: Row) -> tuple[bool, int, int]:
    partition = row["source_partition"]
    return partition is not None, partition or 0, row["source_offset"]


def listed(entries: dict[str, Entry]) -> list[Row]:
    return [
        {
            "kind": kind,
            "count": entries[kind][0],
            "members": sorted(entries[kind][1])[:10],
            "topics": sorted(entries[kind][2])[:10],
        }
        for kind in ORDER
        if kind in entries
    ]


def seat(member: Row) -> tuple[str, str]:
    if member["instance_id"]:
        return "instance", member["instance_id"]
    return "member", member["member_id"]


def identity(member: Row) -> tuple[str, ...]:
    if not member["instance_id"] and member["client_id"] and member["client_host"]:
        return "client", member["client_id"], member["client_host"]
    return seat(member)


class Moment:
    """A rebalance, and the members in it."""

    def __init__(self, row: Row, members: list[Row]) -> None:
        self.row = row
        self.members = {seat(member): member for member in members}
        self.is_told = None not in (row["joined"], row["left"], row["resubscribed"])
        if self.is_told:
            self.is_start = row["joined"] == row["members"] and row["left"] == 0
        else:
            self.is_start = row["generation"] == 1
        self.is_known = False

    def joined(self) -> list[Row]:
        return [member for member in self.members.values() if member["joined"]]

    def lacks(self, other: Moment) -> list[Row]:
        return [
            member for key, member in other.members.items() if key not in self.members
        ]

    def stayed(self, other: Moment) -> list[tuple[Row, Row]]:
        both = self.members.keys() & other.members.keys()
        return [(other.members[key], self.members[key]) for key in both]

    def resubscribed(self, other: Moment) -> list[tuple[Row, Row]]:
        return [
            (then, now)
            for then, now in self.stayed(other)
            if set(then["subscription"]) != set(now["subscription"])
        ]

    def is_after(self, other: Moment) -> bool:
        """Return whether the other is the rebalance before this one."""
        if not self.is_told or self.is_start:
            return False
        step = self.row["generation"] - other.row["generation"]
        if step < 1 or (step > 1 and self.row["protocol"] != "consumer"):
            return False
        new = self.members.keys() - other.members.keys()
        counts = len(new), len(self.lacks(other)), len(self.resubscribed(other))
        told = (self.row[name] for name in ("joined", "left", "resubscribed"))
        return counts == tuple(told)

    def largest(self, *columns: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for member in self.members.values():
            for column in columns:
                for held in member[column] or ():
                    for number in held["partitions"]:
                        topic = held["topic"]
                        found[topic] = max(found.get(topic, -1), number)
        return found


def causes_of_group(history: list[Moment]) -> Iterator[dict[str, Entry]]:
    for before, moment in pairwise(history):
        moment.is_known = moment.is_after(before)
    returned, briefly, away = returns_of(history)
    for number, moment in enumerate(history):
        entries: dict[str, Entry] = {}
        came = [member for member in moment.joined() if id(member) in returned]
        new = [member for member in moment.joined() if id(member) not in returned]
        if moment.is_start:
            entries |= named("started", moment.members.values())
            new = []
        entries |= named("returned", came) | named("joined", new)
        entries |= named("left-briefly", briefly[number])
        entries |= named("left", away[number])
        if moment.is_known:
            entries |= changes(history, number)
            for kind, members in last_changes(history[number - 1], moment):
                if not entries:
                    entries |= named(kind, members)
            entries = entries or {"restless": (1, [], [])}
        elif moment.is_told and not moment.is_start:
            for kind in ("left", "resubscribed"):
                if moment.row[kind]:
                    entries[kind] = (moment.row[kind], [], [])
        yield entries or {"unknown": (1, [], [])}


def named(kind: str, members: Iterable[Row]) -> dict[str, Entry]:
    names = [member["member_id"] for member in members]
    return {kind: (len(names), names, [])} if names else {}


def changes(history: list[Moment], number: int) -> dict[str, Entry]:
    before, moment = history[number - 1], history[number]
    entries: dict[str, Entry] = {}
    pairs = moment.resubscribed(before)
    if pairs:
        names = [now["member_id"] for _, now in pairs]
        changed = [set(a["subscription"]) ^ set(b["subscription"]) for a, b in pairs]
        entries["resubscribed"] = (len(names), names, [*set().union(*changed)])
    for kind, topics in (
        ("partitions-added", added(history, number)),
        ("topics-appeared", appeared(before, moment)),
    ):
        if topics:
            entries[kind] = (len(topics), [], topics)
    assignors = before.row["client_assignor"], moment.row["client_assignor"]
    if None not in assignors and assignors[0] != assignors[1]:
        entries["assignor-changed"] = (1, [], [])
    if moment.row["protocol"] != "consumer" and moment.row["round"] > 1:
        entries["round"] = (1, [], [])
    return entries


def added(history: list[Moment], number: int) -> list[str]:
    before, moment = history[number - 1], history[number]
    if moment.row["topics"] != before.row["topics"]:
        return []
    if moment.row["partitions"] <= before.row["partitions"]:
        return []
    every = [past.largest("assigned", "owned", "claimed") for past in history[:number]]
    then = before.largest("assigned")
    return [
        topic
        for topic, largest in moment.largest("assigned").items()
        if topic in then and all(past.get(topic, -1) < largest for past in every)
    ]


def appeared(before: Moment, moment: Moment) -> list[str]:
    wanted = {t for member in before.members.values() for t in member["subscription"]}
    columns = ["assigned"]
    if before.row["cooperative"]:
        columns += ["owned", "claimed"]
    return [
        topic
        for topic in moment.largest("assigned")
        if topic in wanted and topic not in before.largest(*columns)
    ]


def last_changes(before: Moment, moment: Moment) -> Iterator[tuple[str, list[Row]]]:
    """Yield the changes that count only if there are no others."""
    pairs = moment.stayed(before)
    yield "replaced", [b for a, b in pairs if a["member_id"] != b["member_id"]]
    seats = [leader_of(before), leader_of(moment)]
    leader = [m for m in moment.members.values() if seat(m) == seats[1]]
    yield "leader-changed", leader if None not in seats and seats[0] != seats[1] else []


def leader_of(moment: Moment) -> tuple[str, str] | None:
    for member in moment.members.values():
        if member["member_id"] == moment.row["leader"]:
            return seat(member)
    return None


def returns_of(
    history: list[Moment],
) -> tuple[set[int], list[list[Row]], list[list[Row]]]:
    """Return the members that returned, and per rebalance those that left."""
    returned: set[int] = set()
    briefly: list[list[Row]] = [[] for _ in history]
    away: list[list[Row]] = [[] for _ in history]
    gone: list[Leave] = []
    fate: dict[int, str] = {}
    for number, moment in enumerate(history):
        if number:
            before = history[number - 1]
            left = (
                [*before.members.values()] if moment.is_start else moment.lacks(before)
            )
            at = moment.row["at"] if moment.is_known else empty_at(before.row)
            left = sorted(left, key=name_of)
            gone += [(member, number, moment.is_known, at) for member in left]
        for member in sorted(moment.joined(), key=name_of):
            leave = first_in_time(gone, identity(member), number, moment.row["at"])
            if leave is not None:
                gone.remove(leave)
                returned.add(id(member))
                fate[id(leave[0])] = "at once" if leave[1] == number else "briefly"
    for number, moment in enumerate(history):
        if number and moment.is_known:
            for member in moment.lacks(history[number - 1]):
                kind = fate.get(id(member), "away")
                if kind != "at once":
                    (briefly if kind == "briefly" else away)[number].append(member)
    return returned, briefly, away


def first_in_time(gone: list[Leave], who: tuple[str, ...], number: int, at: Any) -> Any:
    """Return the first leave that is not too old; drop those before it that are."""
    mine = [leave for leave in gone if identity(leave[0]) == who]
    times = [time_of(leave, number, at) for leave in mine]
    for leave, took in zip(mine, times, strict=True):
        if took is None or took <= RETURN:
            break
        gone.remove(leave)
    for leave, took in zip(mine, times, strict=True):
        if took is not None and timedelta() <= took <= RETURN:
            return leave
    return None


def empty_at(row: Row) -> Any:
    """Return when a group was empty next, else the time of its last rebalance."""
    return row["until"] if row["ended"] == "empty" else row["at"]


def name_of(member: Row) -> str:
    name: str = member["member_id"]
    return name


def time_of(leave: Leave, number: int, at: Any) -> Any:
    _, seen, is_dated, left_at = leave
    if seen == number and is_dated:
        return timedelta()
    if at is None or left_at is None:
        return None
    return at - left_at
