"""Policies, and the fields of an answer that state one and the proofs of its levels.

``dec-min; 2*stickiness + rack, peak-lag; max-moves=3``: a balance, then levels with
commas between, each an objective or a weighted sum, then a budget of moves. The last
two may be missing. Every policy has exactly one text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.schema import (
    COUNT,
    INT64,
    INT64_MAX,
    POSITIVE,
    Path,
    Unreadable,
    check,
    expect,
    shown,
)

OBJECTIVES = (
    "stickiness",
    "peak-lag",
    "topic-peak-lag",
    "lag-spread",
    "lag-deviation",
    "rack",
    "per-topic-spread",
    "load",
    "sum-of-squares",  # of loads, whatever the capacities; for points of a frontier
)
WRITTEN = "a policy is written as dec-min; 2*stickiness + rack, load; max-moves=3"
LENGTH_MAX = 10_000
WEIGHT_MAX = 2**31 - 1

_NUMBER = "(0|[1-9][0-9]{0,18})"
_BALANCE = re.compile(f"(dec-min|kip54|per-topic|spread|none)(?:={_NUMBER})?")
_BUDGET = re.compile(f"max-moves={_NUMBER}")
_WEIGHTED = re.compile(rf"(?:([1-9][0-9]{{0,9}})\*)?({'|'.join(OBJECTIVES)})")

TERM = {
    "kind": str,
    "bound": INT64,
    "members?": [str],
    "topics?": [str],
    "at_least?": COUNT,
    "weight?": {"*": COUNT},
    "price?": {"*": {"*": INT64}},
    "steps?": [[COUNT, COUNT]],
}
PROOFS: dict[str, dict[str, Any]] = {
    "certificate": {"by": str},
    "terms": {"by": str, "terms": [TERM]},
    "search": {"by": str, "engine": str, "terms?": [TERM]},
}

Level = tuple[tuple[int, str], ...]  # (weight, objective), summed

LOAD: Level = ((1, "load"),)
PEAK_LAG: Level = ((1, "peak-lag"),)
TOPIC_PEAK_LAG: Level = ((1, "topic-peak-lag"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The constraints and objectives of which an answer claims to be the best."""

    balance: str  # dec-min, kip54, per-topic, spread or none
    most: int | None  # the width of a spread, else None
    levels: Mapping[str, Level]  # text of each level -> its terms, first level first
    max_moves: int | None  # the budget


def read_policy(source: str, path: Path = ("policy",)) -> Policy:
    """Read the text of a policy.

    Raises
    ------
    Unreadable
        If it is not one; the path is that of the text.
    """
    if len(source) > LENGTH_MAX:
        raise Unreadable(f"longer than {LENGTH_MAX} characters", path)
    first, *rest = source.split("; ")
    balance = _BALANCE.fullmatch(first)
    if balance is None or (balance[2] is not None) != (balance[1] == "spread"):
        raise Unreadable(f"{shown(first)} is not a balance; {WRITTEN}", path)
    budget = _BUDGET.fullmatch(rest[-1]) if rest else None
    parts = rest[:-1] if budget else rest
    if len(parts) > 1:
        raise Unreadable(f"{shown(parts[1])} is not a budget of moves; {WRITTEN}", path)
    return Policy(
        balance=balance[1],
        most=_number(balance[2], path),
        levels=_levels(parts[0], path) if parts else {},
        max_moves=_number(budget[1], path) if budget else None,
    )


def check_policy(value: Any, path: Path) -> None:
    """Check for the text of a policy."""
    check(str, value, path)
    read_policy(value, path)


def check_value(value: Any, path: Path) -> None:
    """Check the value of a level: an integer, or the list of ``load``."""
    check([INT64] if type(value) is list else INT64, value, path)


def check_proof(value: Any, path: Path) -> None:
    """Check a proof; its key ``by`` tells which fields it has."""
    expect(dict, value, path)
    if "by" not in value:
        raise Unreadable("missing", (*path, "by"))
    check(tuple(PROOFS), value["by"], (*path, "by"))
    check(PROOFS[value["by"]], value, path)
    if value.get("terms") == [] and value["by"] == "terms":
        raise Unreadable("empty", (*path, "terms"))


def _number(digits: str | None, path: Path) -> int | None:
    if digits is not None and int(digits) > INT64_MAX:
        raise Unreadable(f"{digits} is above {INT64_MAX}", path)
    return None if digits is None else int(digits)


def _levels(source: str, path: Path) -> Mapping[str, Level]:
    levels: dict[str, Level] = {}
    alone: set[str] = set()
    for written in source.split(", "):
        level = _level(written, path)
        twice = len(level) == 1 and level[0][1] in alone
        if twice or written in levels:
            raise Unreadable(f"{shown(written)} comes twice", path)
        alone |= {level[0][1]} if len(level) == 1 else set()
        levels[written] = level
    return levels


def _level(source: str, path: Path) -> Level:
    level: list[tuple[int, str]] = []
    for written in source.split(" + "):
        found = _WEIGHTED.fullmatch(written)
        if found is None or found[1] == "1" or int(found[1] or 1) > WEIGHT_MAX:
            raise Unreadable(f"{shown(written)} is not an objective; {WRITTEN}", path)
        level.append((int(found[1] or 1), found[2]))
    objectives = [objective for _, objective in level]
    if len(set(objectives)) < len(objectives):
        raise Unreadable(f"{shown(source)} has an objective twice", path)
    if "load" in objectives and source != "load":
        raise Unreadable("load is a list and stands alone", path)
    return tuple(level)


OBJECTIVE = {
    "of": str,
    "value": check_value,
    "bound": check_value,
    "scale?": POSITIVE,
    "proof?": check_proof,
}
STATED_FIELDS = {"policy?": check_policy, "objectives?": [OBJECTIVE]}
