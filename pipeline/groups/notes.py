"""What a reader has to know of a group that a source does not describe completely."""

from typing import Final

NO_SUBSCRIPTIONS: Final = (
    "the text states no subscriptions: each member is taken to subscribe to the topics "
    "of which it has partitions"
)
COUNTS_INFERRED: Final = (
    "partition counts are inferred from the largest partition number in the source"
)
