"""Leader of a real group: compute each member's assignment bytes from joined members.

A group always receives an assignment: if a limit is reached or an engine fails, the
leader uses another assignor and logs a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from oracle.plugins.choice import Choice
from oracle.plugins.in_time import in_time
from oracle.plugins.joined_columns import instance_of_joined
from oracle.plugins.joining import Joining, Lags, Racks, rebalance_of
from oracle.plugins.protocol_modes import Mode
from oracle.plugins.withholding import without_unrevoked
from rebalance import NOBODY, Assignment, Instance, encode_assignments, instance_of
from solver import Limits

log = logging.getLogger(__name__)

LagSource = Callable[[Mapping[str, int]], Lags]
"""Called with the number of partitions per topic."""

GRACE: Final = 1.0  # seconds in which an engine detects that its limit is reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """Settings for computing the group's assignment while this member is the leader.

    Attributes
    ----------
    choice : Choice
        The assignor.
    fallback : Choice
        The assignor that is used if ``choice`` raises an error or takes too long.
    seconds : float
        Time limit of ``choice``, and of ``lag``. After it, the best assignment found is
        used, or that of the fallback. The client is blocked meanwhile: keep the limit
        well below the session timeout.
    mode : Mode
    lag : callable or None
        Function from partition counts per topic to the lag of each partition.
    """

    choice: Choice
    fallback: Choice
    seconds: float
    mode: Mode = Mode.EAGER
    lag: LagSource | None = field(default=None)

    def assign(
        self,
        joined: Iterable[Joining],
        counts: Mapping[str, int],
        *,
        racks: Racks | None = None,
    ) -> dict[str, bytes]:
        """Return each member's consumer-protocol assignment."""
        instance = self.instance(tuple(joined), counts, racks)
        assignment = self.decide(instance)
        if self.mode is Mode.COOPERATIVE:
            assignment = without_unrevoked(instance, assignment)
        return encode_assignments(instance, assignment)

    def instance(
        self,
        joined: tuple[Joining, ...],
        counts: Mapping[str, int],
        racks: Racks | None = None,
    ) -> Instance:
        """Decode the members that joined; omit lag if it is unavailable or invalid."""
        lags = self._lags(counts)
        if lags is not None:
            try:
                return instance_of(
                    rebalance_of(joined, counts, mode=self.mode, racks=racks, lags=lags)
                )
            except (TypeError, ValueError):
                log.exception("lag is invalid; assigning without it")
        if racks is None and not any(member.subscription.rack for member in joined):
            return instance_of_joined(joined, counts, mode=self.mode)
        return instance_of(rebalance_of(joined, counts, mode=self.mode, racks=racks))

    def decide(self, instance: Instance) -> Assignment:
        """Return the assignment of the choice, the fallback, or round-robin."""
        limits = Limits(seconds=self.seconds)
        try:
            return in_time(
                lambda: self.choice.assign(instance, limits),
                seconds=self.seconds + GRACE,
            )
        except Exception as error:  # noqa: BLE001  # no error may end the rebalance
            limits.stop.set()
            log.warning(
                "%s returned no assignment; using %s: %r",
                self.choice.name,
                self.fallback.name,
                error,
            )
        try:
            return self.fallback.assign(instance, Limits(seconds=self.seconds))
        except Exception:
            log.exception("%s returned no assignment", self.fallback.name)
        return round_robin(instance)

    def _lags(self, counts: Mapping[str, int]) -> Lags | None:
        source = self.lag
        if source is None:
            return None
        try:
            return in_time(lambda: source(counts), seconds=self.seconds)
        except Exception as error:  # noqa: BLE001  # a user's own function
            log.warning("lag is unknown; assigning without it: %r", error)
            return None


def round_robin(instance: Instance) -> Assignment:
    """Assign each topic to its subscribers round-robin; this cannot fail."""
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    subscribers: dict[int, list[int]] = {}
    for m in range(len(instance.members)):
        for t in instance.topics_of(m).tolist():
            subscribers.setdefault(t, []).append(m)
    for t, members in subscribers.items():
        start, end = instance.topic_offsets[t : t + 2].tolist()
        assignee[start:end] = np.resize(np.array(members), end - start)
    return Assignment(assignee=assignee)
