"""An explanation as lines that fit one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from oracle.explanation.phrases import loads_list
from oracle.explanation.records import Explanation
from oracle.names import abridged, visible
from oracle.wording import counted

SHOWN: Final = 4
"""Statements of one kind on the screen."""
_NAME_SHOWN: Final = 40

_ANSWERS: Final = {
    ("best", "given"): "This assignment is the best",
    ("best", "optimum"): "The best assignment",
    ("not-best", "given"): "This assignment is not the best",
    ("invalid", "given"): "This assignment is invalid",
    ("unknown", "given"): "No better assignment is known, but none is ruled out",
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


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Yield the answer, its figures, and one line per statement."""
    answer = _ANSWERS[explanation.answer, explanation.subject]
    parts = [explanation.group, explanation.id]
    name = " ".join(abridged(one, _NAME_SHOWN) for one in parts if one)
    yield f"{name or 'unnamed'} · {explanation.policy}"
    yield f"{answer}{_figures_text(explanation)}."
    if explanation.reason:
        yield f"Reason: {visible(explanation.reason, limit=400)}"
    shown: Counter[str] = Counter()
    number = 0
    for one in explanation.statements:
        shown[one.kind] += 1
        if shown[one.kind] <= SHOWN:
            number += 1
            yield f"{number}. {one.text}"
    for kind, total in (shown + Counter(explanation.more)).items():
        rest = total - min(shown[kind], SHOWN)
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
