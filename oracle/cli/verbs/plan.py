"""``plan``: what a change of a group leads to, before it is made."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    MaxPartitionsOption,
    OutputOption,
)
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.groups import GroupChoice, with_option_groups
from oracle.cli.options.limits import Allowed

PlannedInstance = Annotated[
    str | None,
    typer.Argument(
        metavar="INSTANCE",
        help="One rebalance/1 document, in which members own what they hold now; - for "
        "stdin. Or no file, and --from.",
        show_default=False,
    ),
    FileRole.READ,
]
JoinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="NAME[=TOPICS]",
        help="A member joins and subscribes to TOPICS, separated by commas. Default: "
        "what all members subscribe to.",
        show_default=False,
    ),
]
AddMembersOption = Annotated[
    int,
    typer.Option(
        "--add-members", min=0, max=100_000, metavar="N", help="So many members join."
    ),
]
LeaveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--leave", metavar="NAME", help="A member leaves.", show_default=False
    ),
]
SubscribeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--subscribe",
        metavar="NAME=TOPICS",
        help="A member subscribes to TOPICS, and no others; *=TOPICS: all members.",
        show_default=False,
    ),
]
PartitionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--partitions",
        metavar="TOPIC=N",
        help="A topic is enlarged to N partitions, or created.",
        show_default=False,
    ),
]
LagOption = Annotated[
    list[str] | None,
    typer.Option(
        "--lag",
        metavar="TOPIC[:P]=N",
        help="Lag of each partition of a topic, or of one, in records; TOPIC=x3: "
        "three times as much.",
        show_default=False,
    ),
]
PlanPolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME|SPEC",
        help="What is best, as for solve. Default: sticky; with --max-moves, the most "
        "even loads that so many moves allow.",
        show_default=False,
    ),
]
MaxMovesOption = Annotated[
    int | None,
    typer.Option(
        "--max-moves",
        min=0,
        metavar="K",
        help="At most K owned partitions leave their owner.",
        show_default=False,
    ),
]
PeakLagOption = Annotated[
    int | None,
    typer.Option(
        "--peak-lag-at-most",
        min=0,
        metavar="X",
        help="Find the smallest number of members for which a peak lag of X records is "
        "possible.",
        show_default=False,
    ),
]
LoadOption = Annotated[
    int | None,
    typer.Option(
        "--load-at-most",
        min=0,
        metavar="Y",
        help="Find the smallest number of members for which a load of Y partitions is "
        "possible.",
        show_default=False,
    ),
]
NewSubscriptionOption = Annotated[
    str | None,
    typer.Option(
        "--subscription",
        metavar="TOPICS",
        help="Subscription of members that join without one. Default: what all members "
        "subscribe to.",
        show_default=False,
    ),
]
WhichAssignorOption = Annotated[
    bool,
    typer.Option(
        "--which-assignor",
        help="Rank the assignors over the group's own history; --from is the folder of "
        "an audit.",
    ),
]
RoundOption = Annotated[
    float,
    typer.Option(
        "--round",
        parser=parse_duration,
        metavar="DURATION",
        help="Assumed time of one round of a rebalance.",
    ),
]
PlanAsJson = Annotated[
    bool, typer.Option("--json", help="Write a plan/1 document, also to a terminal.")
]


@with_option_groups
def plan(  # noqa: PLR0913 - one parameter per option
    instance: PlannedInstance = None,
    *,
    choice: GroupChoice,
    leave: LeaveOption = None,
    join: JoinOption = None,
    add_members: AddMembersOption = 0,
    subscribe: SubscribeOption = None,
    partitions: PartitionsOption = None,
    lag: LagOption = None,
    subscription: NewSubscriptionOption = None,
    policy: PlanPolicyOption = None,
    max_moves: MaxMovesOption = None,
    peak_lag_at_most: PeakLagOption = None,
    load_at_most: LoadOption = None,
    which_assignor: WhichAssignorOption = False,
    round_time: RoundOption = "3s",  # type: ignore[assignment]  # parsed by typer
    allowed: Allowed,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: PlanAsJson = False,
) -> None:
    """Answer what-if questions on a group, before anything is changed.

    Members leave, join, or change their subscription, partitions are added, lag
    changes, in this order: the best assignment afterwards and that of each assignor,
    who gives which partitions to whom, how many rounds it takes, and how long
    partitions have no owner. Or: how many members a limit on lag or load needs, with a
    proof that fewer do not suffice. Or: which assignor the group should use.

    Exit code 1 if no assignment satisfies the policy, or no number of members suffices.

    Example: assignor-oracle plan --from out/audit --group orders --leave c3

    Example: assignor-oracle plan group.json --add-members 2 --load-at-most 4
    """
    searches = peak_lag_at_most is not None or load_at_most is not None
    if not (searches or add_members or partitions):
        interpret_if_small(instance, OF_ALL_ASSIGNORS, allowed)
    from oracle.cli.runs.plan import Asked, plan_all

    asked = Asked(
        leave=tuple(leave or ()),
        join=tuple(join or ()),
        add_members=add_members,
        subscribe=tuple(subscribe or ()),
        partitions=tuple(partitions or ()),
        lag=tuple(lag or ()),
        subscription=subscription,
        policy=policy,
        max_moves=max_moves,
        peak_lag_at_most=peak_lag_at_most,
        load_at_most=load_at_most,
        which_assignor=which_assignor,
        round_ms=round(1000 * round_time),
        allowed=allowed,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
    )
    plan_all(instance, choice, asked, output=output, as_json=as_json)
