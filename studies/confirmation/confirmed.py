"""Records of faults that were tested with real consumers: ``confirmation/1`` lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from conformance.strict_model import Day, StrictModel
from rebalance import DocumentError, OutsideError, parse_record

ALL_REAL: Final = "all real"
HANDED_OUT: Final = "all real, claims handed out"
CRAFTED: Final = "real leader, crafted members"

Members = Literal[
    "all real", "all real, claims handed out", "real leader, crafted members"
]


class RecordReference(StrictModel):
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


class Confirmation(StrictModel):
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
        The observation, in a sentence.
    confirmed : bool
        Whether the outcome is the expected one.
    date : str
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

    format: Literal["confirmation/1"] = "confirmation/1"
    finding: str
    client: str
    version: str
    assignor: str
    cluster: str
    members: Members
    history: Annotated[tuple[str, ...], Field(strict=False)]
    expected: str
    outcome: str
    confirmed: bool
    date: Day
    record: RecordReference | None = None
    way: str | None = None
    groups: int | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Key of the confirmations that a later run replaces."""
        who = (self.client, self.version, self.assignor)
        place = self.history if self.record is None else (self.record.digest,)
        return (self.finding, *who, self.members, *place)


def read_confirmations(path: Path) -> list[Confirmation]:
    """Read a file of lines; none if it does not exist.

    Raises
    ------
    OutsideError
        If a line is not a ``confirmation/1``; the message has its number.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines()
    return [_read(line, f"{path}:{n}") for n, line in enumerate(lines, start=1)]


def _read(line: bytes, place: str) -> Confirmation:
    try:
        return parse_record(Confirmation, line)
    except DocumentError as error:
        raise OutsideError(f"{place}: {error}") from None


def write_confirmations(path: Path, new: Iterable[Confirmation]) -> None:
    """Write lines sorted by their keys; new ones replace those with the same key."""
    merged = {
        confirmation.key: confirmation
        for confirmation in (*read_confirmations(path), *new)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [merged[key].model_dump_json(exclude_none=True) for key in sorted(merged)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
