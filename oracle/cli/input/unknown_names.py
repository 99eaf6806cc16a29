"""Warnings of names that do not exist: legal in a document, but usually a typo.

A subscription to a topic that does not exist contributes no partitions (KAFKA-7962); an
owned partition that does not exist has no owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from oracle.cli.printing.terminal import complain
from oracle.names import abridged
from oracle.wording import counted
from rebalance import Rebalance

SHOWN: Final = 5
"""Warnings of a run that are printed; the others are counted."""
_NAME_SHOWN: Final = 60

Subscriptions = Iterable[tuple[str, Iterable[str]]]
Owned = Iterable[tuple[str, Mapping[str, Sequence[int]]]]


@dataclass(slots=True)
class NameWarnings:
    """Warnings on the documents of a source, on standard error."""

    source: str
    is_silent: bool = False
    count: int = 0

    def check(self, document: Rebalance, number: int) -> None:
        """Warn of the names in a document."""
        if self.is_silent:
            return
        sizes = {name: topic.partitions for name, topic in document.topics.items()}
        members = document.members.items()
        wanted = ((name, member.subscription) for name, member in members)
        owned = ((name, member.owned or {}) for name, member in members)
        self._warn(_unknown(sizes, wanted, owned), number)

    def check_plain(self, document: Mapping[str, Any], number: int) -> None:
        """Warn of the names in a document as the judge reads it."""
        sizes = {
            name: topic["partitions"] for name, topic in document["topics"].items()
        }
        members = document["members"].items()
        wanted = ((name, member["subscription"]) for name, member in members)
        owned = ((name, member.get("owned", {})) for name, member in members)
        self._warn(_unknown(sizes, wanted, owned), number)

    def finish(self) -> None:
        """Report how many warnings were not printed."""
        if self.count > SHOWN:
            more = counted(self.count - SHOWN, "more warning")
            complain(f"{self.source}: {more} of names that do not exist")

    def _warn(self, found: Iterator[str], number: int) -> None:
        for text in found:
            self.count += 1
            if self.count <= SHOWN:
                complain(f"{self.source}: document {number}: warning: {text}")


def _unknown(
    sizes: Mapping[str, int], wanted: Subscriptions, owned: Owned
) -> Iterator[str]:
    """Yield a sentence per topic that does not exist, and per such claim."""
    missing: dict[str, list[str]] = {}
    for member, topics in wanted:
        for topic in topics:
            if topic not in sizes:
                missing.setdefault(topic, []).append(member)
    for topic, members in sorted(missing.items()):
        yield _subscription(topic, members, sizes)
    for member, held in owned:
        for topic, numbers in sorted(held.items()):
            text = _claim(member, topic, numbers, sizes)
            if text is not None and topic not in missing:
                yield text


def _claim(
    member: str, topic: str, numbers: Sequence[int], sizes: Mapping[str, int]
) -> str | None:
    """Return a sentence if a member owns partitions that do not exist."""
    if not numbers:
        return None
    if topic not in sizes:
        return f"{_name(member)} owns partitions of {_topic(topic, sizes)}"
    if max(numbers) < sizes[topic]:
        return None
    has = counted(sizes[topic], "partition")
    place = f"{_name(topic)}:{max(numbers)}"
    return f"{_name(member)} owns {place}, which does not exist: the topic has {has}"


def _subscription(topic: str, members: list[str], sizes: Mapping[str, int]) -> str:
    who = _name(min(members))
    if len(members) > 1:
        rest = counted(len(members) - 1, "other member")
        return f"{who} and {rest} subscribe to {_topic(topic, sizes)}"
    return f"{who} subscribes to {_topic(topic, sizes)}"


def _topic(topic: str, sizes: Mapping[str, int]) -> str:
    near = get_close_matches(topic, sizes, n=1)
    meant = f" (did you mean {_name(near[0])}?)" if near else ""
    return f"topic {_name(topic)}, which does not exist{meant}"


def _name(name: str) -> str:
    return f"'{abridged(name, _NAME_SHOWN)}'"
