"""``front``: the exact Pareto frontier of moves against an objective."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from oracle.cli.limits import (
    Allowed,
    MemoryLimitOption,
    SeedOption,
    TimeLimitOption,
    WorkersOption,
)
from oracle.cli.options import (
    ClaimRuleOption,
    JsonOption,
    OutputOption,
    RebalancesArgument,
)

ObjectiveName = Literal["balance", "peak-lag"]
MeasureName = Literal["kip54-score", "sum-of-squares"]
BalanceName = Literal["none", "per-topic", "dec-min"]

ObjectiveOption = Annotated[
    ObjectiveName, typer.Option(help="What moves are weighed against.")
]
MeasureOption = Annotated[
    MeasureName | None,
    typer.Option(
        help="Of balance: Kafka's own score, the sum over pairs of members of how far "
        "their loads differ (default), or the sum of squares of loads.",
        show_default=False,
    ),
]
BalanceOption = Annotated[
    BalanceName | None,
    typer.Option(
        help="Of peak lag: which assignments are allowed. none (default): all; "
        "per-topic: as even as each topic can be; dec-min: the best balanced.",
        show_default=False,
    ),
]
PictureOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw it, as .png or .svg; of several rebalances each gets a number.",
        show_default=False,
    ),
]


def front(  # noqa: PLR0913 - one parameter per option
    file: RebalancesArgument,
    *,
    objective: ObjectiveOption = "balance",
    measure: MeasureOption = None,
    balance: BalanceOption = None,
    picture: PictureOption = None,
    time_limit: TimeLimitOption = 60.0,
    memory_limit: MemoryLimitOption = None,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    claim_rule: ClaimRuleOption = "newest-claim",
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Find every pair of moves and balance, or of moves and peak lag, nothing beats.

    Writes one front/1 document a rebalance: the points, each with its assignment and
    what its bound rests on. Where the time limit (60 s unless told) or Ctrl-C leaves
    something open, it says so, with a bound.

    Example: assignor-oracle front --objective peak-lag --picture front.png FILE
    """
    from oracle.cli.fronting import Fronting, front_all

    if measure is not None and objective != "balance":
        raise typer.BadParameter("--measure goes with --objective balance")
    if balance is not None and objective != "peak-lag":
        raise typer.BadParameter("--balance goes with --objective peak-lag")
    if picture is not None and picture.suffix.lower() not in {".png", ".svg"}:
        raise typer.BadParameter(f"--picture {picture}: its name ends in .png or .svg")
    fronting = Fronting(
        objective=objective,
        measure=measure or "kip54-score",
        balance=balance or "none",
        allowed=Allowed(
            seconds=time_limit, memory=memory_limit, seed=seed, workers=workers
        ),
        picture=picture,
    )
    front_all(file, fronting, claim_rule=claim_rule, output=output, as_json=as_json)
