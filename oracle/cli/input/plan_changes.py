"""Changes of a group as options of ``plan`` state them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import typer

from oracle.cli.options.plan import PlanOptions
from oracle.planning import (
    AddPartitions,
    Change,
    Join,
    Leave,
    SetLag,
    Subscribe,
    apply_changes,
    common_subscription,
    new_names,
)
from rebalance import INT64_MAX, InstanceError, Rebalance

ALL_MEMBERS: Final = "*"
_LAG: Final = re.compile(r"(x?)([0-9]{1,19})")
_PLACE: Final = re.compile(r"(.+):([0-9]{1,10})")


def stated_changes(options: PlanOptions, rebalance: Rebalance) -> list[Change]:
    """Return the changes of a group, in the order in which they are made.

    Raises
    ------
    typer.BadParameter
        If an option has another form, or a subscription has to be stated.
    """
    stated = options.subscription
    given = None if stated is None else topics_of(stated)
    changes: list[Change] = [Leave(member=name) for name in options.leave or ()]
    staying = apply_changes(rebalance, changes)
    joining = common_subscription(staying) if given is None else given
    changes += [_join(text, joining) for text in options.join or ()]
    taken = apply_changes(rebalance, changes) if options.add_members else rebalance
    changes += [
        Join(member=name, subscription=_required(joining, f"--add-members: {name}"))
        for name in new_names(taken, options.add_members)
    ]
    for text in options.subscribe or ():
        changes += _subscribe(text, rebalance, changes)
    changes += [_partitions(text) for text in options.partitions or ()]
    changes += [_lag(text) for text in options.lag or ()]
    return changes


def topics_of(text: str) -> list[str]:
    """Parse topics, separated by commas.

    Raises
    ------
    typer.BadParameter
        If there is none, or one without a name.
    """
    topics = [part.strip() for part in text.split(",")]
    if not all(topics):
        raise typer.BadParameter(f"{text!r}: write topics separated by commas")
    return sorted(set(topics))


def _join(text: str, joining: list[str] | None) -> Join:
    name, equals, topics = text.rpartition("=")
    if equals:
        return Join(member=name, subscription=topics_of(topics))
    return Join(member=text, subscription=_required(joining, f"--join {text}"))


def _required(joining: list[str] | None, what: str) -> list[str]:
    if joining is None:
        reason = "members subscribe to different topics: write NAME=TOPICS, or add "
        raise typer.BadParameter(f"{what}: {reason}--subscription TOPICS")
    return joining


def _subscribe(
    text: str, rebalance: Rebalance, changes: Sequence[Change]
) -> Iterator[Subscribe]:
    name, equals, topics = text.rpartition("=")
    if not equals:
        raise typer.BadParameter(f"--subscribe {text}: write NAME=TOPICS")
    subscription = topics_of(topics)
    names = [name]
    if name == ALL_MEMBERS and name not in rebalance.members:
        names = sorted(apply_changes(rebalance, changes).members)
    yield from (Subscribe(member=name, subscription=subscription) for name in names)


def _partitions(text: str) -> AddPartitions:
    topic, _, number = text.rpartition("=")
    if not topic or not re.fullmatch(r"[0-9]{1,10}", number):
        raise typer.BadParameter(f"--partitions {text}: write TOPIC=N")
    return AddPartitions(topic=topic, partitions=int(number))


def _lag(text: str) -> SetLag:
    place, _, number = text.rpartition("=")
    found = _LAG.fullmatch(number)
    if not place or found is None or int(found[2]) > INT64_MAX:
        raise typer.BadParameter(f"--lag {text}: write TOPIC=N, TOPIC:P=N, or TOPIC=xN")
    of_one = _PLACE.fullmatch(place)  # names of topics have no colon
    topic = place if of_one is None else of_one[1]
    value = {"times" if found[1] else "lag": int(found[2])}
    partition = {} if of_one is None else {"partition": int(of_one[2])}
    return SetLag.model_validate({"topic": topic, **partition, **value})


def checked(rebalance: Rebalance, changes: Sequence[Change], limit: int) -> Rebalance:
    """Return the group after the changes, if it is not too large.

    Raises
    ------
    InstanceError
        If a change contradicts the group, or there are too many partitions.
    """
    changed = apply_changes(rebalance, changes)
    total = sum(topic.partitions for topic in changed.topics.values())
    if total > limit:
        raise InstanceError(f"{total:,} partitions, above the limit", subject=limit)
    return changed
