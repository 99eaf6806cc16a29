"""The judge: takes no result on trust, imports nothing but the standard library.

It reads ``rebalance/1`` and ``assignment/1`` documents and returns ``verdict/1``;
``python -m verify INSTANCE ASSIGNMENT`` does the same from a shell. The modules of this
folder are its core, which hands over to ``verify.policy`` in `verify.handover` alone.
"""

from verify.case import Case, case_of
from verify.certificate import kept_bound
from verify.columns import columns_of
from verify.documents import (
    PARTITIONS_MAX,
    read_assignment,
    read_assignments,
    read_rebalance,
    read_rebalances,
)
from verify.handover import policy
from verify.judge import is_proved, judge, judge_case, unreadable
from verify.schema import Unreadable

TooLarge = policy.TooLarge
best, every_assignment = policy.best, policy.every_assignment

__all__ = [
    "PARTITIONS_MAX",
    "Case",
    "TooLarge",
    "Unreadable",
    "best",
    "case_of",
    "columns_of",
    "every_assignment",
    "is_proved",
    "judge",
    "judge_case",
    "kept_bound",
    "read_assignment",
    "read_assignments",
    "read_rebalance",
    "read_rebalances",
    "unreadable",
]
