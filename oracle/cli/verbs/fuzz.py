"""``fuzz``: test an assignor on random rebalances."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options.common import JsonOption, OutputOption
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.limits import parse_seconds
from oracle.cli.options.subjects import (
    MEMORY,
    ClientOption,
    CommandOption,
    CooperativeOption,
    DeterministicOption,
    FamilyOption,
    MemoryOption,
    PatientOption,
    RepeatOption,
    RequireOption,
    SecondsOption,
    SeedOption,
)

OverTheWire = Annotated[
    bool,
    typer.Option(
        "--wire",
        help="Test an unmodified consumer as the leader of a group: of --client, or "
        "the program of --command, with {address}, {group} and {topic} replaced, or "
        "{topics}: all names, with commas, for a consumer started per rebalance. "
        "Without either, print the address to which a consumer must connect, and wait.",
    ),
]
Settles = Annotated[
    bool,
    typer.Option(
        "--settles",
        help="With --wire: let each generation settle, without partitions, before a "
        "heartbeat asks the consumer to join again. For a consumer that gives up if "
        "SyncGroup returns REBALANCE_IN_PROGRESS; takes a heartbeat per rebalance.",
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
    FileRole.READ,
]
First = Annotated[
    int,
    typer.Option("--first", min=0, max=2**31 - 1, help="First draw of each family."),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count",
        min=1,
        max=10**9,
        metavar="N",
        help="Draws per family; a 20th of it of `large` and `restarted`.",
        show_default="200; with --time, until it is over",
    ),
]
Time = Annotated[
    float | None,
    typer.Option(
        "--time",
        parser=parse_duration,
        metavar="T",
        help="End the run after this time (90, 90s, 5m, 1h), shrinking and reproducers "
        "included; several assignors share it.",
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
Keep = Annotated[
    int,
    typer.Option(
        "--keep",
        min=1,
        max=10**6,
        metavar="N",
        help="Findings to record per kind of outcome and place in the client; all are "
        "counted.",
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
    FileRole.FOLDER,
]


def fuzz(  # noqa: PLR0913 - one parameter per option
    *,
    command: CommandOption = None,
    client: ClientOption = None,
    wire: OverTheWire = False,
    settles: Settles = False,
    cooperative: CooperativeOption = None,
    family: FamilyOption = None,
    instances: GivenInstances = None,
    seed: SeedOption = 0,
    first: First = 0,
    count: Count = None,
    time: Time = None,
    workers: Workers = 1,
    seconds: SecondsOption = 20.0,
    patient: PatientOption = True,
    repeat: RepeatOption = True,
    deterministic: DeterministicOption = None,
    memory: MemoryOption = MEMORY,
    require: RequireOption = "valid",
    keep: Keep = 1,
    shrink: Shrinking = True,
    shrink_seconds: ShrinkSeconds = 30.0,
    reproducers: Reproducers = None,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Test an assignor on random rebalances, and judge every answer.

    Each answer is checked for validity, for safety across cooperative rounds, for
    balance, and for needless moves, and repeated by another process; a crash or a hang
    costs one rebalance. Writes, as they are found, one finding/1 per kind of outcome
    that is not optimal, with its shrunk instance, and one run/1 per family and
    assignor. Exit code 1 if an outcome does not meet --require, or if answers of what
    is declared deterministic differ.

    Example: assignor-oracle fuzz --command 'python my_assignor.py' --seed 1
    """
    from oracle.cli.runs.fuzz import fuzz_all
    from oracle.cli.runs.fuzz_subjects import FuzzOptions

    options = FuzzOptions(
        command=command,
        client=client,
        wire=wire,
        settles=settles,
        cooperative=cooperative,
        families=tuple(family or ()),
        instances=instances,
        seed=seed,
        first=first,
        count=count,
        time=time,
        workers=workers,
        seconds=seconds,
        patient=patient,
        repeat=repeat,
        deterministic=deterministic,
        memory=memory,
        require=require,
        keep=keep,
        shrink_seconds=shrink_seconds if shrink else None,
        reproducers=reproducers,
    )
    fuzz_all(options, output=output, as_json=as_json)
