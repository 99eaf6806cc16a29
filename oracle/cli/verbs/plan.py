"""``plan``: the effects of a change of a group, before it is made."""

from __future__ import annotations

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.plan import PlanOptions


def plan(options: PlanOptions) -> None:
    """Answer what-if questions on a group, before anything is changed.

    Members leave, join, or change their subscription, partitions are added, lag
    changes, in this order: the best assignment afterwards and that of each assignor,
    who gives which partitions to whom, how many rounds it takes, and how long
    partitions have no owner. Or: how many members a limit on lag or load needs, with a
    proof that fewer do not suffice. Or: which assignor the group should use.

    Exit code 1 if no assignment satisfies the policy, or no number of members suffices.

    Example: assignor-oracle plan --from out/audit --group orders --leave c3

    Example: assignor-oracle plan group.json --add-members 2 --load-at-most 4
    """
    if not options.enlarges:
        interpret_if_small(options.instance, OF_ALL_ASSIGNORS, options.allowed)
    from oracle.cli.runs.plan import plan_all

    plan_all(options)
