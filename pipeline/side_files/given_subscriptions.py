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
from pipeline.files import LOCAL_STORES, Location, Stores
from pipeline.side_files.sidecars import read_side_file

_Topics: TypeAlias = Annotated[list[str], Field(min_length=1)]
_Stated: TypeAlias = _Topics | dict[str, _Topics]
_FILE: Final = TypeAdapter(dict[str, _Stated])
_ID_OF_COORDINATOR: Final = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


@dataclass(frozen=True, slots=True)
class GivenSubscriptions:
    """Topics per group: of all members, or per name of a member."""

    stated: Mapping[str, _Stated] = field(default_factory=dict)

    def of(self, group: str, name: str, member: CaseMember) -> list[str] | None:
        """Return the topics to which a member subscribes; None if they are unknown."""
        stated = self.stated.get(group, {})
        if isinstance(stated, list):
            return stated
        return next(
            (stated[key] for key in _names(name, member) if key in stated), None
        )


def read_subscriptions(
    path: Location | None, stores: Stores = LOCAL_STORES
) -> GivenSubscriptions:
    """Read the file; without one, nothing is given.

    Raises
    ------
    DocumentError, SourceError
        If it is not of this form, or cannot be read.
    """
    if path is None:
        return GivenSubscriptions()
    return GivenSubscriptions(
        {
            group: sorted(set(stated))
            if isinstance(stated, list)
            else {name: sorted(set(topics)) for name, topics in stated.items()}
            for group, stated in read_side_file(path, stores, _FILE).items()
        }
    )


def with_given_subscriptions(case: Case, given: GivenSubscriptions) -> Case:
    """Return the case with the given subscriptions where its source reports none.

    They count as known if they are given for all members. A subscription that
    contradicts the state is not used, and the state is in doubt.
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
        stated = topics[name]
        other = sorted(set(member.assigned or ()) - set(stated or ()))
        if stated is not None and other:
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
