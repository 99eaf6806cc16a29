"""One group of any source (``--from``), which several subcommands take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import ConfigOption, GroupNameOption
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.times import SinceOption, UntilOption, check_window

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="SOURCE",
        help="Take one group from the folder of an audit, from records, texts of "
        "kafka-consumer-groups --describe, or documents, or from a running cluster, "
        "HOST:PORT.",
    ),
    FileRole.READ,
]
FromGroupOption = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="NAME",
        help="Group of --from; it can be left out if there is only one.",
    ),
]
GenerationOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Generation of the group, or epoch. Default: the last one.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChoice:
    """One group of a source; `oracle.cli.input.given_group` reads it."""

    source: FromOption = None
    group: FromGroupOption = None
    group_name: GroupNameOption = None
    generation: GenerationOption = None
    since: SinceOption = None
    until: UntilOption = None
    config: ConfigOption = None

    def __post_init__(self) -> None:
        check_window(self.since, self.until)
