"""Options of ``corpus``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import OutputOption


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """Options of ``corpus``."""

    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the JSON Schema of scenario/1 instead."),
    ] = False
    output: OutputOption = "-"
