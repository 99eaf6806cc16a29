"""``judge``: verdicts on assignments."""

from __future__ import annotations

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.judge import JudgeOptions


def judge(options: JudgeOptions) -> None:
    """Judge assignments: list violations, count figures, and check the proofs.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. Writes one verdict/1 per assignment. If an
    assignment states a policy, each objective is counted again, and its bound rests on
    a certificate, on terms, on a search, or on nothing: only the first two are proofs.
    With --from, the assignment is the one that the group's leader, or the coordinator,
    computed. Exit code 1 if an assignment is invalid, or does not meet --require.

    Example: assignor-oracle judge --against optimum rebalances.jsonl answers.jsonl

    Example: assignor-oracle judge --from out/audit --group orders --generation 41
    """
    if options.compares_with_optimum and options.time_limit is None:
        interpret_if_small(options.instances)
    from oracle.cli.runs.judge import judge_all

    judge_all(options)
