"""``audit``: a cluster's history, judged; the tables and the page."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options import ClaimRuleOption


def audit(  # noqa: PLR0913 - one parameter an option
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files or folders: __consumer_offsets records (Parquet, JSON Lines), "
            "texts of kafka-consumer-groups --describe, rebalance/1 lines.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="DIR", help="Folder for the tables and the page."
        ),
    ],
    master: Annotated[
        str, typer.Option(metavar="URL", help="Spark's master, as local[2].")
    ] = "local[*]",
    cluster: Annotated[
        str, typer.Option(metavar="NAME", help="What to call the cluster.")
    ] = "local",
    topics: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Partition counts: {topic: count}. Else topics.json of a folder "
            "of sources; else the largest partition seen.",
            show_default=False,
        ),
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Log ends, for lag. Else offsets.json of a folder of sources.",
            show_default=False,
        ),
    ] = None,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="KIND",
            help="Take all files to be of this format; a wrong name lists them.",
            show_default=False,
        ),
    ] = None,
    claim_rule: ClaimRuleOption = "newest-claim",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of a table.")
    ] = False,
) -> None:
    """Judge every rebalance of a cluster's history, and write tables and a page.

    Each rebalance found is solved, every assignor is run on it, and the judge checks
    them and what the clients did. An audit that is in the folder already is replaced
    when the new one is whole.

    Example: assignor-oracle audit recordings/churn --out out/audit
    """
    from oracle.cli.auditing import Audit, run_audit

    asked = Audit(
        sources=tuple(sources),
        out=out,
        master=master,
        cluster=cluster,
        topics=topics,
        offsets=offsets,
        source_format=source_format,
        claim_rule=claim_rule,
    )
    run_audit(asked, as_json=as_json)
