"""``snapshot``: the present state of a running cluster's groups as instances."""

from __future__ import annotations

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

ServerOption = Annotated[
    str,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Broker to connect to; several are separated by commas.",
        show_default=False,
    ),
]
GroupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="Only this group; can be repeated. Default: all groups with members.",
        show_default=False,
    ),
]
AssignmentsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write each group's present assignment to this file (assignment/1).",
        show_default=False,
    ),
    FileRole.WRITTEN,
]


def snapshot(
    *,
    bootstrap_server: ServerOption,
    command_config: ConfigOption = None,
    group: GroupOption = None,
    assignments: AssignmentsOption = None,
    auto_offset_reset: OffsetResetOption = "earliest",
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Read the present state of consumer groups from a running cluster.

    Writes one rebalance/1 document per group, with subscriptions, owned partitions,
    lag, racks, and static members, so that every other subcommand can be applied to it.
    Groups that cannot be read are named, and the exit code is then 2.

    Example: assignor-oracle snapshot --bootstrap-server localhost:9092 -o groups.jsonl
    """
    from oracle.cli.runs.snapshot import write_snapshots

    write_snapshots(
        bootstrap_server,
        command_config,
        group or [],
        assignments=assignments,
        offset_reset=auto_offset_reset,
        output=output,
        as_json=as_json,
    )
