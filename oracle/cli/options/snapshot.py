"""Options of ``snapshot``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.options.common import (
    ConfigOption,
    JsonOption,
    OffsetResetOption,
    OutputOption,
)
from oracle.cli.options.file_roles import FileRole


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOptions:
    """Options of ``snapshot``."""

    bootstrap_server: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT",
            help="Broker to connect to; several are separated by commas.",
        ),
    ]
    command_config: ConfigOption = None
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Only this group; can be repeated. Default: all groups with members.",
        ),
    ] = None
    assignments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write each group's present assignment to this file (assignment/1).",
        ),
        FileRole.WRITTEN,
    ] = None
    auto_offset_reset: OffsetResetOption = "earliest"
    output: OutputOption = "-"
    as_json: JsonOption = False
