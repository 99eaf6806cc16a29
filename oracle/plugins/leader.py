"""Leader of a real group: from joined members to each member's assignment bytes.

Whatever happens in here, a group gets an assignment: a limit that strikes, or an
engine that fails, costs quality and a line in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from oracle.plugins.choice import Choice
from oracle.plugins.in_time import in_time
from oracle.plugins.joining import Joining, Lags, Racks, rebalance_of
from oracle.plugins.protocol import Mode
from oracle.plugins.withholding import without_unrevoked
from rebalance import NOBODY, Assignment, Instance, instance_of, members_of
from rebalance.protocol import MemberAssignment, encode_assignment
from solver import Limits

log = logging.getLogger(__name__)

LagSource = Callable[[Mapping[str, int]], Lags]
"""Asked with the number of partitions of each topic."""

GRACE: Final = 1.0  # seconds that an engine may take to notice its limit
VERSION: Final = 0  # of an assignment; later versions add nothing to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """How this member assigns when it is the leader of its group.

    Attributes
    ----------
    choice : Choice
        Who assigns.
    fallback : Choice
        Who does if that one raises, or is not done in time.
    seconds : float
        For ``choice``, and for ``lag``.
    mode : Mode
    lag : callable or None
        Where lag is known from.
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
        given = members_of(instance, assignment)
        return {member_id: _bytes(held) for member_id, held in given.items()}

    def instance(
        self,
        joined: tuple[Joining, ...],
        counts: Mapping[str, int],
        racks: Racks | None = None,
    ) -> Instance:
        """Decode who joined; without lag, if that is unavailable or invalid."""
        lags = self._lags(counts)
        if lags is not None:
            try:
                return instance_of(
                    rebalance_of(joined, counts, mode=self.mode, racks=racks, lags=lags)
                )
            except (TypeError, ValueError):
                log.exception("lag is not as it should be; going on without it")
        return instance_of(rebalance_of(joined, counts, mode=self.mode, racks=racks))

    def decide(self, instance: Instance) -> Assignment:
        """Return the first assignment of: the choice, the fallback, a plain circle."""
        limits = Limits(seconds=self.seconds)
        try:
            return in_time(
                lambda: self.choice.assign(instance, limits),
                seconds=self.seconds + GRACE,
            )
        except Exception as error:  # noqa: BLE001  # nothing may lose the group
            limits.stop.set()
            log.warning(
                "%s gave no assignment, %s steps in: %r",
                self.choice.name,
                self.fallback.name,
                error,
            )
        try:
            return self.fallback.assign(instance, Limits(seconds=self.seconds))
        except Exception:
            log.exception("%s gave no assignment either", self.fallback.name)
        return dealt(instance)

    def _lags(self, counts: Mapping[str, int]) -> Lags | None:
        source = self.lag
        if source is None:
            return None
        try:
            return in_time(lambda: source(counts), seconds=self.seconds)
        except Exception as error:  # noqa: BLE001  # a user's own function
            log.warning("lag is not known, going on without it: %r", error)
            return None


def dealt(instance: Instance) -> Assignment:
    """Assign each topic to its subscribers in a circle: this cannot fail."""
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    takers: dict[int, list[int]] = {}
    for m in range(len(instance.members)):
        for t in instance.topics_of(m).tolist():
            takers.setdefault(t, []).append(m)
    for t, subscribers in takers.items():
        start, end = instance.topic_offsets[t : t + 2].tolist()
        assignee[start:end] = np.resize(np.array(subscribers), end - start)
    return Assignment(assignee=assignee)


def _bytes(held: Mapping[str, Iterable[int]]) -> bytes:
    partitions = tuple((topic, tuple(numbers)) for topic, numbers in held.items())
    return encode_assignment(MemberAssignment(version=VERSION, partitions=partitions))
