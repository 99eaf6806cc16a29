"""Causes of rebalances, from the sequence of a group's rebalances."""

from pipeline.causes.coded_rows import (
    MEMBER_ROWS,
    OF_MEMBER,
    OF_REBALANCE,
    OF_TOPICS,
    TOPIC_ROWS,
)
from pipeline.causes.group_causes import causes_of
from pipeline.causes.kinds import KINDS, MOST_NAMES, RETURN_MS, Cause, listed_causes
from pipeline.causes.silences import LastSeen, Silence, silences_of
from pipeline.causes.table_causes import NumberedRebalances, causes_of_tables

__all__ = [
    "KINDS",
    "MEMBER_ROWS",
    "MOST_NAMES",
    "OF_MEMBER",
    "OF_REBALANCE",
    "OF_TOPICS",
    "RETURN_MS",
    "TOPIC_ROWS",
    "Cause",
    "LastSeen",
    "NumberedRebalances",
    "Silence",
    "causes_of",
    "causes_of_tables",
    "listed_causes",
    "silences_of",
]
