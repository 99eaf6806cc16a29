"""Tables of answers. Every name passes through `oracle.names`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.printing.parts import Sheet
from oracle.names import abridged, visible
from oracle.wording import loads_text, ranges

if TYPE_CHECKING:
    from rebalance import AssignmentDocument, Instance

NAME_SHOWN: Final = 40
PARTITIONS_SHOWN: Final = 400  # characters


def assignment_table(instance: Instance, answer: AssignmentDocument) -> Sheet:
    """Lay out each member's partitions, and those it owned."""
    had = Counter(instance.owner.tolist())
    rows = [
        (
            abridged(member, NAME_SHOWN),
            sum(map(len, held.values())),
            had[m],
            partitions_text(held),
        )
        for m, (member, held) in enumerate(sorted(answer.members.items()))
    ]
    return Sheet(_title(answer), ("member", "load", "owned", "partitions"), rows)


def transfer_table(
    title: str,
    transfers: Sequence[
        tuple[str | None, str | None, int | None, Mapping[str, Sequence[int]]]
    ],
    *,
    leaving: Collection[str] = (),
) -> Sheet:
    """Lay out transfers: giver, receiver, lag if any is stated, and partitions.

    Givers in ``leaving`` leave the group.
    """
    has_lag = any(lag is not None for _, _, lag, _ in transfers)
    columns = ("from", "to", "count", *(["lag (records)"] * has_lag), "partitions")
    rows = [
        (
            _name(giver) if giver not in leaving else f"{_name(giver)} (leaves)",
            _name(receiver),
            sum(map(len, partitions.values())),
            *([lag] if has_lag else []),
            partitions_text(partitions),
        )
        for giver, receiver, lag, partitions in transfers
    ]
    return Sheet(title, columns, rows)


def partitions_text(held: Mapping[str, Sequence[int]]) -> str:
    """Format partitions as ``orders 0-3, 7 · audit 1``."""
    parts = (
        f"{abridged(topic, NAME_SHOWN)} {ranges(numbers)}"
        for topic, numbers in sorted(held.items())
        if numbers
    )
    text = " · ".join(parts)
    return text if len(text) <= PARTITIONS_SHOWN else text[:PARTITIONS_SHOWN] + "…"


def name_of(document: Mapping[str, Any]) -> str:
    """Return the name of a document: its group and id, if present."""
    named = [document[key] for key in ("group", "id") if document.get(key)]
    return " ".join(abridged(str(name), NAME_SHOWN) for name in named) or "unnamed"


def _name(name: str | None) -> str | None:
    return None if name is None else abridged(name, NAME_SHOWN)


def _title(answer: AssignmentDocument) -> str:
    name = name_of({"group": answer.group, "id": answer.id})
    parts = [name, visible(answer.assignor or ""), answer.status or ""]
    figures = answer.figures
    if figures is not None:
        parts += [
            f"moves {figures.moves:,}",
            f"load × members {loads_text(figures.loads)}",
            f"KIP-54 score {figures.kip54_score:,}",
        ]
    return " · ".join(part for part in parts if part)
