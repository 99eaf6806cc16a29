"""The sentences on the causes of a rebalance, and on members that are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from oracle.explanation.phrases import names_text
from oracle.wording import counted, tenths_up

if TYPE_CHECKING:  # Arrow is imported if a group is read
    from pipeline.causes import Cause, Silence

Text: TypeAlias = "Callable[[Cause], str]"


def cause_text(causes: Sequence[Cause]) -> str:
    """Return the causes of a rebalance in one sentence."""
    return f"Cause: {'; '.join(_TEXTS[cause.kind](cause) for cause in causes)}."


def silence_text(silences: Sequence[Silence]) -> str:
    """Return the time without a reader that members who are gone can have caused.

    Parameters
    ----------
    silences
        Not empty.
    """
    names = names_text([silence.member_id for silence in silences], many="members")
    shortest, longest = (
        tenths_up(choose(silence.ms for silence in silences)) for choose in (min, max)
    )
    partitions = sum(silence.partitions for silence in silences)
    total = sum(silence.partitions * silence.ms for silence in silences)
    time = longest if shortest == longest else f"{shortest} to {longest}"
    commits, its = ("commits", "their") if len(silences) > 1 else ("commit", "its")
    return (
        f"Last {commits} of {names}: {time} s before. From then on, {its}"
        f" {counted(partitions, 'partition')} had no reader for at most"
        f" {tenths_up(total)} partition-seconds, which the harm does not contain."
    )


def _members(does: str, kind: str = "member") -> Text:
    """Return the text of a number of members that did something, with their names."""

    def text(cause: Cause) -> str:
        names = _listed(cause.members, cause.count, many="members")
        return f"{counted(cause.count, kind)} {does}{f', {names}' if names else ''}"

    return text


def _started(cause: Cause) -> str:
    return f"the group had no members before, and has {cause.count:,}"


def _resubscribed(cause: Cause) -> str:
    text = _members("changed its subscription")(cause)
    if cause.count > 1:
        text = _members("changed their subscriptions")(cause)
    if not cause.topics:
        return text
    return f"{text}, by {_listed(cause.topics, len(cause.topics), many='topics')}"


def _topics(does: str) -> Text:
    def text(cause: Cause) -> str:
        names = _listed(cause.topics, cause.count, many="topics")
        return does.format(topics=f"topic{'' if cause.count == 1 else 's'} {names}")

    return text


def _constant(words: str) -> Text:
    return lambda _cause: words


def _listed(names: Sequence[str], count: int, *, many: str) -> str:
    """List the first names of so many."""
    more = [""] * (count - len(names)) if names else []
    return names_text([*names, *more], many=many)


_TEXTS: Final[dict[str, Text]] = {
    "started": _started,
    "returned": _members("returned within 60 s"),
    "left-briefly": _members("left, and returned within 60 s afterwards"),
    "joined": _members("joined"),
    "left": _members("left"),
    "resubscribed": _resubscribed,
    "partitions-added": _topics("partitions of {topics} were added"),
    "topics-appeared": _topics("the assignment before had left out {topics}"),
    "assignor-changed": _constant("the group selected another assignor"),
    "replaced": _members("restarted", "static member"),
    "leader-changed": lambda cause: f"{_listed(cause.members, 1, many='')} leads now",
    "round": _constant("it is a further round of a cooperative rebalance"),
    "restless": _constant(
        "none is recorded, members, subscriptions, assignor, leader, and partitions are"
        " those of the rebalance before"
    ),
    "unknown": _constant("not known, the rebalance before is not in the source"),
}
