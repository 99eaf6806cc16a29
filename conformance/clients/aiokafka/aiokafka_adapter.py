"""The assignors of aiokafka, called as the leader of a group calls them.

As in its coordinator: subscriptions are read in version 0 of the protocol, static
names are not passed, and no generation reaches the assignor when it is assigned.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

from adapter_lines import Held, JoinedMember, LeaderCluster, serve
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from aiokafka.coordinator.protocol import ConsumerProtocol
from eager_classes import held_partitions, sent_metadata

ASSIGNORS: Final[dict[str, Any]] = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


def main() -> None:
    """Serve the assignor that the first argument names."""
    logging.disable(logging.CRITICAL)
    name = sys.argv[1]
    assignor = ASSIGNORS[name]
    given = ConsumerProtocol.ASSIGNMENT

    def assign(cluster: LeaderCluster, members: list[JoinedMember]) -> Held:
        joined = {
            member.member_id: ConsumerProtocol.METADATA.decode(
                sent_metadata(assignor, member, given, passes_generation=False)
            )
            for member in members
        }
        return held_partitions(assignor.assign(cluster, joined))

    serve(name, assign)


if __name__ == "__main__":
    main()
