"""The rebalance that a test drew last: what a failure prints, with its seed.

Whatever draws a rebalance notes it here; Hypothesis replays the smallest example last.
"""

from __future__ import annotations

import json
from typing import Any

_last: list[tuple[object, Any]] = []


def note(document: Any, seed: object = None) -> Any:
    """Note a drawn document, and return it; ``seed``: what draws it again."""
    _last[:] = [(seed, document)]
    return document


def note_changed(document: Any) -> Any:
    """Note a copy of the last document that has changes, and return it.

    What is changed in place needs no second note.
    """
    return note(document, _last[0][0] if _last else None)


def forget() -> None:
    """Forget what an earlier test drew."""
    _last.clear()


def described() -> str | None:
    """Return the seed and the document as one line; None if nothing was drawn."""
    if not _last:
        return None
    ((seed, document),) = _last
    text = json.dumps(document, ensure_ascii=True, default=str)
    return text if seed is None else f"seed {seed}: {text}"
