"""Escaping of names from the input for terminals and pages.

A member id can be any string. A terminal would execute escape sequences in it; on a
page, an override of the writing direction would reverse the rest of the line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Invisible Unicode categories: control, format, private, unassigned."""
_BLANK: Final = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that are displayed as blanks."""


def visible(text: str, *, limit: int | None = None) -> str:
    """Escape invisible characters, and truncate the text.

    ``limit`` counts characters of the result, including the final ``…``.
    """
    if limit is not None:
        text = text[: limit + 1]
    shown = text if text.isascii() and text.isprintable() else _spelled(text)
    if limit is not None and len(shown) > limit:
        return shown[: limit - 1] + "…"
    return shown


def _spelled(text: str) -> str:
    return "".join(_spell(c) if _is_unseen(c) else c for c in text)


def _is_unseen(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSEEN
        or character in _BLANK
        or (unicodedata.category(character) == "Zs" and character != " ")
    )


def _spell(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def distinct(names: Iterable[str], least: int = 12, most: int = 40) -> dict[str, str]:
    """Shorten names, all to one length at which they differ; ``least`` if they do.

    Names that do not differ at ``most`` characters are not shortened.
    """
    wanted = sorted(set(names))
    for limit in range(least, most + 1, 4):
        found = {name: abridged(name, limit) for name in wanted}
        if len(set(found.values())) == len(wanted):
            return found
    return {name: visible(name) for name in wanted}


def abridged(text: str, limit: int) -> str:
    """Shorten a long name in the middle, because client ids differ at both ends."""
    shown = visible(text)
    if len(shown) <= limit:
        return shown
    head = (limit - 1) // 2
    return f"{shown[:head]}…{shown[len(shown) - (limit - 1 - head) :]}"
