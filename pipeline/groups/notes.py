"""Notes for readers on a group that a source does not describe completely.

Where the source does not state a fact, an answer holds under an assumption.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pipeline.cases import ALL_LISTED, GIVEN, OWNERS_LISTED, REPORTED
from pipeline.judging.partition_counts import LOWER_BOUND


class Presumed(NamedTuple):
    """An assumption of an answer: a note on the source, and the premise alone."""

    note: str
    premise: str


_NO_SUBSCRIPTIONS: Final = Presumed(
    "the text states no subscriptions: each member is taken to subscribe to the topics "
    "of which it has partitions, and one without partitions to all of them",
    "members subscribe to the topics that they hold, and those without partitions to "
    "all",
)
_GIVEN_SUBSCRIPTIONS: Final = Presumed(
    "the text states no subscriptions: they are those of subscriptions.json",
    "members subscribe to the topics in subscriptions.json",
)
_NOT_AT_REST: Final = Presumed(
    "nothing shows that the group was at rest at that moment; it is taken to be: a "
    "--state table, a second text, or records would show it",
    "the group was at rest",
)
_UNLISTED: Final = Presumed(
    "the text does not list members without partitions; it is taken that there are not "
    "any: --members --verbose would list them",
    "no member is without partitions",
)
_OWNERS: Final = Presumed(
    "the text names client ids and hosts; each is taken to be one member, although "
    "several can share them",
    "each client id and host is one member",
)
_LEAST_COUNTS: Final = (
    "partition counts as of then are lower bounds: of the partitions that the source "
    "shows until then"
)


def notes_on_counts(partition_counts: str, newer: int | None) -> Iterator[str]:
    """Yield notes on partition counts, and on ``newer`` partitions, if there are any.

    The leader need not have known these.
    """
    if partition_counts == LOWER_BOUND:
        yield _LEAST_COUNTS
    if newer:
        partitions, are = ("partition", "is") if newer == 1 else ("partitions", "are")
        yield (
            f"{newer} {partitions} that appeared at most 5 minutes before "
            f"(metadata.max.age.ms) {are} left out, because the assignment lacks "
            f"{'it' if newer == 1 else 'them'}: the leader's metadata can be older"
        )


def presumed(
    subscriptions: str, members_listed: str, at_rest: str | None, doubt: str | None
) -> list[Presumed]:
    """Return the assumptions of an answer on a state; arguments as in `Case`."""
    found = []
    if subscriptions != REPORTED:
        is_given = subscriptions == GIVEN
        found.append(_GIVEN_SUBSCRIPTIONS if is_given else _NO_SUBSCRIPTIONS)
        if members_listed == OWNERS_LISTED:
            found.append(_OWNERS)
        elif members_listed != ALL_LISTED:
            found.append(_UNLISTED)
        if at_rest is None:
            found.append(_NOT_AT_REST)
    if doubt is not None:
        premise = f"the shown state is right, although it is in doubt ({doubt})"
        found.append(Presumed(f"the text is in doubt: {doubt}", premise))
    return found
