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
    """An assignor, with the name of its protocol.

    Attributes
    ----------
    name : str
        Name of the protocol, which all members of a group must have in common.
    leader : Leader
    rack : str or None
        Rack of this member.
    """

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
    """Validate a user's settings (docs/plugins.md).

    Parameters
    ----------
    algorithm, policy : str
        The assignor that this member runs as leader, as in `chosen`.
    name, mode : str, Mode, optional
        Of the protocol. Default: the algorithm's name, and its mode by `mode_of`.
    seconds, fallback, lag, rack
        As in `Leader` and `PluginSettings`; the fallback is the name of a heuristic.

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
