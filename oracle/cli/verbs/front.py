"""``front``: the Pareto frontier of moves against balance, or against peak lag."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OptionalRebalancesArgument,
    OutputOption,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.groups import GroupChoice, with_option_groups
from oracle.cli.options.limits import Allowed

ObjectiveName = Literal["balance", "peak-lag"]
BalanceName = Literal["none", "per-topic", "dec-min"]

ObjectiveOption = Annotated[
    ObjectiveName,
    typer.Option(
        help="What to minimize for each limit on moves: the sum of squares of loads "
        "(balance) or peak lag."
    ),
]
BalanceOption = Annotated[
    BalanceName | None,
    typer.Option(
        help="With peak-lag, the assignments that are allowed: all (none, the "
        "default), those that are balanced within each topic (per-topic), or those "
        "that are balanced over all topics (dec-min).",
        show_default=False,
    ),
]
PictureOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw the frontier as .png or .svg; file names of further rebalances are "
        "numbered.",
        show_default=False,
    ),
    FileRole.WRITTEN,
]


@with_option_groups
def front(  # noqa: PLR0913 - one parameter per option
    file: OptionalRebalancesArgument = None,
    *,
    choice: GroupChoice,
    objective: ObjectiveOption = "balance",
    balance: BalanceOption = None,
    picture: PictureOption = None,
    allowed: Allowed,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """List every Pareto-optimal pair of moves and balance, or of moves and peak lag.

    Writes one front/1 document per rebalance: the points, each with its assignment and
    what its bound rests on. Without a time limit, the search has a fixed effort, so
    that equal input gives equal output. Where a limit or Ctrl-C ends the search, the
    document states the reason and a bound.

    Example: assignor-oracle front --objective peak-lag --picture front.png FILE
    """
    interpret_if_small(file, OF_ALL_ASSIGNORS, allowed)
    from oracle.cli.input.given_group import given_input
    from oracle.cli.runs.front import FrontRun, front_all

    if balance is not None and objective != "peak-lag":
        raise typer.BadParameter("--balance requires --objective peak-lag")
    if picture is not None and picture.suffix.lower() not in {".png", ".svg"}:
        raise typer.BadParameter(f"--picture {picture}: expected .png or .svg")
    run = FrontRun(
        objective=objective,
        balance=balance or "none",
        allowed=allowed,
        picture=picture,
    )
    front_all(
        given_input(file, choice, max_partitions),
        run,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        output=output,
        as_json=as_json,
    )
