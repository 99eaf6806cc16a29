"""Play a case with real consumers, and record what happens."""

from __future__ import annotations

import uuid
from contextlib import closing
from datetime import UTC, datetime
from typing import Final

from conformance.confirmation.cases import Case
from conformance.confirmation.confirmed import ALL_REAL, Confirmation
from conformance.confirmation.group_state import Cluster
from conformance.confirmation.mixed_group import MixedGroup
from conformance.confirmation.observation import Observation, observe
from conformance.confirmation.real_group import RealGroup
from rebalance import OutsideError

OBSERVED_SECONDS: Final = 20.0
"""Longer than a session: the broker removes a leader that hangs."""


def confirm(
    case: Case, cluster: Cluster, *, broker: str, seconds: float = OBSERVED_SECONDS
) -> Confirmation:
    """Bring a group of the client into the state, and observe it.

    A history that cannot be played to its end is not confirmed, and its outcome says
    why.

    Parameters
    ----------
    case : Case
    cluster : Cluster
    broker : str
        Name and version of the broker, for the record.
    seconds : float
        How long a group that does not become stable is observed.

    Raises
    ------
    OutsideError
        If the client is not installed.
    """
    history = case.history
    name = f"{case.finding}-{uuid.uuid4().hex[:8]}"
    kind = RealGroup if case.members == ALL_REAL else MixedGroup
    group = kind(case.client, cluster, name, history.topics, history.pace)
    with closing(group):
        try:
            history.play(group)
            seen = observe(group, seconds)
        except OutsideError as error:
            if group.ended():
                seen = observe(group, seconds)
            else:
                seen = Observation(category="unclear", outcome=f"Not reached: {error}.")
    return Confirmation(
        finding=case.finding,
        client=case.client.client,
        version=case.client.version,
        assignor=case.client.assignor,
        cluster=broker,
        members=case.members,
        history=history.sentences,
        expected=case.expected,
        outcome=seen.outcome,
        confirmed=seen.category == case.expected,
        date=datetime.now(UTC).date().isoformat(),
    )
