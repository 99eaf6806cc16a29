"""``fuzz``: test an assignor on random rebalances."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from oracle.cli.durations import parse_duration
from oracle.cli.limits import parse_seconds, parse_size
from oracle.cli.options import JsonOption, OutputOption

Command = Annotated[
    str | None,
    typer.Option(
        "--command",
        metavar="CMD",
        help="Program to test, with its arguments: it reads one rebalance/1 per line "
        "and writes one assignment/1 per line.",
        show_default=False,
    ),
]
Client = Annotated[
    str | None,
    typer.Option(
        "--client",
        metavar="NAME[@VERSION][/ASSIGNOR]",
        help="Client to test, one of those that `make clients` installs.",
        show_default=False,
    ),
]
OverTheWire = Annotated[
    bool,
    typer.Option(
        "--wire",
        help="Test an unmodified consumer as the leader of a group: of --client, or "
        "the program of --command, with {address}, {group} and {topic} replaced. "
        "Without either, print the address to which a consumer must connect, and wait.",
    ),
]
Cooperative = Annotated[
    bool | None,
    typer.Option(
        "--cooperative/--eager",
        help="Whether members keep partitions during a rebalance (KIP-429): then it is "
        "driven through rounds until it is stable. Known of clients; else --eager.",
        show_default=False,
    ),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        metavar="NAME",
        help="Kind of rebalances, may be repeated: fresh, churn, joiners, claims, "
        "stale, empty, deleted, left, racks, static, chains, large. Default: all.",
        show_default=False,
    ),
]
GivenInstances = Annotated[
    str | None,
    typer.Option(
        "--instances",
        metavar="FILE",
        help="Test these rebalance/1 documents instead of random ones.",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draws.")
]
First = Annotated[
    int,
    typer.Option("--first", min=0, max=2**31 - 1, help="First draw of each family."),
]
Count = Annotated[
    int,
    typer.Option(
        "--count",
        min=1,
        max=10**9,
        metavar="N",
        help="Draws per family; a 20th of it of `large`.",
    ),
]
Time = Annotated[
    float | None,
    typer.Option(
        "--time",
        parser=parse_duration,
        metavar="T",
        help="End the draws after this time: 90, 90s, 5m, 1h.",
        show_default=False,
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers",
        min=1,
        max=1024,
        metavar="N",
        help="Processes, each with a program of its own. The findings do not depend "
        "on their number.",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds",
        parser=parse_seconds,
        metavar="S",
        help="Time limit per answer, including the start of the program.",
    ),
]
MEMORY: Final = 4 * 2**30
"""Equal to `conformance.runs.MEMORY`, whose import would slow down ``--help``."""


def _size(value: str | int) -> int:
    """Parse a size; the default is one already."""
    return value if isinstance(value, int) else parse_size(value)


Memory = Annotated[
    int,
    typer.Option(
        "--memory",
        parser=_size,
        metavar="SIZE",
        help="Limit of the writable memory of each of the program's processes.",
        show_default="4GiB",
    ),
]
Required = Annotated[
    Literal["valid", "kip54", "optimum"],
    typer.Option(
        "--require",
        help="What the exit code is 1 without: valid answers, KIP-54 balanced ones, or "
        "optimal ones.",
    ),
]
Keep = Annotated[
    int,
    typer.Option(
        "--keep",
        min=1,
        max=10**6,
        metavar="N",
        help="Findings to record per family and kind of outcome; all are counted.",
    ),
]
Shrinking = Annotated[
    bool,
    typer.Option(
        "--shrink/--no-shrink",
        help="Shrink each recorded finding to a minimal instance.",
    ),
]
ShrinkSeconds = Annotated[
    float,
    typer.Option(
        "--shrink-seconds",
        parser=parse_seconds,
        metavar="S",
        help="Time for shrinking one finding; then the smallest instance so far.",
    ),
]
Reproducers = Annotated[
    str | None,
    typer.Option(
        "--reproducers",
        metavar="DIR",
        help="Write a self-contained test of each recorded finding of --client, in the "
        "client's language, and run it once to confirm that it shows the finding.",
        show_default=False,
    ),
]


def fuzz(  # noqa: PLR0913 - one parameter per option
    *,
    command: Command = None,
    client: Client = None,
    wire: OverTheWire = False,
    cooperative: Cooperative = None,
    family: Families = None,
    instances: GivenInstances = None,
    seed: Seed = 0,
    first: First = 0,
    count: Count = 200,
    time: Time = None,
    workers: Workers = 1,
    seconds: Seconds = 20.0,
    memory: Memory = MEMORY,
    require: Required = "valid",
    keep: Keep = 1,
    shrink: Shrinking = True,
    shrink_seconds: ShrinkSeconds = 30.0,
    reproducers: Reproducers = None,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Test an assignor on random rebalances, and judge every answer.

    Each answer is checked for validity, for safety across cooperative rounds, for
    balance, and for needless moves; a crash or a hang costs one rebalance. Writes one
    finding/1 per kind of outcome that is not optimal, with its shrunk instance, and one
    run/1 per family. Exit code 1 if an outcome does not meet --require.

    Example: assignor-oracle fuzz --command 'python my_assignor.py' --seed 1
    """
    from oracle.cli.fuzzing import FuzzOptions, fuzz_all

    options = FuzzOptions(
        command=command,
        client=client,
        wire=wire,
        cooperative=cooperative,
        families=tuple(family or ()),
        instances=instances,
        seed=seed,
        first=first,
        count=count,
        time=time,
        workers=workers,
        seconds=seconds,
        memory=memory,
        require=require,
        keep=keep,
        shrink_seconds=shrink_seconds if shrink else None,
        reproducers=reproducers,
    )
    fuzz_all(options, output=output, as_json=as_json)
