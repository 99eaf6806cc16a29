"""``judge``: what the judge, which believes nobody, says of assignments."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from oracle.cli.limits import TimeLimitOption
from oracle.cli.options import ClaimRuleOption, JsonOption, OutputOption

Instances = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCES", help="rebalance/1 documents.", show_default=False
    ),
]
Assignments = Annotated[
    str,
    typer.Argument(
        metavar="ASSIGNMENTS", help="assignment/1 documents.", show_default=False
    ),
]
Against = Annotated[
    Literal["optimum"] | None,
    typer.Option(
        help="Add the optimum's figures and the gap to them: the optimum by the policy "
        "that an assignment states, else by `sticky`."
    ),
]
Cooperative = Annotated[
    bool,
    typer.Option(
        "--cooperative",
        help="Judge as rounds of cooperative rebalancing (KIP-429): what is still "
        "to be revoked may be withheld.",
    ),
]


def judge(
    instances: Instances,
    assignments: Assignments,
    *,
    against: Against = None,
    time_limit: TimeLimitOption = None,
    cooperative: Cooperative = False,
    claim_rule: ClaimRuleOption = "newest-claim",
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Judge assignments: every violation, every figure, what of it is proved.

    An assignment belongs to the instance of the same id; where one of the two has no
    id, to the instance at the same place. Writes one verdict/1 an assignment. Of an
    assignment that states a policy, each level is counted anew, and its bound rests on
    a certificate, on terms, on a search or on nothing: only the first two are proof.
    Exit code 1 when one is invalid.

    Example: assignor-oracle judge --against optimum rebalances.jsonl answers.jsonl
    """
    from oracle.cli.judging import Judging, judge_all

    if instances == assignments == "-":
        raise typer.BadParameter("only one of the two can be standard input")
    judging = Judging(
        against_optimum=against == "optimum",
        cooperative=cooperative,
        claim_rule=claim_rule,
        seconds=time_limit,
    )
    judge_all(instances, assignments, judging, output=output, as_json=as_json)
