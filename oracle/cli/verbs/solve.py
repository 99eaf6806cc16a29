"""``solve``: the best assignment of each rebalance, with its proof."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.common import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OptionalRebalancesArgument,
    OutputOption,
)
from oracle.cli.options.groups import GroupChoice, with_option_groups
from oracle.cli.options.limits import Allowed


def _named_policies() -> dict[str, str]:
    """Read name and optimum from the solver's table, without importing the solver.

    Importing it takes a second, for which ``--help`` should not wait.
    """
    table = Path(__file__).parents[3] / "solver" / "policy" / "named.toml"
    rows = tomllib.loads(table.read_text(encoding="utf-8"))
    return {name: row["optimum"] for name, row in rows.items()}


POLICIES: Final = _named_policies()
"""Named policies, and what each optimizes."""

EngineName = Literal["auto", "cp-sat", "highs"]

PolicyOption = Annotated[
    str,
    typer.Option(
        autocompletion=lambda: list(POLICIES.items()),
        metavar="NAME|SPEC",
        help="A name: "
        + "; ".join(f"{name} ({optimum})" for name, optimum in POLICIES.items())
        + ". Or a policy in text form, 'per-topic; peak-lag, stickiness; max-moves=3'.",
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        help="auto: the fastest engine that can prove the policy. The others solve "
        "every policy as integer programs."
    ),
]


@with_option_groups
def solve(  # noqa: PLR0913 - one parameter per option
    file: OptionalRebalancesArgument = None,
    *,
    choice: GroupChoice,
    policy: PolicyOption = "sticky",
    engine: EngineOption = "auto",
    allowed: Allowed,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Find the best assignment of each rebalance, and prove it.

    Writes one assignment/1 document per rebalance: status, figures, and each objective
    with its bound and what the bound rests on.

    A policy is a balance (dec-min, kip54, per-topic, spread=k, none), objectives in
    order (stickiness, peak-lag, topic-peak-lag, lag-spread, lag-deviation, rack,
    per-topic-spread, load; a sum is 2*stickiness + rack), and an optional max-moves=k.

    A limit, or Ctrl-C, ends a search with the best assignment found, status feasible.
    Without a time limit, a fixed effort does, so that equal input gives equal output.
    Exit code 1 if an answer is infeasible or unknown.

    Example: assignor-oracle solve --policy lag-sticky --time-limit 10 FILE

    Example: assignor-oracle solve --from out/audit --group orders --generation 41
    """
    interpret_if_small(file, allowed=allowed)
    from oracle.cli.input.given_group import given_input
    from oracle.cli.runs.answers import answer_all
    from oracle.cli.runs.solve import Solving
    from solver import Engine, parse_policy

    solving = Solving(
        policy=parse_policy(policy),
        engine=Engine(engine),
        allowed=allowed,
    )
    answer_all(
        given_input(file, choice, max_partitions),
        solving.answer,
        stop=solving.stop,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        output=output,
        as_json=as_json,
        what=f"solving ({policy})",
        warn=True,
    )
