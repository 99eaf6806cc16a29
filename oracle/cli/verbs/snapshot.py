"""``snapshot``: the present state of a running cluster's groups as instances."""

from __future__ import annotations

from oracle.cli.options.snapshot import SnapshotOptions


def snapshot(options: SnapshotOptions) -> None:
    """Read the present state of consumer groups from a running cluster.

    Writes one rebalance/1 document per group, with subscriptions, owned partitions,
    lag, racks, and static members, so that every other subcommand can be applied to it.
    Groups that cannot be read are named, and the exit code is then 2.

    Example: assignor-oracle snapshot --bootstrap-server localhost:9092 -o groups.jsonl
    """
    from oracle.cli.runs.snapshot import write_snapshots

    write_snapshots(options)
