"""Check the advice about each group against the rows of the tables, by loops."""

from __future__ import annotations

import json
from typing import Any

from oracle.names import visible
from tests.oracle.report.html_reading import Element
from tests.references.recount import Recount, Row, outcome

Key = tuple[str, str, str | None]
SHOWN = {"sticky": "(cooperative-)sticky"}
OLD = ("sticky", "range", "round-robin")
NEW = ("uniform", "server-range")
RATE = "partitions per rebalance"


def check_advice(root: Element, tables: Recount) -> list[str]:
    """Return the advice in the data of the page, each line checked.

    Raises
    ------
    AssertionError
        If a line is not what follows from the tables.
    """
    found = root.all("script", id="group-data")
    if not found:
        return []
    data: dict[str, Any] = json.loads("".join(found[0].words))
    expected = {_shown(key): advice_of(tables, key) for key in _keys(tables)}
    advice = {}
    seen: set[int] = set()
    in_data = []
    for cluster, group, assignor, *_, place, pattern in (r[:13] for r in data["rows"]):
        name = None if assignor < 0 else data["assignors"][assignor]
        line = "" if place < 0 else data["advice"][place]
        advice[data["clusters"][cluster], group, name] = line
        if line and pattern not in seen:
            in_data.append(line)
        if pattern >= 0:
            seen.add(pattern)
    assert advice == {key: expected[key] for key in advice}
    in_table = [
        cell.text for cell in root.one("table", id="group-table").all(class_="advice")
    ]
    both = min(len(in_table), len(in_data))  # the data can be cut
    assert in_table[:both] == in_data[:both]
    return [line for line in advice.values() if line]


def advice_of(tables: Recount, key: Key) -> str:
    """Derive the line for a group and one of its assignors."""
    cluster, group, assignor = key
    of_group = [row for row in tables.units if _group(row) == (cluster, group)]
    mine = [row for row in of_group if _assignor(row) == assignor]
    judged = [row for row in mine if row["outcome"] != "open"]
    gain = sum(map(_gain, judged))
    parts = []
    last = max(of_group, key=lambda row: _order(tables, row))
    if last not in mine:
        return ""
    if last["outcome"] == "invalid":
        parts.append("its last assignment is invalid")
    elif last["outcome"] == "unbalanced":
        number = f"{_gain(last):,} transfer{'s' if _gain(last) > 1 else ''}"
        parts.append(f"balance it now: at least {number}")
    if not any(row["cooperative"] for row in mine):
        parts += _switch(tables, key, gain, len(judged))
    if not parts and gain:
        rate = (
            f"{gain / len(judged):,.1f}" if gain / len(judged) >= 0.05 else "under 0.1"
        )
        parts.append(f"{rate} {RATE} off the optimum: see explain")
    return "; ".join(parts) or ("nothing to gain" if judged else "")


def _switch(tables: Recount, key: Key, gain: int, n: int) -> list[str]:
    """Derive what the best of Kafka's assignors of the group's protocol saves."""
    cluster, group, assignor = key
    names = NEW if _is_new(tables, assignor) else OLD
    rates = []
    for place, name in enumerate(names):
        others = [
            row | {"outcome": outcome(row)}
            for row in tables.tables["answers"]
            if _group(row) == (cluster, group)
            and _assignor(row) == assignor
            and row["assignor"] == name
            and not row["cooperative"]
        ]
        judged = [row for row in others if row["outcome"] != "open"]
        if (
            len(judged) >= 5
            and all(row["applies"] for row in others)
            and name.replace("-", "") != (assignor or "").replace("-", "")
        ):
            rates.append((sum(map(_gain, judged)) / len(judged), place, name))
    if not rates or n < 5 or gain / n - min(rates)[0] < 0.05:
        return []
    then, _, name = min(rates)
    return [f"use {SHOWN.get(name, name)}: {gain / n:,.1f} → {then:,.1f} {RATE}"]


def _gain(row: Row) -> int:
    if row["outcome"] == "needless":
        return int(row["moves"] - row["moves_least"])
    if row["outcome"] == "unbalanced":
        gap = row["kip54_score"] - row["kip54_score_least"]
        per_transfer = max(2 * (row["members"] - 1), 2)
        return int(-(-gap // per_transfer))
    return int(row["outcome"] == "invalid")


def _order(tables: Recount, row: Row) -> tuple[str, int, int, str]:
    """Return the place of a unit in the history of its group."""
    number, name = row.get("generation"), row.get("rebalance_id")
    if "episode_id" in row and "rebalance_id" not in row:
        broken = tables.broken_rounds(row["episode_id"])
        number, name = row["last_generation"], row["episode_id"]
        if row["outcome"] == "invalid" and broken:
            number, name = broken[0]["generation"], broken[0]["rebalance_id"]
    return row["date"], -1 if number is None else number, len(name or ""), name or ""


def _is_new(tables: Recount, assignor: str | None) -> bool:
    return any(
        row["client_assignor"] == assignor and row["protocol"] == "consumer"
        for row in tables.tables["rebalances"]
    )


def _assignor(row: Row) -> str | None:
    return row["client_assignor"] or None


def _group(row: Row) -> tuple[str, str]:
    return row["cluster"], row["group_id"]


def _keys(tables: Recount) -> set[Key]:
    return {(*_group(row), row["client_assignor"] or None) for row in tables.units}


def _shown(key: Key) -> Key:
    cluster, group, assignor = key
    name = None if assignor is None else visible(assignor, limit=300)
    return visible(cluster, limit=300), visible(group, limit=300), name
