"""Options of the subcommands that test an assignor: ``conform`` and ``fuzz``."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.limit_options import parse_seconds, parse_size

MEMORY: Final = 4 * 2**30
"""Equal to `conformance.runs.MEMORY`, whose import would slow down ``--help``."""
SECONDS: Final = 10.0
"""Default limit per answer."""
_CLIENT: Final = "NAME[@VERSION][/ASSIGNOR]"


def _size(value: str | int) -> int:
    """Parse a size; the default is one already."""
    return value if isinstance(value, int) else parse_size(value)


CommandOption = Annotated[
    str | None,
    typer.Option(
        "--command",
        metavar="CMD",
        help="Program to test, with its arguments: it reads rebalance/1 lines and "
        'writes one line for each: assignment/1, or {"error": "why"}. It is started '
        "without a shell.",
    ),
    FileRole.PROGRAM,
]
ClientOption = Annotated[
    str | None,
    typer.Option(
        "--client",
        metavar=_CLIENT,
        help="Client to test, one of those that `make clients` installs; without "
        "ASSIGNOR, all of its assignors.",
    ),
]
ClientsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--client",
        metavar=_CLIENT,
        help="Client to test, one of those that `make clients` installs; without "
        "ASSIGNOR, all of its assignors. Can be repeated.",
    ),
]
CooperativeOption = Annotated[
    bool | None,
    typer.Option(
        "--cooperative/--eager",
        help="Whether members keep partitions during a rebalance (KIP-429): then it is "
        "driven through rounds until it is stable. Known of clients; else --eager.",
    ),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        metavar="NAME|MODULE:FUNCTION",
        help="Kind of random rebalances: fresh, churn, joiners, claims, stale, empty, "
        "deleted, left, racks, static, chains, large, shares, switched, generations, "
        "zones, restarted, swarm; or a function of your own, which takes a "
        "random.Random and returns a rebalance/1 document. Can be repeated; default: "
        "all that have names.",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draws.")
]
CountOption = Annotated[
    int,
    typer.Option(
        "--count",
        min=0,
        max=10**9,
        metavar="N",
        help="Draws per family; a 20th of it of `large` and `restarted`.",
    ),
]
SecondsOption = Annotated[
    float,
    typer.Option(
        "--seconds",
        parser=parse_seconds,
        metavar="S",
        help="Seconds after which an answer is slow, including the program's start.",
    ),
]
PatientOption = Annotated[
    bool,
    typer.Option(
        "--patient/--impatient",
        help="Whether an answer is awaited beyond --seconds, until it comes (slow) or "
        "is a hang: 60 s of CPU time, or 60 s without using any. Otherwise, an answer "
        "that has not come by then is slow.",
    ),
]
RepeatOption = Annotated[
    bool,
    typer.Option(
        "--repeat/--no-repeat",
        help="Whether to ask another process the same, with another hash seed and in "
        "another order, and to compare; not over the wire.",
    ),
]
DeterministicOption = Annotated[
    bool | None,
    typer.Option(
        "--deterministic/--no-deterministic",
        help="Whether equal rebalances must have equal answers; otherwise, answers "
        "that differ are only noted. By default, as a client is declared; a command "
        "is not.",
    ),
]
MemoryOption = Annotated[
    int,
    typer.Option(
        "--memory",
        parser=_size,
        metavar="SIZE",
        help="Limit of the writable memory of each of the program's processes.",
        show_default="4GiB",
    ),
]
RequireOption = Annotated[
    Literal["valid", "kip54", "optimum"],
    typer.Option(
        "--require",
        help="Required answers: the exit code is 1 unless all are valid (valid), "
        "also KIP-54 balanced (kip54), or optimal (optimum). A failure to answer "
        "always counts, and so does an unmet expectation of the corpus.",
    ),
]
