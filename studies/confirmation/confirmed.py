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
HANDED_OUT: Final = "all real, claims handed out"
CRAFTED: Final = "real leader, crafted members"

Members = Literal[
    "all real", "all real, claims handed out", "real leader, crafted members"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReference:
    """The stored finding (``finding/1``) whose rebalance a group is brought to.

    Attributes
    ----------
    family, seed, index, step
        Where it was drawn; without a seed, it was given.
    digest : str
        The first 16 hexadecimal digits of the SHA-256 of the instance, as JSON with
        sorted keys.
    """

    family: str
    seed: int | None = None
    index: int
    step: int
    digest: str


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
        ``all real``; ``all real, claims handed out``, by a crafted leader that has
        left; or ``real leader, crafted members``.
    history : tuple of str
        A sentence per step that leads to the state.
    expected : str
        ``hang``, ``crash``, ``unrevoked``, or ``no fault`` for a version that does not
        have it.
    outcome : str
        What was observed, in a sentence.
    confirmed : bool
        Whether the outcome is the expected one.
    date : str
        ISO 8601.
    record : RecordReference or None
        The record whose rebalance the group sees, apart from names; if it is played
        with ``no topic``, the one that the history comes nearest to.
    way : str or None
        How a record was played (`replay_plan.Way`); None: by a history of its own.
    groups : int or None
        Of a record: groups that were played until one had the expected outcome, or
        all of them. The order of members in the group, which the broker chooses,
        decides ties.
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
    record: RecordReference | None = None
    way: str | None = None
    groups: int | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What a later run replaces."""
        who = (self.client, self.version, self.assignor)
        place = self.history if self.record is None else (self.record.digest,)
        return (self.finding, *who, self.members, *place)


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
            record = fields.get("record")
            return Confirmation(
                **fields
                | {"history": tuple(fields["history"])}
                | {"record": None if record is None else RecordReference(**record)}
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutsideError(f"{place}: {error}") from None
    raise OutsideError(f"{place}: not a {FORMAT}")


def write_confirmations(path: Path, new: Iterable[Confirmation]) -> None:
    """Write lines sorted by their keys; new ones replace those with the same key."""
    merged = {
        confirmation.key: confirmation
        for confirmation in (*read_confirmations(path), *new)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [orjson.dumps(_document(merged[key])) for key in sorted(merged)]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def _document(confirmation: Confirmation) -> dict[str, Any]:
    return {"format": FORMAT} | _without_none(asdict(confirmation))


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if value is not None
    }
