"""Settings of a plug-in, validated once for every client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from oracle.plugins.choice import chosen
from oracle.plugins.leader import LagSource, Leader
from oracle.plugins.protocol_modes import Mode, mode_of

SECONDS: Final = 5.0
FALLBACK: Final = "chain-sticky"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSettings:
    """An assignor, with the name of its protocol."""

    name: str
    leader: Leader
    rack: str | None = None

    @property
    def mode(self) -> Mode:
        """When members revoke partitions."""
        return self.leader.mode


def settings_of(
    algorithm: str,
    *,
    name: str | None = None,
    policy: str = "sticky",
    mode: Mode | None = None,
    seconds: float = SECONDS,
    fallback: str = FALLBACK,
    rack: str | None = None,
    lag: LagSource | None = None,
) -> PluginSettings:
    """Validate a user's settings.

    Parameters
    ----------
    algorithm : str
        The assignor that this member runs as leader: a heuristic's name, or ``oracle``.
    name : str, optional
        Name of the protocol, which all members of a group must have in common. Default:
        the algorithm's name.
    policy : str
        Policy of the oracle, by name or in text form.
    mode : Mode, optional
        Default: the mode of Kafka's assignor of that name, else eager.
    seconds : float
        Time limit, after which the best assignment found is used, or that of the
        fallback. The client is blocked meanwhile: keep the limit well below the session
        timeout.
    fallback : str
        Name of a heuristic.
    rack : str, optional
        Rack of this member.
    lag : callable, optional
        Function from partition counts per topic to the lag of each partition.

    Raises
    ------
    ValueError
        If a name is unknown, a policy is invalid, ``seconds`` is not positive, or
        Kafka's protocol of that name has another mode.
    """
    if not seconds > 0:
        raise ValueError(f"seconds: {seconds}, expected more than 0")
    named = algorithm if name is None else name
    leader = Leader(
        mode=mode_of(named, mode),
        choice=chosen(algorithm, policy),
        fallback=chosen(fallback),
        seconds=seconds,
        lag=lag,
    )
    return PluginSettings(name=named, leader=leader, rack=rack)
