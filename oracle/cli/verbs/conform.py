"""``conform``: test an assignor on the corpus, on random rebalances, under churn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.subjects import (
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

Algorithm = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Also expect what the corpus expects of this published assignor, such as "
        "range or sticky.",
        show_default=False,
    ),
]
Corpus = Annotated[
    bool,
    typer.Option("--corpus/--no-corpus", help="Whether to play the corpus."),
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "--check",
        metavar="NAME",
        help="Only this check, with the steps that lead up to it, and reported in "
        "full: corpus/SCENARIO: STEP or FAMILY/SEED/INDEX/STEP. Can be repeated.",
        show_default=False,
    ),
]
Tap = Annotated[bool, typer.Option("--tap", help="Write TAP version 14.")]
Junit = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write JUnit XML to this file.", show_default=False
    ),
    FileRole.WRITTEN,
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table, TAP, or JSON to this file.",
    ),
    FileRole.WRITTEN,
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write one check/1 document per line.")
]


def conform(  # noqa: PLR0913 - one parameter per option
    *,
    command: CommandOption = None,
    client: ClientsOption = None,
    algorithm: Algorithm = None,
    cooperative: CooperativeOption = None,
    corpus: Corpus = True,
    family: FamilyOption = None,
    seed: SeedOption = 0,
    count: CountOption = 20,
    check: Checks = None,
    seconds: SecondsOption = SECONDS,
    patient: PatientOption = True,
    repeat: RepeatOption = True,
    deterministic: DeterministicOption = None,
    memory: MemoryOption = MEMORY,
    require: RequireOption = "valid",
    tap: Tap = False,
    junit: Junit = None,
    output: Output = "-",
    as_json: AsJson = False,
) -> None:
    """Test an assignor in any language: on the corpus, on random rebalances, in churn.

    Prints a matrix and the findings; answers are repeated by another process. Exit
    code 1 if there is a finding, 3 if the program cannot be started or a client is not
    installed.

    Example: assignor-oracle conform --command ./my-assignor --require kip54
    """
    from oracle.cli.runs.conform import Conforming, Format, conform_all

    if tap and as_json:
        raise typer.BadParameter("--tap and --json exclude each other")
    if command is None and not client:
        raise typer.BadParameter("needs --command or --client")
    if check and family:
        raise typer.BadParameter("--check and --family exclude each other")
    written = Format.TAP if tap else Format.JSON if as_json else Format.TABLE
    conforming = Conforming(
        command=command,
        clients=tuple(client or ()),
        algorithm=algorithm,
        cooperative=bool(cooperative),
        corpus=corpus,
        families=None if family is None else tuple(family),
        seed=seed,
        count=count,
        seconds=seconds,
        patient=patient,
        repeat=repeat,
        deterministic=deterministic,
        memory=memory,
        require=require,
        selected=tuple(check or ()),
    )
    conform_all(conforming, written=written, output=output, junit=junit)
