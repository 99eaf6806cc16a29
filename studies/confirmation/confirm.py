"""Play a case with real consumers, and record the observation."""

from __future__ import annotations

import uuid
from contextlib import closing
from datetime import UTC, datetime
from typing import Final

from rebalance import OutsideError, WireError
from studies.confirmation.broker_groups import BrokerGroups
from studies.confirmation.confirmed import CRAFTED, Confirmation
from studies.confirmation.fault_cases import FaultCase
from studies.confirmation.group_generations import (
    stored_generations,
    unrevoked_in,
)
from studies.confirmation.mixed_group import MixedGroup
from studies.confirmation.observation import Observation, observe
from studies.confirmation.real_group import RealGroup

OBSERVED_SECONDS: Final = 20.0
"""Longer than a session: the broker removes a leader that hangs."""

NOT_REACHED: Final = "not reached"

ATTEMPTS: Final = 5
"""Groups that are tried until one reaches the state.

Where a client iterates over a hash table, the partitions of a topic that two members
share are theirs in one order or the other. A record is played as often until it has the
expected outcome: its ties depend on the order of members, which the broker chooses.
"""


def confirm(
    case: FaultCase,
    cluster: BrokerGroups,
    *,
    broker: str,
    seconds: float = OBSERVED_SECONDS,
) -> Confirmation:
    """Bring a group of the client into the state, and observe it.

    A history that cannot be played to its end in any attempt is not confirmed, and its
    outcome says why. A group that does not become stable is observed for ``seconds``.
    ``broker`` is the broker's name and version, for the record.

    Raises
    ------
    OutsideError
        If the client is not installed.
    """
    groups, seen = 1, _played(case, cluster, seconds)
    while groups < ATTEMPTS and not _is_final(case, seen):
        groups, seen = groups + 1, _played(case, cluster, seconds)
    return Confirmation(
        finding=case.finding,
        client=case.client.client,
        version=case.client.version,
        assignor=case.client.assignor,
        cluster=broker,
        members=case.members,
        history=case.history.sentences,
        expected=case.expected,
        outcome=seen.outcome,
        confirmed=seen.category == case.expected,
        date=datetime.now(UTC).date().isoformat(),
        record=case.record,
        way=case.way,
        groups=None if case.way is None else groups,
    )


def _is_final(case: FaultCase, seen: Observation) -> bool:
    if case.way is None:
        return seen.category != NOT_REACHED
    return seen.category == case.expected


def _played(case: FaultCase, cluster: BrokerGroups, seconds: float) -> Observation:
    """Play the history with a new group."""
    history = case.history
    name = f"{case.finding}-{uuid.uuid4().hex[:8]}"
    kind = MixedGroup if case.members == CRAFTED else RealGroup
    with closing(
        kind(case.client, cluster, name, history.topics, history.pace)
    ) as group:
        try:
            history.play(group)
            if history.is_judged:
                stored = stored_generations(cluster.address, name)
                return unrevoked_in(stored, dict(history.topics))
            return observe(group, seconds)
        except (OutsideError, WireError, OSError) as error:
            if group.ended():
                return observe(group, seconds)
            return Observation(category=NOT_REACHED, outcome=f"Not reached: {error}.")
