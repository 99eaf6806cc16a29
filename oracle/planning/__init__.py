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
from oracle.planning.plan_records import MembersNeeded, PlanDocument
from oracle.planning.ranking import rank
from oracle.planning.what_if import PlanQuestion, what_if

__all__ = [
    "AddPartitions",
    "Change",
    "Join",
    "Leave",
    "Limited",
    "MembersNeeded",
    "PlanDocument",
    "PlanQuestion",
    "SetLag",
    "Subscribe",
    "apply_changes",
    "common_subscription",
    "members_needed",
    "new_names",
    "rank",
    "what_if",
]
