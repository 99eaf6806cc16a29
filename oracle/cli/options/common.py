"""Arguments and options that several subcommands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from oracle.cli.options.file_roles import FileRole

ClaimRuleName = Literal["newest-claim", "current-generation"]
MAX_PARTITIONS: Final = 10_000_000
"""Equal to `rebalance.MAX_PARTITIONS`, whose import would slow down ``--help``."""


def listed_names(text: str) -> tuple[str, ...]:
    """Return the names of a list that is separated by commas."""
    return tuple(map(str.strip, text.split(",")))


ClaimRuleOption = Annotated[
    ClaimRuleName,
    typer.Option(
        "--claim-rule",
        help="Which claim makes an owner: newest-claim (KIP-341) takes the highest "
        "generation, current-generation (KIP-615) first drops older claims.",
    ),
]
MaxPartitionsOption = Annotated[
    int,
    typer.Option(
        "--max-partitions",
        min=1,
        max=2**31 - 1,  # partitions are numbered in int32 columns
        metavar="N",
        help="Reject larger instances as unreadable.",
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write JSON to this file; it appears once it is complete.",
    ),
    FileRole.WRITTEN,
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Write JSON Lines, also to a terminal."),
]
RebalancesArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="rebalance/1: one document, or one per line; plain or gzip; - for stdin.",
    ),
    FileRole.READ,
]
OptionalRebalancesArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="rebalance/1: one document, or one per line; plain or gzip; - for stdin. "
        "Or no file, and --from.",
    ),
    FileRole.READ,
]
GroupNameOption = Annotated[
    str | None,
    typer.Option(
        "--group-name",
        metavar="NAME",
        help="Group of texts of kafka-consumer-groups --describe whose tables have no "
        "column GROUP (Kafka 0.10.1 to 2.3).",
    ),
]
OffsetResetOption = Annotated[
    Literal["earliest", "latest", "none"],
    typer.Option(
        "--auto-offset-reset",
        help="Where lag starts if nothing was committed, as the group's consumers are "
        "configured: at the log's start (earliest, none) or end (latest).",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Client settings for TLS and SASL, as for Kafka's own tools; stores must "
        "be PEM files.",
    ),
    FileRole.READ,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """The last options of subcommands that answer each rebalance."""

    claim_rule: ClaimRuleOption = "newest-claim"
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS
    output: OutputOption = "-"
    as_json: JsonOption = False
