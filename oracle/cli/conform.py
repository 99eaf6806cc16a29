"""``conform``: test an assignor on the corpus, on random rebalances, under churn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from oracle.cli.fuzz import MEMORY, Memory
from oracle.cli.options import OutputOption

Command = Annotated[
    str | None,
    typer.Option(
        metavar="CMD",
        help="A program that reads rebalance/1 lines and writes one line for each: "
        'assignment/1, or {"error": "why"}. It is started without a shell.',
        show_default=False,
    ),
]
Client = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[@VERSION][/ASSIGNOR]",
        help="A third-party client that `make clients` installs; without ASSIGNOR, "
        "all of its assignors. Can be repeated.",
        show_default=False,
    ),
]
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
Cooperative = Annotated[
    bool,
    typer.Option(
        "--cooperative",
        help="Play cooperative rounds (KIP-429) up to a stable state. Clients are "
        "played as they are registered.",
    ),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Draw only from this family; an unknown name lists all. Can be repeated.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random rebalances.")]
Count = Annotated[
    int, typer.Option(min=0, help="Draws per family; a 20th of it of `large`.")
]
Corpus = Annotated[
    bool,
    typer.Option("--corpus/--no-corpus", help="Whether to play the corpus."),
]
Seconds = Annotated[
    float,
    typer.Option(
        min=0.001, help="Time limit per answer, including the start of the program."
    ),
]
Require = Annotated[
    Literal["valid", "kip54", "optimum"],
    typer.Option(
        help="What counts as a finding: only invalid answers and failures to answer "
        "(valid), also answers that are not KIP-54 balanced (kip54), or all that are "
        "not at the optimum (optimum). Unmet expectations of the corpus always count."
    ),
]
Tap = Annotated[bool, typer.Option("--tap", help="Write TAP version 14.")]
Junit = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write JUnit XML to this file.", show_default=False
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write one check/1 document per line.")
]


def conform(  # noqa: PLR0913 - one parameter per option
    *,
    command: Command = None,
    client: Client = None,
    algorithm: Algorithm = None,
    cooperative: Cooperative = False,
    corpus: Corpus = True,
    family: FamilyOption = None,
    seed: Seed = 0,
    count: Count = 20,
    seconds: Seconds = 10.0,
    memory: Memory = MEMORY,
    require: Require = "valid",
    tap: Tap = False,
    junit: Junit = None,
    output: OutputOption = "-",
    as_json: AsJson = False,
) -> None:
    """Test an assignor in any language: on the corpus, on random rebalances, in churn.

    Prints a matrix and the findings. Exit code 1 if there is a finding, 3 if the
    program cannot be started or a client is not installed.

    Example: assignor-oracle conform --command ./my-assignor --require kip54
    """
    from oracle.cli.conforming import Conforming, Format, conform_all

    if tap and as_json:
        raise typer.BadParameter("--tap and --json exclude each other")
    if command is None and not client:
        raise typer.BadParameter("needs --command or --client")
    written = Format.TAP if tap else Format.JSON if as_json else Format.TABLE
    conforming = Conforming(
        command=command,
        clients=tuple(client or ()),
        algorithm=algorithm,
        cooperative=cooperative,
        corpus=corpus,
        families=None if family is None else tuple(family),
        seed=seed,
        count=count,
        seconds=seconds,
        memory=memory,
        require=require,
    )
    conform_all(conforming, written=written, output=output, junit=junit)
