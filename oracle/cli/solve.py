"""``solve``: the best assignment of each rebalance, with its proof."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from oracle.cli.limits import (
    Allowed,
    MemoryLimitOption,
    SeedOption,
    TimeLimitOption,
    WorkersOption,
)
from oracle.cli.options import (
    ClaimRuleOption,
    JsonOption,
    OutputOption,
    RebalancesArgument,
)

POLICIES: Final = (
    "sticky",
    "kip54-sticky",
    "fairest-sticky",
    "fair",
    "lag-aware",
    "sticky-lag",
    "lag-sticky",
)
"""Names of `solver.policy.NAMED`, written out so that --help need not import it."""

EngineName = Literal["auto", "cp-sat", "highs"]

PolicyOption = Annotated[
    str,
    typer.Option(
        autocompletion=lambda: list(POLICIES),
        metavar="NAME|SPEC",
        help=f"What is best: {', '.join(POLICIES)}; or spelled out, "
        "'per-topic; peak-lag, stickiness; max-moves=3'.",
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        help="Who answers. auto: the exact core where the policy is polynomial, else "
        "bounds and search. The others answer everything as integer programs."
    ),
]


def solve(  # noqa: PLR0913 - one parameter an option
    file: RebalancesArgument,
    *,
    policy: PolicyOption = "sticky",
    engine: EngineOption = "auto",
    time_limit: TimeLimitOption = None,
    memory_limit: MemoryLimitOption = None,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    claim_rule: ClaimRuleOption = "newest-claim",
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Find the best assignment of each rebalance, and prove it.

    Writes one assignment/1 document a rebalance: status, figures, and each objective
    with its bound and what that rests on.

    A policy is a balance (dec-min, kip54, per-topic, spread=k, none), objectives in
    their order (stickiness, peak-lag, topic-peak-lag, lag-spread, lag-deviation,
    rack, per-topic-spread, load; a sum is 2*stickiness + rack), maybe max-moves=k.

    A limit, or Ctrl-C, ends a search with the best found so far, status feasible.
    Exit code 1 when the answer to a rebalance is no: infeasible, or unknown.

    Example: assignor-oracle solve --policy lag-sticky --time-limit 10 FILE
    """
    from oracle.cli.answering import answer_all
    from oracle.cli.solving import Solving
    from solver.engines import Engine
    from solver.policy import parse_policy

    solving = Solving(
        policy=parse_policy(policy),
        engine=Engine(engine),
        allowed=Allowed(
            seconds=time_limit, memory=memory_limit, seed=seed, workers=workers
        ),
    )
    answer_all(
        file,
        solving.answer,
        stop=solving.stop,
        claim_rule=claim_rule,
        output=output,
        as_json=as_json,
        what=f"solving ({policy})",
    )
