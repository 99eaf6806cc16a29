"""``explain``: why no assignment is better, or how one could be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    MaxPartitionsOption,
    OutputOption,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.groups import GroupChoice, with_option_groups
from oracle.cli.options.limits import Allowed
from oracle.cli.verbs.solve import PolicyOption

ExplainedInstances = Annotated[
    str | None,
    typer.Argument(
        metavar="INSTANCE",
        help="rebalance/1: one document, or one per line; plain or gzip; - for stdin. "
        "Or no file, and --from.",
        show_default=False,
    ),
    FileRole.READ,
]
GivenAssignments = Annotated[
    str | None,
    typer.Argument(
        metavar="ASSIGNMENT",
        help="assignment/1 documents; without them, the optimum is explained.",
        show_default=False,
    ),
    FileRole.READ,
]
ExplainOptimum = Annotated[
    bool,
    typer.Option(
        "--optimum",
        help="With --from: explain the optimum, and not the group's own assignment.",
    ),
]
ExplanationPage = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="With --from: also write a page on which the moves are drawn, as they "
        "were and as they could have been.",
        show_default=False,
    ),
    FileRole.WRITTEN,
]
ExplanationsAsJson = Annotated[
    bool,
    typer.Option("--json", help="Write explanation/1 documents as JSON Lines."),
]


@with_option_groups
def explain(  # noqa: PLR0913 - one parameter per option
    instance: ExplainedInstances = None,
    assignment: GivenAssignments = None,
    *,
    choice: GroupChoice,
    optimum: ExplainOptimum = False,
    policy: PolicyOption = "sticky",
    allowed: Allowed,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: ExplanationsAsJson = False,
    html: ExplanationPage = None,
) -> None:
    """Explain whether an assignment is the best, how it could be better, or why not.

    If it is not the best: the transfers that improve balance, the needless moves, or
    the member with the peak lag and what it could give to whom, each with its gain. If
    it is the best, or without ASSIGNMENT: which partitions can only go to which
    members, which claims cannot be kept together, which bound holds. Every statement
    is checked by other code before it is printed.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. With --from, it is the one that the
    group's leader, or the coordinator, computed. Exit code 1 if an assignment is
    invalid or not the best, or none satisfies the policy.

    Example: assignor-oracle explain rebalance.json assignment.json

    Example: assignor-oracle explain --from out/audit --group orders --generation 41
    """
    interpret_if_small(instance, allowed=allowed)
    from oracle.cli.input.given_group import GivenGroup, given_input
    from oracle.cli.runs.explain import ExplainRun, explain_all
    from solver import parse_policy

    if optimum and choice.source is None:
        raise typer.BadParameter("--optimum requires --from")
    given = given_input(instance, choice, max_partitions)
    if html is not None:
        if not isinstance(given, GivenGroup):
            raise typer.BadParameter("--html requires --from")
        given.write_page(html, claim_rule, choice.generation)
    if isinstance(given, GivenGroup) and optimum:
        given = given.without_assignment()
    if instance == assignment == "-":
        raise typer.BadParameter("only one of the two can be standard input")
    run = ExplainRun(
        policy=parse_policy(policy),
        allowed=allowed,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
    )
    explain_all(given, assignment, run, output=output, as_json=as_json)
