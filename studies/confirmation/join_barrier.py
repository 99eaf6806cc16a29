"""A request to join that stays open, so that one rebalance sees all members.

The broker gives a new member an id, and waits for it to join with it (KIP-394): until
then, or until the id leaves the group, no rebalance ends, because the member may still
come.
"""

from __future__ import annotations

from typing import Final

from rebalance import WireError
from studies.confirmation.group_connection import GroupConnection

NAME: Final = "barrier"


class JoinBarrier:
    """An id without a member.

    Parameters
    ----------
    connection : GroupConnection
        Of a dynamic member; it is closed at the end.

    Raises
    ------
    WireError
        If the broker lets the member join at once.
    OSError
        If there is no connection.
    """

    def __init__(self, connection: GroupConnection) -> None:
        self._connection = connection
        if connection.ask_to_join(b"") is not None:
            raise WireError("the broker requires no member id", offset=0)

    def open(self) -> None:
        """Give the id back; the rebalance ends when the members have joined.

        Raises
        ------
        WireError
            If the coordinator returns an error.
        OSError
            If the connection has ended.
        """
        self._connection.leave()

    def end(self) -> None:
        """Close the connection."""
        self._connection.close()
