"""``compare``: run every published assignor and compare it with the optimum."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OptionalRebalancesArgument,
    OutputOption,
    listed_names,
)
from oracle.cli.options.groups import GroupChoice, with_option_groups

AssignorsOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Assignors to run besides the optimum, separated by commas, or all; an "
        "unknown name lists them. Without kip54-sticky, no solver is loaded.",
    ),
]


@with_option_groups
def compare(
    file: OptionalRebalancesArgument = None,
    *,
    choice: GroupChoice,
    assignors: AssignorsOption = "all",
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Run every published assignor on each rebalance and compare it with the optimum.

    Prints one table per rebalance and a summary on a terminal; otherwise writes one
    line of JSON per rebalance. The judge counts all figures. With --from, `actual` is
    what the group's leader, or the coordinator, assigned.

    Example: assignor-oracle compare rebalances.jsonl

    Example: assignor-oracle compare --from out/audit --group orders --generation 41
    """
    interpret_if_small(file, OF_ALL_ASSIGNORS)
    from oracle.cli.input.given_group import given_input
    from oracle.cli.runs.compare import compare_all

    compare_all(
        given_input(file, choice, max_partitions),
        assignors=listed_names(assignors),
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        output=output,
        as_json=as_json,
    )
