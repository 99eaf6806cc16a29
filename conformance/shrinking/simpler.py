"""Simpler names and numbers for a rebalance; each function yields candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

Document = dict[str, Any]

_SAME: Final[Mapping[str, str]] = MappingProxyType({})
OPTIONAL: Final = ("generation", "rack", "instance_id", "capacity", "owned")


def without_extras(rebalance: Document) -> Iterator[Document]:
    """Omit the id, then lags and racks, of all topics and of each."""
    if "id" in rebalance:
        yield {key: value for key, value in rebalance.items() if key != "id"}
    for field in ("lag", "racks"):
        stated = [t for t, topic in rebalance["topics"].items() if field in topic]
        for some in ([stated] if len(stated) > 1 else []) + [[t] for t in stated]:
            topics = {
                t: _without(topic, field) if t in some else topic
                for t, topic in rebalance["topics"].items()
            }
            yield rebalance | {"topics": topics}


def without_fields(rebalance: Document) -> Iterator[Document]:
    """Omit optional fields of members, of all and of each; claims only if empty."""
    for field in OPTIONAL:
        stated = [
            name
            for name, member in rebalance["members"].items()
            if field in member and not (field == "owned" and member["owned"])
        ]
        for some in ([stated] if len(stated) > 1 else []) + [[m] for m in stated]:
            members = {
                m: _without(member, field) if m in some else member
                for m, member in rebalance["members"].items()
            }
            yield rebalance | {"members": members}


def in_order(rebalance: Document) -> Iterator[Document]:
    """Sort subscriptions and claims; omit topics of which nothing is claimed."""
    members = {}
    for name, member in rebalance["members"].items():
        members[name] = member | {"subscription": sorted(member["subscription"])}
        if "owned" in member:
            claimed = sorted(member["owned"].items())
            members[name]["owned"] = {t: sorted(ns) for t, ns in claimed if ns}
    yield rebalance | {"members": members}


def lower_generations(rebalance: Document) -> Iterator[Document]:
    """Make all generations equal, or else consecutive from 1, or from 0."""
    members = rebalance["members"].items()
    stated = {
        m: member["generation"] for m, member in members if "generation" in member
    }
    if not stated:
        return
    yield _dated(rebalance, dict.fromkeys(stated, 1))
    order = sorted(set(stated.values()))
    unknown = order[0] == -1
    ranks = {g: i if unknown else i + 1 for i, g in enumerate(order)}
    if unknown:
        ranks[-1] = -1
    yield _dated(rebalance, {m: ranks[g] for m, g in stated.items()})


def smaller_lags(rebalance: Document) -> Iterator[Document]:
    """Replace lags by 1, or else by their ranks."""
    lags = {n for topic in rebalance["topics"].values() for n in topic.get("lag", ())}
    ranks = {lag: i for i, lag in enumerate(sorted(lags | {0}))}
    for smaller in ({lag: min(lag, 1) for lag in ranks}, ranks):
        yield rebalance | {
            "topics": {
                t: topic | {"lag": [smaller[n] for n in topic["lag"]]}
                if "lag" in topic
                else topic
                for t, topic in rebalance["topics"].items()
            }
        }


def fewer_racks(rebalance: Document) -> Iterator[Document]:
    """Keep one replica per partition, and number the racks by first use."""
    yield _with_racks(rebalance, lambda racks: racks[:1])
    used: dict[str, str] = {}
    for topic in rebalance["topics"].values():
        for racks in topic.get("racks", ()):
            for rack in racks:
                used.setdefault(rack, f"r{len(used) + 1}")
    for member in rebalance["members"].values():
        if "rack" in member:
            used.setdefault(member["rack"], f"r{len(used) + 1}")
    renamed = _with_racks(rebalance, lambda racks: [used[rack] for rack in racks])
    members = {
        m: member | {"rack": used[member["rack"]]} if "rack" in member else member
        for m, member in renamed["members"].items()
    }
    yield renamed | {"members": members}


def lower_claims(rebalance: Document) -> Iterator[Document]:
    """Lower the numbers beyond the end of a topic as far as possible."""
    topics = rebalance["topics"]
    members = {}
    for name, member in rebalance["members"].items():
        members[name] = dict(member)
        for topic, numbers in member.get("owned", {}).items():
            end = topics.get(topic, {}).get("partitions", 0)
            inside = [n for n in numbers if n < end]
            beyond = range(end, end + len(numbers) - len(inside))
            owned = members[name]["owned"] | {topic: [*inside, *beyond]}
            members[name]["owned"] = owned
    yield rebalance | {"members": members}


def shorter_names(rebalance: Document) -> Iterator[Document]:
    """Rename the group to g, members to m1, m2 and so on, and topics to t1.

    The order of names stays, because many assignors break ties by it.
    """
    topics = {*rebalance["topics"]}
    ids = set()
    for member in rebalance["members"].values():
        topics |= {*member["subscription"], *member.get("owned", {})}
        ids |= {member["instance_id"]} if "instance_id" in member else set()
    yield rebalance | {"group": "g"}
    yield _renamed(rebalance, members=_numbered("m", set(rebalance["members"])))
    yield _renamed(rebalance, topics=_numbered("t", topics))
    yield _renamed(rebalance, instances=_numbered("i", ids))


SIMPLER: Final[Sequence[Callable[[Document], Iterator[Document]]]] = (
    without_extras,
    in_order,
    without_fields,
    lower_generations,
    smaller_lags,
    fewer_racks,
    lower_claims,
    shorter_names,
)


def _without(document: Document, field: str) -> Document:
    return {key: value for key, value in document.items() if key != field}


def _dated(rebalance: Document, generations: dict[str, int]) -> Document:
    members = {
        m: member | {"generation": generations[m]} if m in generations else member
        for m, member in rebalance["members"].items()
    }
    return rebalance | {"members": members}


def _with_racks(
    rebalance: Document, change: Callable[[list[str]], list[str]]
) -> Document:
    topics = {
        t: topic | {"racks": [change(racks) for racks in topic["racks"]]}
        if "racks" in topic
        else topic
        for t, topic in rebalance["topics"].items()
    }
    return rebalance | {"topics": topics}


def _numbered(letter: str, names: set[str]) -> dict[str, str]:
    width = len(str(len(names)))
    ordered = enumerate(sorted(names), start=1)
    return {name: f"{letter}{i:0{width}}" for i, name in ordered}


def _renamed(
    rebalance: Document,
    *,
    members: Mapping[str, str] = _SAME,
    topics: Mapping[str, str] = _SAME,
    instances: Mapping[str, str] = _SAME,
) -> Document:
    renamed = {}
    for name, member in rebalance["members"].items():
        wanted = [topics.get(t, t) for t in member["subscription"]]
        one = member | {"subscription": wanted}
        if "owned" in member:
            one["owned"] = {topics.get(t, t): ns for t, ns in member["owned"].items()}
        if "instance_id" in member:
            one["instance_id"] = instances.get(one["instance_id"], one["instance_id"])
        renamed[members.get(name, name)] = one
    counts = {topics.get(t, t): topic for t, topic in rebalance["topics"].items()}
    return rebalance | {"topics": counts, "members": renamed}
