"""Options of ``fuzz``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import JsonOption, OutputOption
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.limit_options import parse_seconds
from oracle.cli.options.subject_options import (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions:
    """Options of ``fuzz``."""

    command: CommandOption = None
    client: ClientOption = None
    wire: Annotated[
        bool,
        typer.Option(
            "--wire",
            help="Test an unmodified consumer as the leader of a group: of --client, "
            "or the program of --command, with {address}, {group} and {topic} "
            "replaced, or {topics}: all names, with commas, for a consumer started "
            "per rebalance. Without either, print the address to which a consumer "
            "must connect, and wait.",
        ),
    ] = False
    settles: Annotated[
        bool,
        typer.Option(
            "--settles",
            help="With --wire: let each generation settle, without partitions, before "
            "a heartbeat asks the consumer to join again. For a consumer that gives "
            "up if SyncGroup returns REBALANCE_IN_PROGRESS; takes a heartbeat per "
            "rebalance.",
        ),
    ] = False
    cooperative: CooperativeOption = None
    family: FamilyOption = None
    instances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Test these rebalance/1 documents instead of random ones.",
        ),
        FileRole.READ,
    ] = None
    seed: SeedOption = 0
    first: Annotated[
        int,
        typer.Option(min=0, max=2**31 - 1, help="First draw of each family."),
    ] = 0
    count: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**9,
            metavar="N",
            help="Draws per family; a 20th of it of `large` and `restarted`.",
            show_default="200; with --time, until it is over",
        ),
    ] = None
    time: Annotated[
        float | None,
        typer.Option(
            parser=parse_duration,
            metavar="T",
            help="End the run after this time (90, 90s, 5m, 1h), shrinking and "
            "reproducers included; several assignors share it.",
        ),
    ] = None
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            max=1024,
            metavar="N",
            help="Processes, each with a program of its own. The findings do not "
            "depend on their number.",
        ),
    ] = 1
    seconds: SecondsOption = 20.0
    patient: PatientOption = True
    repeat: RepeatOption = True
    deterministic: DeterministicOption = None
    memory: MemoryOption = MEMORY
    require: RequireOption = "valid"
    keep: Annotated[
        int,
        typer.Option(
            min=1,
            max=10**6,
            metavar="N",
            help="Findings to record per kind of outcome and place in the client; all "
            "are counted.",
        ),
    ] = 1
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink/--no-shrink",
            help="Shrink each recorded finding to a minimal instance.",
        ),
    ] = True
    shrink_seconds: Annotated[
        float,
        typer.Option(
            parser=parse_seconds,
            metavar="S",
            help="Time for shrinking one finding; then the smallest instance so far.",
        ),
    ] = 30.0
    reproducers: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write a self-contained test of each recorded finding of --client, "
            "in the client's language, and run it once to confirm that it shows the "
            "finding.",
        ),
        FileRole.FOLDER,
    ] = None
    output: OutputOption = "-"
    as_json: JsonOption = False
