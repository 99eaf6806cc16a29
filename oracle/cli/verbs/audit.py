"""``audit``: judge a cluster's history; write tables and the HTML page."""

from __future__ import annotations

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
from oracle.cli.options.file_roles import FileRole

EVERY: Final = 300.0
"""Seconds between updates of ``--follow`` by default."""

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE...]",
        help="Files, folders, or URIs of them: __consumer_offsets records (Parquet, "
        "JSON Lines, output of kafka-console-consumer), texts of "
        "kafka-consumer-groups --describe, logs of Java leaders, rebalance/1 lines.",
        show_default=False,
    ),
    FileRole.READ,
]
Out = Annotated[
    str,
    typer.Option("--out", metavar="DIR", help="Folder for the tables and the page."),
    FileRole.FOLDER,
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark's master, such as local[2]. Default: local[*], or the master of "
        "spark-submit.",
        show_default=False,
    ),
]
Cluster = Annotated[str, typer.Option(metavar="NAME", help="Name of the cluster.")]
Topics = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Partition counts: {topic: count}. Default: topics.json in a folder of "
        "sources, else the largest partition seen.",
        show_default=False,
    ),
    FileRole.READ,
]
Offsets = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Log ends, for lag. Default: offsets.json in a folder of sources.",
        show_default=False,
    ),
    FileRole.READ,
]
Subscriptions = Annotated[
    str | None,
    typer.Option(
        "--subscriptions",
        metavar="FILE",
        help="Subscriptions of groups whose sources report none. Default: "
        "subscriptions.json in a folder of sources.",
        show_default=False,
    ),
    FileRole.READ,
]
Lag = Annotated[
    list[str] | None,
    typer.Option(
        "--lag",
        metavar="FILE",
        help="Lag of groups: metrics of kafka_exporter, kafka-lag-exporter, klag or "
        "KMinion, an answer of Prometheus' HTTP API, or Burrow's; can be repeated.",
        show_default=False,
    ),
    FileRole.READ,
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="KIND",
        help="Format of all files; an unknown name lists the formats.",
        show_default=False,
    ),
]
Assignors = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Assignors to run besides actual and optimum, separated by commas, or "
        "all; an unknown name lists them. Default: all but kip54-sticky.",
        show_default=False,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Read __consumer_offsets from this running cluster, up to its present "
        "end.",
        show_default=False,
    ),
]
Follow = Annotated[
    bool,
    typer.Option(
        "--follow",
        help="Continue with new records until interrupted. What was read is kept in "
        "--out; killed at any moment, the same command continues.",
    ),
]
Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        parser=parse_duration,
        metavar="DURATION",
        help="Time from the start of one update of --follow to the next: 90, 90s, 5m, "
        "1h. Default: 5m.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="PAIRS",
        help="Names of the columns of records, such as value=payload,key=k; ours are "
        "key, value, partition, offset, timestamp, topic.",
        show_default=False,
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="How key and value of records are written: bytes, hex, base64. Default: "
        "bytes in binary columns; in JSON, as the first key shows.",
        show_default=False,
    ),
]
AcceptLosses = Annotated[
    bool,
    typer.Option(
        "--accept-losses",
        help="End with 0, not 4, if part of the input was damaged or cut off.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON object instead of a table.")
]


def audit(  # noqa: PLR0913 - one parameter per option
    sources: Sources = None,
    *,
    out: Out,
    bootstrap_server: Server = None,
    command_config: ConfigOption = None,
    follow: Follow = False,
    every: Every = None,
    master: Master = None,
    cluster: Cluster = "local",
    topics: Topics = None,
    offsets: Offsets = None,
    subscriptions: Subscriptions = None,
    lag: Lag = None,
    auto_offset_reset: OffsetResetOption = "earliest",
    source_format: Format = None,
    columns: Columns = None,
    encoding: EncodingOption = None,
    group_name: GroupNameOption = None,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    assignors: Assignors = None,
    accept_losses: AcceptLosses = False,
    as_json: Json = False,
) -> None:
    """Judge every rebalance of a cluster's history; write tables and an HTML page.

    Solves each rebalance, runs every assignor on it, and judges their assignments and
    those of the clients. An existing audit in the folder is replaced once the new one
    is complete. The same command continues an audit that was interrupted. Exit code 4
    if part of the input was lost; the rest is judged.

    Example: assignor-oracle audit recordings/churn --out out/audit

    Example: assignor-oracle audit --bootstrap-server localhost:9092 --follow --out out
    """
    from oracle.cli.runs.audit import Audit, run_audit

    if not sources and bootstrap_server is None:
        raise typer.BadParameter("nothing to read: give a SOURCE or --bootstrap-server")
    if command_config is not None and bootstrap_server is None:
        raise typer.BadParameter("--command-config requires --bootstrap-server")
    if follow and bootstrap_server is None:
        raise typer.BadParameter("--follow requires --bootstrap-server")
    if every is not None and not follow:
        raise typer.BadParameter("--every requires --follow")
    if group_name is not None and not sources:
        raise typer.BadParameter("--group-name requires a SOURCE: a describe text")
    asked = Audit(
        sources=tuple(sources or ()),
        server=bootstrap_server,
        config=command_config,
        out=out,
        master=master,
        cluster=cluster,
        topics=topics,
        offsets=offsets,
        subscriptions=subscriptions,
        lag=tuple(lag or ()),
        offset_reset=auto_offset_reset,
        source_format=source_format,
        columns=columns,
        encoding=encoding,
        group_name=group_name,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        assignors=assignors,
        every=(every or EVERY) if follow else None,
        accepts_losses=accept_losses,
    )
    if follow:
        from oracle.cli.runs.audit_updates import run_follow

        run_follow(asked, as_json=as_json)
    run_audit(asked, as_json=as_json)
