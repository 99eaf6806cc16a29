"""Options of ``front``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from oracle.cli.options.common import (
    AnswerOptions,
    OptionalRebalancesArgument,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.limit_options import Allowed

ObjectiveName = Literal["balance", "peak-lag"]
BalanceName = Literal["none", "per-topic", "dec-min"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontOptions(AnswerOptions):
    """Options of ``front``."""

    file: OptionalRebalancesArgument = None
    choice: GroupChoice
    objective: Annotated[
        ObjectiveName,
        typer.Option(
            help="Objective to minimize for each limit on moves: the sum of squares of "
            "loads (balance) or peak lag."
        ),
    ] = "balance"
    balance: Annotated[
        BalanceName | None,
        typer.Option(
            help="With peak-lag, the assignments that are allowed: all (none, the "
            "default), those that are balanced within each topic (per-topic), or those "
            "that are balanced over all topics (dec-min).",
        ),
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the frontier as .png or .svg; file names of further rebalances "
            "are numbered.",
        ),
        FileRole.WRITTEN,
    ] = None
    allowed: Allowed

    def __post_init__(self) -> None:
        if self.balance is not None and self.objective != "peak-lag":
            raise typer.BadParameter("--balance requires --objective peak-lag")
        picture = self.picture
        if picture is not None and picture.suffix.lower() not in {".png", ".svg"}:
            raise typer.BadParameter(f"--picture {picture}: expected .png or .svg")
