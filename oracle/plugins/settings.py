"""Settings of a plug-in, validated once for every client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from oracle.plugins.choice import chosen
from oracle.plugins.leader import LagSource, Leader
from oracle.plugins.protocol import Mode, mode_of

SECONDS: Final = 5.0
FALLBACK: Final = "chain-sticky"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
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
) -> Settings:
    """Validate a user's settings.

    Parameters
    ----------
    algorithm : str
        Who assigns when this member leads: a heuristic's name, or ``oracle``.
    name : str, optional
        The protocol, which all members of a group must have in common; the
        algorithm's own name unless given.
    policy : str
        The oracle's: a name, or spelled out.
    mode : Mode, optional
        What the name means to Kafka, else eager.
    seconds : float
        After these the best found so far counts, or the fallback steps in. Meanwhile
        the client does nothing else: keep it well below the session timeout.
    fallback : str
        A heuristic.
    rack : str, optional
        Where this member is.
    lag : callable, optional
        Given the number of partitions of each topic, the lag of each partition.

    Raises
    ------
    ValueError
        If a name is unknown, a policy means nothing, ``seconds`` is not positive, or
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
    return Settings(name=named, leader=leader, rack=rack)
