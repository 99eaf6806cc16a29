"""Options of ``judge``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from oracle.cli.options.common import (
    AnswerOptions,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.limit_options import TimeLimitOption


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(AnswerOptions):
    """Options of ``judge``."""

    instances: Annotated[
        str | None,
        typer.Argument(
            metavar="INSTANCES",
            help="rebalance/1 documents. Or no files, and --from.",
        ),
        FileRole.READ,
    ] = None
    assignments: Annotated[
        str | None,
        typer.Argument(metavar="ASSIGNMENTS", help="assignment/1 documents."),
        FileRole.READ,
    ] = None
    choice: GroupChoice
    against: Annotated[
        Literal["optimum"] | None,
        typer.Option(
            help="Add the optimum's figures and the gap to them: the optimum of the "
            "policy that an assignment states, else of `sticky`."
        ),
    ] = None
    require: Annotated[
        Literal["valid", "kip54", "optimum", "proved"],
        typer.Option(
            help="Exit with 1 also if an assignment is not KIP-54 balanced (kip54); "
            "not at the optimum that --against compares it with, which it implies "
            "(optimum); or if its claimed status rests on a search, or on nothing "
            "(proved)."
        ),
    ] = "valid"
    time_limit: TimeLimitOption = None
    cooperative: Annotated[
        bool,
        typer.Option(
            "--cooperative",
            help="Judge rounds of cooperative rebalancing (KIP-429): partitions that "
            "are still to be revoked can be withheld.",
        ),
    ] = False

    @property
    def compares_with_optimum(self) -> bool:
        """Whether verdicts have the gap to the optimum."""
        return "optimum" in {self.against, self.require}
