"""``explain``: why no assignment is better, or how one could be."""

from __future__ import annotations

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.explain import ExplainOptions


def explain(options: ExplainOptions) -> None:
    """Explain whether an assignment is the best, how it could be better, or why not.

    If it is not the best: the transfers that improve balance, the needless moves, or
    the member with the peak lag and the partitions that it could give to others, each
    with its gain. If it is the best, or without ASSIGNMENT: which partitions can only
    go to which members, which claims cannot be kept together, which bound holds. Every
    statement is checked by other code before it is printed.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. With --from, it is the one that the
    group's leader, or the coordinator, computed. Exit code 1 if an assignment is
    invalid or not the best, or if no assignment satisfies the policy.

    Example: assignor-oracle explain rebalance.json assignment.json

    Example: assignor-oracle explain --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.instance, allowed=options.allowed)
    from oracle.cli.runs.explain import explain_all

    explain_all(options)
