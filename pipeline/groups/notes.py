"""What a reader has to know of a group that a source does not describe completely.

An answer holds under what is taken to be so where the source does not say.
"""

from typing import Final

from pipeline.cases import ALL_LISTED, NOT_REPORTED, OWNERS_LISTED

_NO_SUBSCRIPTIONS: Final = (
    "the text states no subscriptions: each member is taken to subscribe to the topics "
    "of which it has partitions, and one without partitions to all of them"
)
_NOT_AT_REST: Final = (
    "nothing shows that the group was at rest at that moment; it is taken to be: a "
    "--state table, a second text, or records would show it"
)
_UNLISTED: Final = (
    "the text lists no members without partitions; the group is taken to have none: "
    "--members --verbose would list them"
)
_OWNERS: Final = (
    "the text names client ids and hosts; each is taken to be one member, although "
    "several can share them"
)
LEAST_COUNTS: Final = (
    "partition counts as of then are lower bounds: of the partitions that the source "
    "shows until then"
)


def newer_partitions(count: int) -> str:
    """Return the note on partitions that the leader need not have known."""
    partitions, are = ("partition", "is") if count == 1 else ("partitions", "are")
    return (
        f"{count} {partitions} that appeared at most 5 minutes before "
        f"(metadata.max.age.ms) {are} left out, because the assignment lacks "
        f"{'it' if count == 1 else 'them'}: the leader's metadata can be older"
    )


def premises_of(
    subscriptions: str, members_listed: str, at_rest: str | None, doubt: str | None
) -> tuple[str, ...]:
    """Return what an answer on a state presumes; arguments as in `Case`."""
    premises = []
    if subscriptions == NOT_REPORTED:
        premises.append(
            "members subscribe to what they hold, and those that hold none to all"
        )
        if members_listed == OWNERS_LISTED:
            premises.append("each client id and host is one member")
        elif members_listed != ALL_LISTED:
            premises.append("no member is without partitions")
        if at_rest is None:
            premises.append("the group was at rest")
    if doubt is not None:
        premises.append(f"what is shown is right, although it is in doubt ({doubt})")
    return tuple(premises)


def notes_on_text(
    members_listed: str, at_rest: str | None, doubt: str | None = None
) -> list[str]:
    """Return the notes on a describe text; arguments as in `Case`."""
    notes = [_NO_SUBSCRIPTIONS]
    if members_listed != ALL_LISTED:
        notes.append(_OWNERS if members_listed == OWNERS_LISTED else _UNLISTED)
    if at_rest is None:
        notes.append(_NOT_AT_REST)
    if doubt is not None:
        notes.append(f"the text is in doubt: {doubt}")
    return notes
