"""Options of ``diff``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.options.common import OutputOption
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.times import parse_time


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """Options of ``diff``."""

    old: Annotated[
        Path | None,
        typer.Argument(
            metavar="OLD", help="Folder of the older audit (its --out). Or --history."
        ),
        FileRole.READ,
    ] = None
    new: Annotated[
        Path | None,
        typer.Argument(metavar="NEW", help="Folder of the newer audit."),
        FileRole.READ,
    ] = None
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Store of audits, on this machine: the changes in its last audit, "
            "compared with the one before.",
        ),
        FileRole.READ,
    ] = None
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_time,
            metavar="TIME",
            help="With --history: the changes since this time, compared with all times "
            "before; as in 2026-11-24T08:30Z, 2026-11-24, or 24h before now.",
        ),
    ] = None
    output: OutputOption = "-"
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of sentences.")
    ] = False

    def __post_init__(self) -> None:
        if self.history is None:
            if self.new is None:
                raise typer.BadParameter("give two audits, OLD and NEW, or --history")
            if self.since is not None:
                raise typer.BadParameter("--since requires --history")
        elif self.old is not None:
            raise typer.BadParameter("two audits and --history exclude one another")
