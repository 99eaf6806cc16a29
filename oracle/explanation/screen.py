"""An explanation as lines that fit one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from oracle.explanation.explanation_records import Explanation
from oracle.explanation.improvement_records import ClaimExchange
from oracle.explanation.phrases import loads_list
from oracle.names import abridged, distinct, visible
from oracle.wording import counted

SHOWN: Final = 4
"""Statements of one kind on the screen."""
_NAME_SHOWN: Final = 40

_ANSWERS: Final = {
    ("best", "given"): "This assignment is the best",
    ("best", "optimum"): "The best assignment",
    ("not-best", "given"): "This assignment is not the best",
    ("invalid", "given"): "This assignment is invalid",
    (
        "unknown",
        "given",
    ): "No better assignment is known, but better ones are not ruled out",
    (
        "unknown",
        "optimum",
    ): "The best assignment found, which is not proved to be the best",
    ("infeasible", "given"): "No assignment satisfies the policy; this one has",
    ("infeasible", "optimum"): "No assignment satisfies the policy",
}
_KINDS: Final = {
    "balance": ("statement on balance", "statements on balance"),
    "chain": ("statement on chains", "statements on chains"),
    "exchange": ("exchange", "exchanges"),
    "peak": ("member with this peak lag", "members with this peak lag"),
    "block": ("set of topics and members", "sets of topics and members"),
    "outranked": (
        "set of claims that balance forbids",
        "sets of claims that balance forbids",
    ),
    "claims": (
        "set of claims that cannot be kept together",
        "sets of claims that cannot be kept together",
    ),
    "violation": ("violated rule", "violated rules"),
}


class NeedlessMoves(NamedTuple):
    """Exchanges as a table: one row per transfer."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[int | str | None, ...]]


def needless_table(exchanges: Sequence[ClaimExchange]) -> NeedlessMoves:
    """Lay out the exchanges that save needless moves; member ids are shortened."""
    transfers = [transfer for exchange in exchanges for transfer in exchange.transfers]
    shown = distinct(
        name for transfer in transfers for name in (transfer.giver, transfer.to)
    )
    rows: list[tuple[int | str | None, ...]] = []
    for number, exchange in enumerate(exchanges, 1):
        for place, transfer in enumerate(exchange.transfers):
            rows.append(
                (
                    number,
                    f"{abridged(transfer.topic, _NAME_SHOWN)}:{transfer.partition}",
                    shown[transfer.giver],
                    shown[transfer.to],
                    "yes" if transfer in exchange.restored else "no",
                    None if place else exchange.gain.moves,
                )
            )
    title = "Needless moves: exchanges that keep the balance"
    columns = ("exchange", "partition", "from", "to", "to owner", "fewer moves")
    return NeedlessMoves(title, columns, rows)


def explanation_lines(explanation: Explanation) -> Iterator[str | NeedlessMoves]:
    """Yield the answer, its figures, and one line per statement.

    Exchanges that save needless moves are one table.
    """
    answer = _ANSWERS[explanation.answer, explanation.subject]
    parts = [explanation.group, explanation.id]
    name = " ".join(abridged(part, _NAME_SHOWN) for part in parts if part)
    yield f"{name or 'unnamed'} · {explanation.policy}"
    yield f"{answer}{_figures_text(explanation)}."
    if explanation.reason:
        yield f"Reason: {visible(explanation.reason, limit=400)}"
    shown: Counter[str] = Counter()
    number = 0
    exchanges = [
        statement
        for statement in explanation.statements
        if statement.kind == "exchange"
    ]
    for statement in explanation.statements:
        shown[statement.kind] += 1
        if statement.kind == "exchange":
            if shown[statement.kind] == 1:
                yield needless_table(exchanges)
            continue
        if shown[statement.kind] <= SHOWN:
            number += 1
            yield f"{number}. {statement.text}"
    for kind, total in (shown + Counter(explanation.more)).items():
        listed = shown[kind] if kind == "exchange" else min(shown[kind], SHOWN)
        rest = total - listed
        if rest > 0:
            yield f"… and {counted(rest, *_KINDS.get(kind, ('statement', None)))} more"
    if explanation.withdrawn:
        yield (
            f"{counted(explanation.withdrawn, 'statement')} failed the check and is"
            " left out: a defect of this program, please report it"
        )


def _figures_text(explanation: Explanation) -> str:
    figures = explanation.figures
    if figures is None or figures.loads is None:
        return ""
    loads = figures.loads
    parts = [f"loads {loads_list(loads)}", counted(figures.moves or 0, "move")]
    if figures.peak_lag:
        parts.append(f"peak lag {figures.peak_lag:,}")
    return f": {', '.join(parts)}"
