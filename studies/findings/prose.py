"""Wording of pages: wrapped paragraphs, instances and assignments as short JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

COLUMNS: Final = 100
OUTCOMES: Final = {
    "hang": "no answer: the assignor does not end",
    "crash": "no answer: the process ends",
    "error": "no answer: the assignor raises an error",
    "invalid": "an invalid assignment",
    "unrevoked": "an assignment that is unsafe in a cooperative round",
    "restless": "cooperative rounds without a stable state",
    "nondeterministic": "answers that differ when they are repeated",
    "slow": "a late answer, or none that was awaited to the end",
    "kip54-unbalanced": "an assignment that one transfer would even out",
    "unbalanced": "an assignment that a chain of transfers would even out",
    "needless-moves": "an assignment with needless moves",
    "optimal": "an optimal assignment",
}
RULES: Final = {
    "assigned-twice": "a partition is assigned to two members",
    "unknown-member": "a partition is assigned to a member that does not exist",
    "unknown-partition": "a partition that does not exist is assigned",
    "unsubscribed": "a partition is assigned to a member that does not read its topic",
    "unassigned": "a partition with a subscriber is assigned to nobody",
    "missing-member": "a member is missing from the answer",
    "unrevoked": "a partition is assigned while another member claims it",
    "unreadable": "the answer is no assignment",
}


def wrapped(text: str, *, indent: str = "") -> str:
    """Wrap paragraphs at 100 columns; they are separated by empty lines."""
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    return "\n\n".join(
        textwrap.fill(
            paragraph,
            COLUMNS,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for paragraph in paragraphs
    )


def item(text: str) -> str:
    """Return a list item, wrapped."""
    return wrapped(f"- {text}", indent="  ")


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


def held_table(
    members: Mapping[str, Mapping[str, Sequence[int]]], extra: str | None = None
) -> list[str]:
    """Return a table of what each member receives."""
    rows = ["| member | partitions |", "| --- | --- |"]
    rows += [
        f"| `{name}` | {partitions_in_words(held)} |"
        for name, held in sorted(members.items())
    ]
    if extra:
        rows.append(f"| nobody | {extra} |")
    return rows


def partitions_in_words(held: Mapping[str, Sequence[int]]) -> str:
    """Return ``t: 0–2, 5; u: 1``, or a dash for nothing."""
    parts = [f"{topic}: {_ranges(ns)}" for topic, ns in sorted(held.items()) if ns]
    return "; ".join(parts) or "–"


def one_line(text: str) -> str:
    """Return the first line, shortened, as it can stand in a table or in backticks."""
    first = text.strip().splitlines()[0] if text.strip() else ""
    short = first if len(first) <= 200 else first[:199] + "…"
    return short.replace("|", "\\|").replace("`", "'")


def _ranges(numbers: Sequence[int]) -> str:
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in parts)


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
