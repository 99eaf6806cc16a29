"""Changes since the audit before, as lines of the section at the top of the page.

A line has the names of groups apart from its words, because the page isolates them.
`oracle.audit_diff` computes them; the command line prints the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsLine:
    """A line about a group; ``assignors`` are the one before and the one after."""

    cluster: str
    group: str
    words: str
    assignors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsPart:
    """The first lines of one kind; ``more`` is the number of the others."""

    title: str
    lines: tuple[NewsLine, ...]
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Parts of which each has a line; ``compared`` states the two periods."""

    compared: str
    parts: tuple[NewsPart, ...]
    notes: tuple[str, ...] = ()
