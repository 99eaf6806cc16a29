"""Options of ``compare``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OptionalRebalancesArgument,
    OutputOption,
)
from oracle.cli.options.group_choice import GroupChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
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
    claim_rule: ClaimRuleOption = "newest-claim"
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS
    output: OutputOption = "-"
    as_json: JsonOption = False
