"""An assignment that the leader of a group has logged, as a state of the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipeline.cases import (
    ALL_LISTED,
    NOT_REPORTED,
    REPORTED,
    SNAPSHOT,
    Case,
    CaseMember,
    Held,
)
from pipeline.describe.snapshots import BY_LEADER
from pipeline.files.lines import Line
from pipeline.rows import UNREADABLE, Row, quarantine_row

CUT_OFF: Final = "an assignment that is cut off, or has another form"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One assignment, with its place; subscriptions are None if they are not logged.

    ``doubt`` states why it cannot be judged: its lines contradict each other.
    """

    source: str
    line: Line
    group_id: str
    generation: int | None
    at: int | None
    held: dict[str, Held]
    subscriptions: dict[str, list[str]] | None = None
    protocol: str | None = None
    doubt: str | None = None


def state_of(logged: Logged, protocol: str | None) -> Case:
    """Return the state; ``protocol`` is the name of the assignor."""
    place = f"{logged.source}:{logged.line.number}"
    number = logged.generation
    name = place if number is None else f"generation {number} ({place})"
    reported = logged.subscriptions
    return Case(
        rebalance_id=name,
        group_id=logged.group_id,
        source_kind=BY_LEADER,
        source=logged.source,
        source_offset=logged.line.number,
        generation=logged.generation,
        at=logged.at,
        protocol="classic",
        client_assignor=protocol,
        owned_from=SNAPSHOT,
        subscriptions=NOT_REPORTED if reported is None else REPORTED,
        members_listed=ALL_LISTED,
        at_rest=BY_LEADER,
        doubt=logged.doubt,
        members={
            name: CaseMember(
                subscription=sorted(held)
                if reported is None
                else reported.get(name, []),
                owned={},
                assigned=held,
            )
            for name, held in sorted(logged.held.items())
        },
    )


def refused(reason: str, source: str, line: Line, group_id: str | None = None) -> Row:
    """Return a row of quarantine for a line, or for the lines that begin with it."""
    return quarantine_row(
        UNREADABLE,
        reason,
        source=source,
        line=line.number,
        raw=line.text,
        group_id=group_id,
        record="line",
    )
