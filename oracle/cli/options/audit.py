"""Options of ``audit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    ConfigOption,
    GroupNameOption,
    MaxPartitionsOption,
    OffsetResetOption,
)
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.fail_on import FailOn, parse_conditions
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.times import SinceOption, UntilOption, check_window

EVERY: Final = 300.0
"""Seconds between updates of ``--follow`` by default."""
FOLLOWED: Final = "history"
"""Folder in ``--out`` of the store of ``--follow``, unless ``--history`` names one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Options of ``audit``."""

    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE...]",
            help="Files, folders, or URIs of them: __consumer_offsets records "
            "(Parquet, JSON Lines, output of kafka-console-consumer), texts of "
            "kafka-consumer-groups --describe, logs of Java leaders, rebalance/1 "
            "lines.",
        ),
        FileRole.READ,
    ] = None
    out: Annotated[
        str,
        typer.Option(metavar="DIR", help="Folder for the tables and the page."),
        FileRole.FOLDER,
    ]
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Read __consumer_offsets from this running cluster, up to its present "
            "end.",
        ),
    ] = None
    command_config: ConfigOption = None
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Continue with new records until interrupted: each update is an audit "
            "of a store, --history or else the folder history in --out. Killed at any "
            "moment, the same command continues.",
        ),
    ] = False
    every: Annotated[
        float | None,
        typer.Option(
            parser=parse_duration,
            metavar="DURATION",
            help="Time from the start of one update of --follow to the next: 90, 90s, "
            "5m, 1h. Default: 5m.",
        ),
    ] = None
    history: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Store of audits, night after night: read only records after the last "
            "one. --out receives the tables and the page of all.",
        ),
        FileRole.FOLDER,
    ] = None
    keep_days: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Drop days from the store of --history or --follow that are more than "
            "N before the newest.",
        ),
    ] = None
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark's master, such as local[2]. Default: local[*], or the master "
            "of spark-submit.",
        ),
    ] = None
    cluster: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the cluster.")
    ] = "local"
    topics: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Partition counts: {topic: count}. Default: topics.json in a folder "
            "of sources, else the largest partition seen.",
        ),
        FileRole.READ,
    ] = None
    offsets: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Log ends, for lag. Default: offsets.json in a folder of sources.",
        ),
        FileRole.READ,
    ] = None
    subscriptions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Subscriptions of groups whose sources do not report any. Default: "
            "subscriptions.json in a folder of sources.",
        ),
        FileRole.READ,
    ] = None
    lag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Lag of groups: metrics of kafka_exporter, kafka-lag-exporter, klag "
            "or KMinion, an answer of Prometheus' HTTP API, or Burrow's; can be "
            "repeated.",
        ),
        FileRole.READ,
    ] = None
    auto_offset_reset: OffsetResetOption = "earliest"
    source_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="KIND",
            help="Format of all files; an unknown name lists the formats.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="PAIRS",
            help="Names of the columns of records, such as value=payload,key=k; ours "
            "are key, value, partition, offset, timestamp, topic.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How key and value of records are written: bytes, hex, base64. "
            "Default: bytes in binary columns; in JSON, as the first key shows.",
        ),
    ] = None
    group_name: GroupNameOption = None
    since: SinceOption = None
    until: UntilOption = None
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME",
            help="Judge only this group; * stands for any characters; can be repeated.",
        ),
    ] = None
    claim_rule: ClaimRuleOption = "newest-claim"
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS
    assignors: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Assignors to run in addition to actual and optimum, separated by "
            "commas, or all; an unknown name lists them. Default: all but "
            "kip54-sticky.",
        ),
    ] = None
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            parser=parse_conditions,
            metavar="WORDS",
            help="End with 1 if the audit finds any of these, separated by commas: "
            "invalid, unbalanced (assignments), needless (moves), harm>N "
            "(partition-seconds unread, or read by two), worse (groups, compared with "
            "the audit before, with --history). Each can have a limit, 'invalid>3'.",
        ),
    ] = None
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the figures of each group in Prometheus' text format, for the "
            "textfile collector of node_exporter; the file is replaced as a whole.",
        ),
        FileRole.WRITTEN,
    ] = None
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the summary that --json prints, audit-summary/2, to this file, "
            "which is replaced as a whole.",
        ),
        FileRole.WRITTEN,
    ] = None
    accept_losses: Annotated[
        bool,
        typer.Option(
            "--accept-losses",
            help="End with 0, not 4, if part of the input was damaged or cut off.",
        ),
    ] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of a table.")
    ] = False

    def __post_init__(self) -> None:
        server = self.bootstrap_server
        if not self.sources and server is None:
            raise typer.BadParameter(
                "nothing to read: give a SOURCE or --bootstrap-server"
            )
        if self.command_config is not None and server is None:
            raise typer.BadParameter("--command-config requires --bootstrap-server")
        if self.follow and server is None:
            raise typer.BadParameter("--follow requires --bootstrap-server")
        if self.every is not None and not self.follow:
            raise typer.BadParameter("--every requires --follow")
        if self.follow and self.fail_on is not None:
            raise typer.BadParameter("--follow has no end: it does not take --fail-on")
        check_window(self.since, self.until)
        if "" in (self.groups or ()):
            raise typer.BadParameter("--group requires a name")
        self._check_history()
        if self.group_name is not None and not self.sources:
            raise typer.BadParameter("--group-name requires a SOURCE: a describe text")

    @property
    def store(self) -> str | None:
        """The store of the audit, if there is one."""
        if self.history is None and self.follow:
            return f"{self.out}/{FOLLOWED}"
        return self.history

    def _check_history(self) -> None:
        """Check the options of a store, and those that exclude one."""
        if self.store is None:
            if self.keep_days is not None:
                raise typer.BadParameter("--keep-days requires --history or --follow")
            if self.fail_on is not None and self.fail_on.worse:
                reason = "--fail-on worse compares with the audit before: it requires"
                raise typer.BadParameter(f"{reason} --history")
            return
        if self.keep_days is not None and self.keep_days < 1:
            raise typer.BadParameter("--keep-days is at least 1")
        if self.since or self.until or self.groups:
            name = "--follow" if self.follow else "--history"
            reason = f"{name} keeps everything: not --since, --until, or --group"
            raise typer.BadParameter(reason)
