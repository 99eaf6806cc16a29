"""Drawing of a rebalance: members as columns, and the moves between them, as SVG.

Screen readers get the transfers in words, and the table below the drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from oracle.names import abridged, visible
from oracle.report.assignment_diff import KEPT
from oracle.report.flows import Change, Flow, Flows
from oracle.wording import counted

COLUMN: Final = 62
BOX: Final = 48
"""Width of a column, and of the box in it, px."""
BOX_HEIGHT: Final = 26
TOP: Final = 26
BETWEEN: Final = 96
LABEL: Final = 7
"""Characters of a member's name; the whole is its title."""
LINES: Final = 300
"""Most lines; of more, the thinnest are left out."""
FLOWS_LISTED: Final = 8
_WIDEST: Final = 8


def drawing(flows: Flows, change: Change) -> Markup:
    """Return the drawing of a change: owners above, the assignment below."""
    names = [*map(_shown, flows.names)]
    names += [f"{flows.folded:,} more"] if flows.folded else []
    width = COLUMN * len(names)
    low = TOP + BOX_HEIGHT + BETWEEN
    height = low + BOX_HEIGHT + 2
    drawn = sorted(change.flows, key=lambda flow: -flow.count)[:LINES]
    parts = [
        Markup(
            '<div role="img" aria-label="{}"><svg class="moves" aria-hidden="true"'
            ' viewBox="0 0 {} {}" width="{}" height="{}">'
        ).format(_summary(change, names), width, height, width, height),
        *(_line(flow, names, low) for flow in sorted(drawn, key=_fate_order)),
        *(_label(at, name) for at, name in enumerate(names)),
        *(_box(at, TOP, load) for at, load in enumerate(flows.before)),
        *(_box(at, low, load) for at, load in enumerate(change.loads)),
        Markup("</svg></div>"),
    ]
    return Markup("\n").join(parts)


def _shown(name: str | None) -> str:
    return "no owner" if name is None else visible(name, limit=300)


def _fate_order(flow: Flow) -> bool:
    return flow.fate != KEPT


def _middle(at: int) -> int:
    return at * COLUMN + COLUMN // 2


def _label(at: int, name: str) -> Markup:
    return Markup(
        '<text x="{}" y="17" text-anchor="middle"><title>{}</title>{}</text>'
    ).format(_middle(at), name, abridged(name, LABEL))


def _box(at: int, y: int, load: int) -> Markup:
    x = _middle(at) - BOX // 2
    return Markup(
        '<rect x="{}" y="{}" width="{}" height="{}" rx="4"/>'
        '<text x="{}" y="{}" text-anchor="middle">{:,}</text>'
    ).format(x, y, BOX, BOX_HEIGHT, _middle(at), y + 18, load)


def _line(flow: Flow, names: Sequence[str], low: int) -> Markup:
    start, end, high = _middle(flow.giver), _middle(flow.taker), TOP + BOX_HEIGHT
    bend = BETWEEN // 2
    path = f"M{start} {high}C{start} {high + bend} {end} {low - bend} {end} {low}"
    wide = min(_WIDEST, 1 + flow.count.bit_length())
    return Markup(
        '<path class="{}" d="{}" stroke-width="{}"><title>{}</title></path>'
    ).format(flow.fate, path, wide, _flow_text(flow, names))


def _flow_text(flow: Flow, names: Sequence[str]) -> str:
    number = counted(flow.count, "partition")
    if flow.fate == KEPT:
        return f"{number} of {names[flow.giver]} stay"
    return f"{number} from {names[flow.giver]} to {names[flow.taker]}"


def _summary(change: Change, names: Sequence[str]) -> str:
    moved = [flow for flow in change.flows if flow.fate != KEPT]
    texts = [_flow_text(flow, names) for flow in moved[:FLOWS_LISTED]]
    if len(moved) > FLOWS_LISTED:
        texts.append(
            f"and {counted(len(moved) - FLOWS_LISTED, 'more pair')} of members"
        )
    return "; ".join(texts) or "nothing moves"
