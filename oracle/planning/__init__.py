"""Answers to what-if questions on a group: plan/1 (docs/plan.md)."""

from oracle.planning.apply_changes import (
    apply_changes,
    common_subscription,
    new_names,
)
from oracle.planning.change_records import (
    AddPartitions,
    Change,
    Join,
    Leave,
    SetLag,
    Subscribe,
)
from oracle.planning.members_needed import Limited, members_needed
from oracle.planning.plan_records import MembersNeeded, Plan
from oracle.planning.ranking import rank
from oracle.planning.what_if import Question, what_if

__all__ = [
    "AddPartitions",
    "Change",
    "Join",
    "Leave",
    "Limited",
    "MembersNeeded",
    "Plan",
    "Question",
    "SetLag",
    "Subscribe",
    "apply_changes",
    "common_subscription",
    "members_needed",
    "new_names",
    "rank",
    "what_if",
]
