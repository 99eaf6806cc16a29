"""All assignors by name, in the order of tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from heuristics.assignor import Assignor
from heuristics.chain_sticky import ChainStickyAssignor
from heuristics.constrained_sticky import ConstrainedStickyAssignor
from heuristics.cooperative_sticky import CooperativeStickyAssignor
from heuristics.fair import FairAssignor
from heuristics.fairest_sticky import FairestStickyAssignor
from heuristics.lag_aware import LagAwareAssignor
from heuristics.lag_swaps import LagSwapsAssignor
from heuristics.range import RangeAssignor
from heuristics.round_robin import RoundRobinAssignor
from heuristics.server_range import ServerRangeAssignor
from heuristics.sticky import StickyAssignor
from heuristics.uniform import UniformAssignor
from rebalance import Assignment, Instance, OracleError

_ALL: tuple[Assignor, ...] = (
    RangeAssignor(),
    RoundRobinAssignor(),
    StickyAssignor(),
    ConstrainedStickyAssignor(),
    CooperativeStickyAssignor(),
    FairAssignor(),
    FairestStickyAssignor(),
    ServerRangeAssignor(),
    UniformAssignor(),
    ChainStickyAssignor(),
    LagAwareAssignor(),
    LagSwapsAssignor(),
)

ASSIGNORS: Mapping[str, Assignor] = MappingProxyType(
    {assignor.name: assignor for assignor in _ALL}
)


class UnknownAssignorError(OracleError, ValueError):
    """No assignor has the name."""


def assign(instance: Instance, name: str) -> Assignment:
    """Compute the assignment of the assignor with a name of `ASSIGNORS`.

    Raises
    ------
    UnknownAssignorError
        If there is no such assignor.
    InstanceError
        If its algorithm does not apply to the instance.
    """
    if name not in ASSIGNORS:
        known = ", ".join(ASSIGNORS)
        raise UnknownAssignorError(f"no assignor {name!r}; there are: {known}")
    return ASSIGNORS[name].assign(instance)
