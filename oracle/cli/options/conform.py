"""Options of ``conform``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.subject_options import (
    MEMORY,
    SECONDS,
    ClientsOption,
    CommandOption,
    CooperativeOption,
    CountOption,
    DeterministicOption,
    FamilyOption,
    MemoryOption,
    PatientOption,
    RepeatOption,
    RequireOption,
    SecondsOption,
    SeedOption,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformOptions:
    """Options of ``conform``."""

    command: CommandOption = None
    client: ClientsOption = None
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Also require that the corpus's expectations of this published "
            "assignor, such as range or sticky, are met.",
        ),
    ] = None
    cooperative: CooperativeOption = None
    corpus: Annotated[
        bool,
        typer.Option("--corpus/--no-corpus", help="Whether to play the corpus."),
    ] = True
    family: FamilyOption = None
    seed: SeedOption = 0
    count: CountOption = 20
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this check, with the steps that lead up to it, and reported in "
            "full: corpus/SCENARIO: STEP or FAMILY/SEED/INDEX/STEP. Can be repeated.",
        ),
    ] = None
    seconds: SecondsOption = SECONDS
    patient: PatientOption = True
    repeat: RepeatOption = True
    deterministic: DeterministicOption = None
    memory: MemoryOption = MEMORY
    require: RequireOption = "valid"
    tap: Annotated[bool, typer.Option("--tap", help="Write TAP version 14.")] = False
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write JUnit XML to this file."),
        FileRole.WRITTEN,
    ] = None
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the table, TAP, or JSON to this file.",
        ),
        FileRole.WRITTEN,
    ] = "-"
    as_json: Annotated[
        bool, typer.Option("--json", help="Write one check/1 document per line.")
    ] = False

    def __post_init__(self) -> None:
        if self.tap and self.as_json:
            raise typer.BadParameter("--tap and --json exclude each other")
        if self.command is None and not self.client:
            raise typer.BadParameter("needs --command or --client")
        if self.check and self.family:
            raise typer.BadParameter("--check and --family exclude each other")
