"""``assign``: run a published assignor on each rebalance."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OutputOption,
    RebalancesArgument,
)


def _names() -> list[str]:
    from heuristics import ASSIGNORS

    return list(ASSIGNORS)


def _known_assignor(name: str) -> str:
    if name not in _names():
        raise typer.BadParameter(
            f"{name!r} is no assignor; there are: {', '.join(_names())}"
        )
    return name


AssignorOption = Annotated[
    str,
    typer.Option(
        callback=_known_assignor,
        autocompletion=_names,
        metavar="NAME",
        help="A published algorithm, by name; an unknown name lists all of them.",
        show_default=False,
    ),
]


ErrorsOption = Annotated[
    bool,
    typer.Option(
        "--errors",
        help='Write {"error": "why"} for a rebalance without an answer, so that each '
        "has a line.",
    ),
]


def assign(
    file: RebalancesArgument,
    *,
    assignor: AssignorOption,
    errors: ErrorsOption = False,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Run a published assignor on each rebalance.

    Writes one assignment/1 document per rebalance. An assignor can refuse a rebalance
    to which it does not apply; this is reported, and the exit code is 2. With --errors,
    and - for standard input, it can be tested by `conform` and `fuzz`.

    Example: assignor-oracle assign --assignor range rebalances.jsonl
    """
    from heuristics import ASSIGNORS
    from oracle.cli.runs.answers import Answer, answer_all
    from rebalance import Instance, about_assignment, figures_of

    chosen = ASSIGNORS[assignor]

    def answer(instance: Instance) -> Answer:
        assignment = chosen.assign(instance)
        figures = figures_of(instance, assignment)
        about = about_assignment(instance, assignor=assignor, figures=figures)
        return Answer(assignment=assignment, about=about)

    answer_all(
        file,
        answer,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        output=output,
        as_json=as_json,
        what=f"running {assignor}",
        errors=errors,
    )
