"""Subscriptions that no source reports, as a side file (``--subscriptions``).

Logs of a group's leader and describe texts contain none. The file states them per
group: ``{"orders": ["orders", "payments"]}`` if all members subscribe to the same
topics, else ``{"orders": {"consumer-1": ["orders"], …}}`` by member id, client id, or
``group.instance.id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, TypeAlias

from pydantic import Field, TypeAdapter

from pipeline.cases import GIVEN, NOT_REPORTED, Case, CaseMember
from pipeline.files import FileStore, LocalStore, Location
from pipeline.sources.sidecars import read_side_file

_Topics: TypeAlias = Annotated[list[str], Field(min_length=1)]
_FILE: Final = TypeAdapter(dict[str, _Topics | dict[str, _Topics]])
_ID_OF_COORDINATOR: Final = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_LOCAL: Final[FileStore] = LocalStore()


@dataclass(frozen=True, slots=True)
class GivenSubscriptions:
    """Topics per group: of all members, or per name of a member."""

    of_all: Mapping[str, list[str]] = field(default_factory=dict)
    of_members: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)

    def of(self, group: str, name: str, member: CaseMember) -> list[str] | None:
        """Return the topics to which a member subscribes; None if they are unknown."""
        if group in self.of_all:
            return self.of_all[group]
        of_members = self.of_members.get(group, {})
        return next(
            (of_members[one] for one in _names(name, member) if one in of_members), None
        )


def read_subscriptions(path: Location, store: FileStore = _LOCAL) -> GivenSubscriptions:
    """Read the file.

    Raises
    ------
    DocumentError, SourceError
        If it is not of this form, or cannot be read.
    """
    written = read_side_file(path, store, _FILE)
    return GivenSubscriptions(
        of_all={
            group: sorted(set(stated))
            for group, stated in written.items()
            if isinstance(stated, list)
        },
        of_members={
            group: {name: sorted(set(topics)) for name, topics in stated.items()}
            for group, stated in written.items()
            if isinstance(stated, dict)
        },
    )


def with_given_subscriptions(case: Case, given: GivenSubscriptions) -> Case:
    """Return the case with what is given where its source reports no subscriptions.

    They count as known if they are given for all members. What contradicts the state
    is not used, and the state is in doubt.
    """
    if case.subscriptions != NOT_REPORTED or case.members is None:
        return case
    topics = {
        name: given.of(case.group_id, name, member)
        for name, member in case.members.items()
    }
    if not any(topics.values()):
        return case
    for name, member in case.members.items():
        told = topics[name]
        other = sorted(set(member.assigned or ()) - set(told or ()))
        if told is not None and other:
            doubt = f"{name} has partitions of {other[0]}, to which it does not "
            doubt += "subscribe as --subscriptions states"
            return replace(case, doubt=case.doubt or doubt)
    return replace(
        case,
        subscriptions=GIVEN if all(topics.values()) else NOT_REPORTED,
        members={
            name: replace(member, subscription=topics[name] or member.subscription)
            for name, member in case.members.items()
        },
    )


def _names(name: str, member: CaseMember) -> Iterator[str]:
    """Yield the names by which a file can refer to a member."""
    yield name
    yield from filter(None, (member.client_id, member.instance_id))
    yield _ID_OF_COORDINATOR.sub("", name)
