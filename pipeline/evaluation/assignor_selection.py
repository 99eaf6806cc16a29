"""Selection of the assignors that an audit evaluates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from heuristics import ASSIGNORS
from pipeline.evaluation.answers import ACTUAL, KIP54, OPTIMUM
from rebalance import SourceError

ALL: Final = "all"
ALWAYS: Final = (ACTUAL, OPTIMUM)
"""Evaluated in every audit, named or not: its results are relative to the optimum."""
KNOWN: Final = (*ALWAYS, KIP54, *ASSIGNORS)
DEFAULT: Final = (*ALWAYS, *ASSIGNORS)
"""All but kip54-sticky, which needs an integer program where subscriptions differ."""


def selection(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the selected assignors, each once, in the order of `KNOWN`.

    ``names`` are some of `KNOWN`, or `ALL`; None: `DEFAULT`.

    Raises
    ------
    SourceError
        If a name is unknown; the message lists the known ones.
    """
    if names is None:
        return DEFAULT
    requested = {*names}
    for name in sorted(requested - {ALL, *KNOWN}):
        listed = ", ".join((*KNOWN, ALL))
        raise SourceError(f"is not an assignor; there are: {listed}", source=repr(name))
    return tuple(
        name for name in KNOWN if ALL in requested or name in {*requested, *ALWAYS}
    )
