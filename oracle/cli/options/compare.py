"""Options of ``compare``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import (
    AnswerOptions,
    OptionalRebalancesArgument,
)
from oracle.cli.options.group_choice import GroupChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(AnswerOptions):
    """Options of ``compare``."""

    file: OptionalRebalancesArgument = None
    choice: GroupChoice
    assignors: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Assignors to run in addition to the optimum, separated by commas, or "
            "all; an unknown name lists them. Without kip54-sticky, no solver is "
            "loaded.",
        ),
    ] = "all"
