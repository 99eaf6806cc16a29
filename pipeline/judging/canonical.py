"""Canonical form of a rebalance: names replaced by their places in sorted order.

Groups that run the same rebalance under other names are frequent: replicas of a
service, or the same group every night. No engine, heuristic, or rule of the judge
depends on more of a name than its place in sorted order (``tests/pipeline`` draws
rebalances and order-preserving names to check this), so their answers are equal except
for the names. The exceptions are kept: a rack without a name stays one, and names with
characters beyond U+FFFF, which Java sorts differently than Python, have no canonical
form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from pipeline.judging.outcome import Actual, Question
from rebalance import Rebalance, rebalance_of

Plain = Mapping[str, Any]

MARK: Final = "~"
"""Start and end of a canonical name; no word of a verdict contains it."""
GROUP, IDENTITY, ASSIGNOR = (f"{MARK}{kind}{MARK}" for kind in "gia")
_LAST_OF_TWO_BYTES: Final = "\uffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of one rebalance, each kind in sorted order."""

    group: str
    identity: str | None
    assignor: str | None
    members: tuple[str, ...]
    topics: tuple[str, ...]
    instance_ids: tuple[str, ...]
    racks: tuple[str, ...]

    @property
    def have_one_order(self) -> bool:
        """Whether names sort by UTF-16 unit as they do by code point."""
        sorted_names = (*self.members, *self.topics, *self.instance_ids)
        joined = "".join(sorted_names)
        return joined.isascii() or max(joined) <= _LAST_OF_TWO_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """Canonical form of a rebalance and of the question about it.

    Attributes
    ----------
    key : bytes
        Equal for two rebalances if and only if they are equal except for names.
    names : Names
    """

    key: bytes
    names: Names


def canonical_form(plain: Plain, question: Question) -> Canonical | None:
    """Return the canonical form of a rebalance/1 value; None if it has none.

    Lists and objects keep their order, so that nothing but names is abstracted.
    """
    names = _names_of(plain, question)
    if not names.have_one_order:
        return None
    topic, member, racks, static = map(
        _places, (names.topics, names.members, names.racks, names.instance_ids)
    )
    actual = question.actual
    form = (
        question.claim_rule.value,
        question.assignors,
        question.lag_known,
        question.max_partitions,
        names.identity is None,
        actual
        and (
            actual.cooperative,
            actual.assignor is None,
            [(member[name], _held(held, topic)) for name, held in actual.held.items()],
        ),
        [
            (topic[name], one["partitions"], one.get("lag"), _listed(one, racks))
            for name, one in plain["topics"].items()
        ],
        [
            (
                member[name],
                [topic[wanted] for wanted in one["subscription"]],
                _held(one["owned"], topic) if "owned" in one else None,
                one.get("generation"),
                one.get("capacity"),
                _place(one.get("rack"), racks),
                _place(one.get("instance_id"), static),
            )
            for name, one in plain["members"].items()
        ],
        names.racks[:1] == ("",),
    )
    return Canonical(key=orjson.dumps(form), names=names)


def renamed(
    plain: Plain, question: Question, names: Names
) -> tuple[Rebalance, Question]:
    """Return the rebalance and the question with canonical names.

    Raises
    ------
    DocumentError
        If the value is no valid rebalance/1.
    """
    topic = dict(zip(names.topics, canonical_topics(names), strict=True))
    member = dict(zip(names.members, canonical_members(names), strict=True))
    racks = {name: _canonical("r", i) if name else "" for i, name in _ranked(names)}
    static = {one: _canonical("s", i) for i, one in enumerate(names.instance_ids)}
    document: dict[str, Any] = {
        "format": plain["format"],
        "group": GROUP,
        "topics": {
            topic[name]: one
            | (
                {"racks": [[racks[rack] for rack in listed] for listed in one["racks"]]}
                if "racks" in one
                else {}
            )
            for name, one in plain["topics"].items()
        },
        "members": {
            member[name]: _renamed_member(one, topic, racks, static)
            for name, one in plain["members"].items()
        },
    }
    if names.identity is not None:
        document["id"] = IDENTITY
    actual = question.actual
    if actual is not None:
        question = replace(question, actual=_renamed_actual(actual, topic, member))
    return rebalance_of(document, max_partitions=question.max_partitions), question


def canonical_members(names: Names) -> list[str]:
    """Return the canonical names of the members."""
    return [_canonical("m", i) for i in range(len(names.members))]


def canonical_topics(names: Names) -> list[str]:
    """Return the canonical names of the topics."""
    return [_canonical("t", i) for i in range(len(names.topics))]


def _names_of(plain: Plain, question: Question) -> Names:
    topics, members = {*plain["topics"]}, {*plain["members"]}
    racks: set[str] = set()
    static: set[str] = set()
    for one in plain["members"].values():
        topics.update(one["subscription"], one.get("owned", ()))
        if "rack" in one:
            racks.add(one["rack"])
        if "instance_id" in one:
            static.add(one["instance_id"])
    for one in plain["topics"].values():
        for listed in one.get("racks", ()):
            racks.update(listed)
    actual = question.actual
    if actual is not None:
        members.update(actual.held)
        for held in actual.held.values():
            topics.update(held)
    return Names(
        group=plain["group"],
        identity=plain.get("id"),
        assignor=None if actual is None else actual.assignor,
        members=tuple(sorted(members)),
        topics=tuple(sorted(topics)),
        instance_ids=tuple(sorted(static)),
        racks=tuple(sorted(racks)),
    )


def _ranked(names: Names) -> Iterable[tuple[int, str]]:
    return enumerate(names.racks)


def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _place(name: str | None, places: Mapping[str, int]) -> int | None:
    return None if name is None else places[name]


def _held(held: Mapping[str, Any], topic: Mapping[str, int]) -> list[tuple[int, Any]]:
    return [(topic[name], numbers) for name, numbers in held.items()]


def _listed(topic: Plain, racks: Mapping[str, int]) -> list[list[int]] | None:
    if "racks" not in topic:
        return None
    return [[racks[rack] for rack in listed] for listed in topic["racks"]]


def _canonical(kind: str, place: int) -> str:
    return f"{MARK}{kind}{place:08}{MARK}"


def _renamed_member(
    one: Plain,
    topic: Mapping[str, str],
    racks: Mapping[str, str],
    static: Mapping[str, str],
) -> dict[str, Any]:
    named = {**one, "subscription": [topic[wanted] for wanted in one["subscription"]]}
    if "owned" in one:
        named["owned"] = {topic[name]: held for name, held in one["owned"].items()}
    if "rack" in one:
        named["rack"] = racks[one["rack"]]
    if "instance_id" in one:
        named["instance_id"] = static[one["instance_id"]]
    return named


def _renamed_actual(
    actual: Actual, topic: Mapping[str, str], member: Mapping[str, str]
) -> Actual:
    held = {
        member[name]: {topic[one]: numbers for one, numbers in of_one.items()}
        for name, of_one in actual.held.items()
    }
    assignor = None if actual.assignor is None else ASSIGNOR
    return replace(actual, held=held, assignor=assignor)
