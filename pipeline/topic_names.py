"""Names for the topic ids of a case (KIP-516).

Assignments of the new protocol contain ids, subscriptions contain names. A topic that
was deleted and created again has two ids and one name: partitions of the former topic
are then no longer owned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pipeline.cases import Case, CaseMember, Held
from pipeline.topic_ids import is_topic_id, plain_id, text_of_id
from rebalance import InstanceError

UNNAMED: Final = "topic id without a name in the source or in topics.json"
TWO_IDS: Final = "two topic ids of one name in an assignment"


def with_names(case: Case, names: Mapping[str, str]) -> Case:
    """Return the case with names instead of ids.

    Raises
    ------
    InstanceError
        If an id has no name, or two ids in the assignment have the same.
    """
    members = case.members or {}
    assigned = {t for m in members.values() for t in m.assigned or () if is_topic_id(t)}
    others = {t for m in members.values() for t in _reported(m) if is_topic_id(t)}
    others.update(t for held in _before(case).values() for t in held if is_topic_id(t))
    if not assigned and not others:
        return case
    found = _names_of(sorted(assigned), names)
    present = set(found.values())
    for topic_id in sorted(others - assigned):
        name = names.get(topic_id)
        if name is None:
            raise InstanceError(UNNAMED, subject=plain_id(topic_id))
        if name not in present:
            found[topic_id] = name
            present.add(name)
    episode = case.episode
    if episode is not None and episode.before is not None:
        before = {
            member: _named(held, found) for member, held in episode.before.items()
        }
        episode = replace(episode, before=before)
    return replace(
        case,
        members={name: _member(member, found) for name, member in members.items()},
        undated_sizes=_named_sizes(case.undated_sizes, found),
        episode=episode,
    )


def names_of_ids(stated: Iterable[tuple[bytes, str]]) -> dict[str, str]:
    """Return the name of each id; an id with several names has none."""
    names: dict[str, set[str]] = {}
    for topic_id, name in stated:
        names.setdefault(text_of_id(topic_id), set()).add(name)
    return {
        topic_id: min(given) for topic_id, given in names.items() if len(given) == 1
    }


def _names_of(topic_ids: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for topic_id in topic_ids:
        name = names.get(topic_id)
        if name is None:
            raise InstanceError(UNNAMED, subject=plain_id(topic_id))
        if name in found.values():
            raise InstanceError(TWO_IDS, subject=name)
        found[topic_id] = name
    return found


def _reported(member: CaseMember) -> set[str]:
    return {*member.owned, *(member.claimed or ())}


def _before(case: Case) -> Mapping[str, Held]:
    episode = case.episode
    return {} if episode is None or episode.before is None else episode.before


def _member(member: CaseMember, names: Mapping[str, str]) -> CaseMember:
    claimed, assigned = member.claimed, member.assigned
    return replace(
        member,
        owned=_named(member.owned, names),
        claimed=None if claimed is None else _named(claimed, names),
        assigned=None if assigned is None else _named(assigned, names),
    )


def _named_sizes(
    sizes: Mapping[str, int] | None, names: Mapping[str, str]
) -> dict[str, int] | None:
    """Return the largest size per name, without ids that are not current."""
    if sizes is None:
        return None
    named: dict[str, int] = {}
    for topic, size in sizes.items():
        name = names.get(topic) if is_topic_id(topic) else topic
        if name is not None:
            named[name] = max(size, named.get(name, 0))
    return named or None


def _named(held: Held, names: Mapping[str, str]) -> Held:
    """Replace ids; topics of ids that are no longer current are dropped."""
    named = {names[topic]: numbers for topic, numbers in held.items() if topic in names}
    return {topic: named[topic] for topic in sorted(named)}
