"""Options of ``plan``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import (
    AnswerOptions,
)
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.limit_options import Allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(AnswerOptions):
    """Options of ``plan``."""

    instance: Annotated[
        str | None,
        typer.Argument(
            metavar="INSTANCE",
            help="One rebalance/1 document, in which members own the partitions that "
            "they hold now; - for stdin. Or no file, and --from.",
        ),
        FileRole.READ,
    ] = None
    choice: GroupChoice
    leave: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A member leaves."),
    ] = None
    join: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=TOPICS]",
            help="A member joins and subscribes to TOPICS, separated by commas. "
            "Default: the topics to which all members subscribe.",
        ),
    ] = None
    add_members: Annotated[
        int,
        typer.Option(
            min=0,
            max=100_000,
            metavar="N",
            help="So many members join.",
        ),
    ] = 0
    subscribe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TOPICS",
            help="A member subscribes to TOPICS, and no others; *=TOPICS: all members.",
        ),
    ] = None
    partitions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC=N",
            help="A topic is enlarged to N partitions, or created.",
        ),
    ] = None
    lag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC[:P]=N",
            help="Lag of each partition of a topic, or of one, in records; TOPIC=x3: "
            "three times as much.",
        ),
    ] = None
    subscription: Annotated[
        str | None,
        typer.Option(
            metavar="TOPICS",
            help="Subscription of members that join without one. Default: the topics "
            "to which all members subscribe.",
        ),
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|SPEC",
            help="Policy of the best assignment, as for solve. Default: sticky; with "
            "--max-moves, the most even loads that so many moves allow.",
        ),
    ] = None
    max_moves: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="K",
            help="At most K owned partitions leave their owner.",
        ),
    ] = None
    peak_lag_at_most: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="X",
            help="Find the smallest number of members for which a peak lag of X "
            "records is possible.",
        ),
    ] = None
    load_at_most: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="Y",
            help="Find the smallest number of members for which a load of Y "
            "partitions is possible.",
        ),
    ] = None
    which_assignor: Annotated[
        bool,
        typer.Option(
            "--which-assignor",
            help="Rank the assignors over the group's own history; --from is the "
            "folder of an audit.",
        ),
    ] = False
    round_time: Annotated[
        float,
        typer.Option(
            "--round",
            parser=parse_duration,
            metavar="DURATION",
            help="Assumed time of one round of a rebalance.",
        ),
    ] = "3s"  # type: ignore[assignment]  # parsed by typer
    allowed: Allowed
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write a plan/1 document, also to a terminal."),
    ] = False

    @property
    def enlarges(self) -> bool:
        """Whether the instances to be solved can be larger than the document."""
        searches = self.peak_lag_at_most is not None or self.load_at_most is not None
        return bool(searches or self.add_members or self.partitions)
