"""Markdown of pages: wrapped paragraphs, instances as short JSON, texts in a line."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

COLUMNS: Final = 100
SHOWN: Final = 200  # characters
BLOCK: Final = re.compile(r"^(`{3,})[\s\S]*?^\1$|(?:^.*\S.*\n?)+", re.MULTILINE)
"""A fence with its content, or lines up to an empty one."""
AS_THEY_ARE: Final = ("#", "|", "<", "!", "```")
ITEM: Final = re.compile(r"(?:-|\d+\.) ")


def wrapped(text: str) -> str:
    """Wrap paragraphs and items; headings, tables, tags, and code are left as they are.

    Parameters
    ----------
    text
        Markdown, with an empty line or several between its blocks.
    """
    return "\n\n".join(_wrapped(block[0].strip("\n")) for block in BLOCK.finditer(text))


def _wrapped(block: str) -> str:
    if block.startswith(AS_THEY_ARE):
        return block
    item = ITEM.match(block)
    parts = re.split(rf"\n(?={ITEM.pattern})", block) if item else [block]
    return "\n".join(
        textwrap.fill(
            " ".join(part.split()),
            COLUMNS,
            subsequent_indent=" " * len(item[0] if item else ""),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for part in parts
    )


def instance_json(instance: Mapping[str, Any]) -> str:
    """Return a rebalance/1 document with a line per topic and member."""
    parts = []
    for key, value in instance.items():
        if key in {"topics", "members"}:
            lines = ",\n".join(
                f"   {_plain(name)}: {_plain(entry)}" for name, entry in value.items()
            )
            parts.append(f" {_plain(key)}: {{\n{lines}}}")
        else:
            parts.append(f" {_plain(key)}: {_plain(value)}")
    return "{" + ",\n".join(parts).lstrip() + "}"


def partitions_text(held: Mapping[str, Sequence[int]]) -> str:
    """Return ``t: 0–2, 5; u: 1``, or a dash for nothing."""
    parts = [f"{topic}: {_ranges(ns)}" for topic, ns in sorted(held.items()) if ns]
    return "; ".join(parts) or "–"


def one_line(text: str) -> str:
    """Return the first line, shortened, as it can stand in a table or in backticks."""
    first = text.strip().partition("\n")[0]
    short = first if len(first) <= SHOWN else first[: SHOWN - 1] + "…"
    return short.replace("|", "\\|").replace("`", "'")


def _ranges(numbers: Sequence[int]) -> str:
    parts = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        first, *others = (number for _, number in run)
        parts.append(f"{first}–{others[-1]}" if others else f"{first}")
    return ", ".join(parts)


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
