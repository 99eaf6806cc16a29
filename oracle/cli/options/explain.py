"""Options of ``explain``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    MaxPartitionsOption,
    OutputOption,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.limit_options import Allowed
from oracle.cli.options.solve import PolicyOption


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """Options of ``explain``."""

    instance: Annotated[
        str | None,
        typer.Argument(
            metavar="INSTANCE",
            help="rebalance/1: one document, or one per line; plain or gzip; - for "
            "stdin. Or no file, and --from.",
        ),
        FileRole.READ,
    ] = None
    assignment: Annotated[
        str | None,
        typer.Argument(
            metavar="ASSIGNMENT",
            help="assignment/1 documents; without them, the optimum is explained.",
        ),
        FileRole.READ,
    ] = None
    choice: GroupChoice
    optimum: Annotated[
        bool,
        typer.Option(
            "--optimum",
            help="With --from: explain the optimum, and not the group's own "
            "assignment.",
        ),
    ] = False
    policy: PolicyOption = "sticky"
    allowed: Allowed
    claim_rule: ClaimRuleOption = "newest-claim"
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS
    output: OutputOption = "-"
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write explanation/1 documents as JSON Lines."),
    ] = False
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --from: also write a page on which the moves are drawn, as they "
            "were and as they could have been.",
        ),
        FileRole.WRITTEN,
    ] = None

    def __post_init__(self) -> None:
        if self.optimum and self.choice.source is None:
            raise typer.BadParameter("--optimum requires --from")
