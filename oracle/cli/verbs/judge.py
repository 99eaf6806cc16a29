"""``judge``: verdicts on assignments."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OutputOption,
)
from oracle.cli.options.file_roles import FileRole
from oracle.cli.options.groups import GroupChoice, with_option_groups
from oracle.cli.options.limits import TimeLimitOption

Instances = Annotated[
    str | None,
    typer.Argument(
        metavar="INSTANCES",
        help="rebalance/1 documents. Or no files, and --from.",
        show_default=False,
    ),
    FileRole.READ,
]
Assignments = Annotated[
    str | None,
    typer.Argument(
        metavar="ASSIGNMENTS", help="assignment/1 documents.", show_default=False
    ),
    FileRole.READ,
]
Against = Annotated[
    Literal["optimum"] | None,
    typer.Option(
        help="Add the optimum's figures and the gap to them: the optimum of the policy "
        "that an assignment states, else of `sticky`."
    ),
]
Cooperative = Annotated[
    bool,
    typer.Option(
        "--cooperative",
        help="Judge rounds of cooperative rebalancing (KIP-429): partitions that are "
        "still to be revoked can be withheld.",
    ),
]
Require = Annotated[
    Literal["valid", "kip54", "optimum", "proved"],
    typer.Option(
        help="Exit with 1 also if an assignment is not KIP-54 balanced (kip54); not at "
        "the optimum that --against compares it with, which it implies (optimum); or "
        "if its claimed status rests on a search, or on nothing (proved)."
    ),
]


@with_option_groups
def judge(  # noqa: PLR0913 - one parameter per option
    instances: Instances = None,
    assignments: Assignments = None,
    *,
    choice: GroupChoice,
    against: Against = None,
    require: Require = "valid",
    time_limit: TimeLimitOption = None,
    cooperative: Cooperative = False,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Judge assignments: list violations, count figures, and check what is proved.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. Writes one verdict/1 per assignment. If an
    assignment states a policy, each objective is counted again, and its bound rests on
    a certificate, on terms, on a search, or on nothing: only the first two are proofs.
    With --from, the assignment is the one that the group's leader, or the coordinator,
    computed. Exit code 1 if an assignment is invalid, or does not meet --require.

    Example: assignor-oracle judge --against optimum rebalances.jsonl answers.jsonl

    Example: assignor-oracle judge --from out/audit --group orders --generation 41
    """
    if "optimum" in {against, require} and time_limit is None:
        interpret_if_small(instances)
    from oracle.cli.input.given_group import GivenGroup, given_input
    from oracle.cli.runs.judge import Judging, judge_all, judge_group

    given = given_input(instances, choice, max_partitions)
    if instances == assignments == "-":
        raise typer.BadParameter("only one of the two can be standard input")
    judging = Judging(
        against_optimum="optimum" in {against, require},
        cooperative=cooperative,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        seconds=time_limit,
        require=require,
    )
    if isinstance(given, GivenGroup):
        judge_group(given, judging, output=output, as_json=as_json)
    if assignments is None:
        raise typer.BadParameter("no ASSIGNMENTS to judge")
    judge_all(given, assignments, judging, output=output, as_json=as_json)
