"""The argument of a consumer's program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

Property: TypeAlias = str | int | bool
RequestedAssignor: TypeAlias = str | Mapping[str, Any]
"""A name, or ``import`` and ``call`` of an assignor that is not the client's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedConsumer:
    """A consumer as its program is requested (``python-programs/orders.py``).

    Attributes
    ----------
    settings : mapping
        Properties of the client, by Kafka's names.
    assignors : sequence
        Names, in the order of preference; a client in Python can import others. In the
        new protocol (KIP-848), the broker assigns: at most one name, that of its
        assignor.
    topics : sequence of str or None
        Topics of a consumer that starts at once; None: it waits for the order to start.
    poll_ms : int
        Time limit of a poll. Programs in Java and Go have their own.
    reports : bool
        Whether callbacks are reported.
    """

    settings: Mapping[str, Property] = field(default_factory=dict)
    assignors: Sequence[RequestedAssignor] = ()
    topics: Sequence[str] | None = None
    poll_ms: int = 100
    reports: bool = True

    def argument(self) -> str:
        """Return the argument in JSON."""
        requested = asdict(self)
        if self.topics is None:
            del requested["topics"]
        return json.dumps(requested)
