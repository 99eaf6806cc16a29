"""``solve``: the best assignment of each rebalance, with its proof."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from oracle.cli.options import (
    ClaimRuleOption,
    JsonOption,
    OutputOption,
    RebalancesArgument,
)

POLICIES: Final = {"sticky": "dec-min; stickiness"}
"""What each policy asks for: a balance, then objectives in their order."""


def _known_policy(name: str) -> str:
    for policy, meaning in POLICIES.items():
        if name == policy or name.replace(" ", "") == meaning.replace(" ", ""):
            return policy
    known = ", ".join(f"{policy} ({meaning})" for policy, meaning in POLICIES.items())
    raise typer.BadParameter(f"{name!r} is no policy; there is: {known}")


def solve(
    file: RebalancesArgument,
    *,
    policy: Annotated[
        str,
        typer.Option(
            callback=_known_policy,
            autocompletion=lambda: list(POLICIES),
            metavar="NAME",
            help="What is best. sticky: the most even loads, and among those the "
            "fewest moves.",
        ),
    ] = "sticky",
    claim_rule: ClaimRuleOption = "newest-claim",
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Find the best assignment of each rebalance, and prove it.

    Writes one assignment/1 document a rebalance, with status, figures and
    certificate.

    Example: assignor-oracle solve rebalances.jsonl > answers.jsonl
    """
    from oracle.cli.answering import answer_all
    from solver import solve as solved

    answer_all(
        file,
        lambda instance: solved(instance).to_document(instance),
        claim_rule=claim_rule,
        output=output,
        as_json=as_json,
        what=f"solving ({policy})",
    )
