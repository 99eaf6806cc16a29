"""Records of faults that were tested with real consumers: ``confirmation/1`` lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from rebalance import OutsideError

FORMAT: Final = "confirmation/1"
ALL_REAL: Final = "all real"
CRAFTED: Final = "real leader, crafted members"

Members = Literal["all real", "real leader, crafted members"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Whether real consumers show a fault.

    Attributes
    ----------
    finding : str
        The finding's id, as in ``docs/findings``.
    client, version, assignor : str
    cluster : str
        The broker, with its version.
    members : str
        ``all real``, or ``real leader, crafted members``.
    history : tuple of str
        A sentence per step that leads to the state.
    expected : str
        ``hang``, ``crash``, or ``no fault`` for a version that does not have it.
    outcome : str
        What was observed, in a sentence.
    confirmed : bool
        Whether the outcome is the expected one.
    date : str
        ISO 8601.
    """

    finding: str
    client: str
    version: str
    assignor: str
    cluster: str
    members: Members
    history: tuple[str, ...]
    expected: str
    outcome: str
    confirmed: bool
    date: str

    @property
    def key(self) -> tuple[str, ...]:
        """What a later run replaces."""
        who = (self.client, self.version, self.assignor)
        return (self.finding, *who, self.members, *self.history)


def read_confirmations(path: Path) -> list[Confirmation]:
    """Read a file of lines; none if it does not exist.

    Raises
    ------
    OutsideError
        If a line is no ``confirmation/1``; the message has its number.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines()
    return [_read(line, f"{path}:{n}") for n, line in enumerate(lines, start=1)]


def _read(line: bytes, place: str) -> Confirmation:
    try:
        fields: dict[str, Any] = orjson.loads(line)
        if fields.pop("format") == FORMAT:
            return Confirmation(**fields | {"history": tuple(fields["history"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutsideError(f"{place}: {error}") from None
    raise OutsideError(f"{place}: not a {FORMAT}")


def write_confirmations(path: Path, new: Iterable[Confirmation]) -> None:
    """Write lines sorted by their keys; new ones replace those with the same key."""
    merged = {one.key: one for one in (*read_confirmations(path), *new)}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        orjson.dumps({"format": FORMAT} | asdict(merged[key])) for key in sorted(merged)
    ]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
