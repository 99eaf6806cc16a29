"""``compare``: run every published assignor and compare it with the optimum."""

from __future__ import annotations

from oracle.cli.options import (
    MAX_PARTITIONS,
    ClaimRuleOption,
    JsonOption,
    MaxPartitionsOption,
    OutputOption,
    RebalancesArgument,
)


def compare(
    file: RebalancesArgument,
    *,
    claim_rule: ClaimRuleOption = "newest-claim",
    max_partitions: MaxPartitionsOption = MAX_PARTITIONS,
    output: OutputOption = "-",
    as_json: JsonOption = False,
) -> None:
    """Run every published assignor on each rebalance and compare it with the optimum.

    Prints one table per rebalance and a summary on a terminal; otherwise writes one
    line of JSON per rebalance. The judge counts all figures.

    Example: assignor-oracle compare rebalances.jsonl
    """
    from oracle.cli.comparing import compare_all

    compare_all(
        file,
        claim_rule=claim_rule,
        max_partitions=max_partitions,
        output=output,
        as_json=as_json,
    )
