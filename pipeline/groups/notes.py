"""What a reader has to know of a group that a source does not describe completely."""

from typing import Final

NO_SUBSCRIPTIONS: Final = (
    "the text states no subscriptions: each member is taken to subscribe to the topics "
    "of which it has partitions"
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
